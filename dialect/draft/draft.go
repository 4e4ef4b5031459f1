// Package draft is a request apart from any API, on its way from one to another. What
// could not be carried, or not as it was, is a [Loss].
package draft

import (
	"strconv"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// Draft is a request apart from any dialect, on its way from one to another.
type Draft struct {
	names        map[string]string // of settings, in the API that is read
	CustomIsFree bool              // a custom tool of the API that is read takes free text
	Settings     settings
	Choice       *toolChoice
	Format       *Format
	Tools        []Tool
	Units        []Utterance
	Losses       []Loss
	Message      int // how many messages were read
}

// Utterance is one item of a history: what a message says, one call, one result.
type Utterance struct {
	Kind    transcript.Kind // System, MessageItem, ToolCall or ToolResult
	Role    string
	At      string
	Message int // those of one message have the same number
	Plain   bool
	Parts   []Part // what it says; if plain it is one text, written as a string

	ID, Name  string
	Arguments string // of a call: JSON as the model wrote it, or free text
	Free      bool   // a call of a tool that takes free text, or its result
	IsError   bool
}

// New returns an empty draft. names are those of settings in the API that is read.
func New(names map[string]string) *Draft { return &Draft{names: names} }

// Fit gives ids and names a form that the API that is written takes.
func (d *Draft) Fit(l Limits) {
	d.fitIDs(l)
	d.fitNames(l)
}

func (d *Draft) Lose(code LossCode, at, why string) {
	d.Losses = append(d.Losses, Loss{Code: code, At: at, Why: why})
}

func (d *Draft) Change(code LossCode, at, from, to, why string) {
	d.Losses = append(d.Losses, Loss{Code: code, At: at, From: short(from), To: short(to), Why: why})
}

// short bounds what a Loss quotes. Ids and names are never that long unless they
// are hostile.
func short(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	return rawjson.Unquote(rawjson.Quote(s[:most])) + "…"
}

// Add puts an utterance behind the history so far.
func (d *Draft) Add(u Utterance) { d.Units = append(d.Units, u) }

// Reasoning lists a piece of reasoning: none of it goes to another provider.
func (d *Draft) Reasoning(at string, v []byte) {
	if rawjson.IsEmpty(v) {
		return
	}
	d.Losses = append(d.Losses, Loss{Code: ReasoningDropped, At: at, ItemID: rawjson.String(rawjson.Get(v, "id")),
		Why: "only the model and the account that made it can read it"})
}

// DropItem lists an item that no other dialect has.
func (d *Draft) DropItem(code LossCode, at string, v []byte, why string) {
	d.Losses = append(d.Losses, Loss{Code: code, At: at, ItemID: rawjson.String(rawjson.Get(v, "id")), From: rawjson.String(rawjson.Get(v, "type")), Why: why})
}

// Member lists a member of an object that says something and is not carried.
func (d *Draft) Member(at, name string, v []byte) {
	switch {
	case rawjson.IsEmpty(v):
	case name == "cache_control":
		d.Lose(CacheMarkDropped, at+"/"+rawjson.EscapeToken(name), "cache marks are Anthropic's")
	default:
		d.Lose(MemberDropped, at+"/"+rawjson.EscapeToken(name), "the other dialect has no counterpart")
	}
}

// Rest lists the members of an object apart from those that are known.
func (d *Draft) Rest(v []byte, at string, known ...string) {
members:
	for c := rawjson.Walk(v); c.Object && c.Next(); {
		name := string(c.Key())
		for _, k := range known {
			if k == name {
				continue members
			}
		}
		d.Member(at, name, c.Value())
	}
}

// Each goes through the elements of an array.
func Each(v []byte, at string, do func(v []byte, at string)) {
	n := 0
	for e := rawjson.Walk(v); !e.Object && e.Next(); n++ {
		do(e.Value(), at+"/"+strconv.Itoa(n))
	}
}
