package dialect

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// Loss is one thing of a request that Convert did not carry into the other
// dialect, or did not carry as it was.
type Loss struct {
	Code   LossCode `json:"code"`
	At     string   `json:"at"`                // JSON pointer into the request that was converted; "" for what had to be added
	ItemID string   `json:"item_id,omitempty"` // the id that the provider gave the item
	From   string   `json:"from,omitempty"`    // what it was, where something else is there now
	To     string   `json:"to,omitempty"`
	Why    string   `json:"why"`
}

// LossCode says what kind of loss it is.
type LossCode string

// The codes of a Loss.
const (
	ReasoningDropped   LossCode = "reasoning_dropped" // only the model and the account that made it can read it
	CallIDRewritten    LossCode = "call_id_rewritten" // on both sides of the pair
	ToolNameRewritten  LossCode = "tool_name_rewritten"
	ArgumentsRewritten LossCode = "arguments_rewritten" // they were no JSON object
	CallRewritten      LossCode = "call_rewritten"      // a call of a built-in or free-text tool is one of a function
	ToolRewritten      LossCode = "tool_rewritten"
	ToolDropped        LossCode = "tool_dropped"        // a built-in tool
	ServerCallDropped  LossCode = "server_call_dropped" // a call that the provider ran, or its result
	ItemDropped        LossCode = "item_dropped"
	PartDropped        LossCode = "part_dropped"   // an image, a file, sound
	PartRewritten      LossCode = "part_rewritten" // as text
	TextDropped        LossCode = "text_dropped"   // empty text, which Messages refuses
	MemberDropped      LossCode = "member_dropped" // of a message, a part, a tool
	CacheMarkDropped   LossCode = "cache_mark_dropped"
	ErrorMarkDropped   LossCode = "error_mark_dropped"
	MessagesMerged     LossCode = "messages_merged" // with the one before it
	MessageMoved       LossCode = "message_moved"
	RoleChanged        LossCode = "role_changed"
	ParameterDropped   LossCode = "parameter_dropped"
	ParameterChanged   LossCode = "parameter_changed"
	ParameterAdded     LossCode = "parameter_added" // the dialect demands it
	HistoryMissing     LossCode = "history_missing" // the provider holds it
)

// ErrNoConversion says that there is no conversion between two dialects.
var ErrNoConversion = errors.New("no conversion between these dialects")

// Convert writes a request of one dialect as one of another, and lists what it
// could not carry. Within one dialect the bytes stay as they are. Texts,
// arguments and schemas keep their spelling. What is only the provider's own
// business is neither carried nor listed: ids and states of items, and what
// the other dialect does anyway (store false, usage of a stream). The list is
// in the order of the request, as far as it could be read at once.
func Convert(from, to transcript.Dialect, body []byte) (converted []byte, losses []Loss, err error) {
	if from == to {
		return body, nil, nil
	}
	if !rawjson.Valid(body) || !rawjson.IsObject(body[rawjson.SkipSpace(body, 0):]) {
		return nil, nil, errors.New("convert request: the body is no JSON object")
	}
	source, target := of(from), of(to)
	if source == nil {
		return nil, nil, fmt.Errorf("convert request from %s: %w", from, ErrNoConversion)
	}
	if target == nil {
		return nil, nil, fmt.Errorf("convert request to %s: %w", to, ErrNoConversion)
	}
	d := &draft{names: source.Settings}
	source.Read(d, body[rawjson.SkipSpace(body, 0):])
	d.fitIDs(target.Limits)
	d.fitNames(target.Limits)
	var out rawjson.Object
	target.Write(d, &out)
	if converted = out.Bytes(); !rawjson.Valid(converted) {
		return nil, nil, errors.New("convert request: it is nested too deep")
	}
	return converted, d.losses, nil
}

// draft is a request apart from any dialect, on its way from one to another.
type draft struct {
	names        map[string]string // of settings, in the API that is read
	customIsFree bool              // a custom tool of the API that is read takes free text
	settings     settings
	choice       *toolChoice
	format       *format
	tools        []tool
	units        []utterance
	losses       []Loss
	message      int // how many messages were read
}

// utterance is one item of a history: what a message says, one call, one result.
type utterance struct {
	kind    transcript.Kind // System, MessageItem, ToolCall or ToolResult
	role    string
	at      string
	message int // those of one message have the same number
	plain   bool
	pieces  []piece // what it says; if plain it is one text, written as a string

	id, name  string
	arguments string // of a call: JSON as the model wrote it, or free text
	free      bool   // a call of a tool that takes free text, or its result
	isError   bool
}

func (d *draft) lose(code LossCode, at, why string) {
	d.losses = append(d.losses, Loss{Code: code, At: at, Why: why})
}

func (d *draft) change(code LossCode, at, from, to, why string) {
	d.losses = append(d.losses, Loss{Code: code, At: at, From: short(from), To: short(to), Why: why})
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

// add puts an utterance behind the history so far.
func (d *draft) add(u utterance) { d.units = append(d.units, u) }

// reasoning lists a piece of reasoning: none of it goes to another provider.
func (d *draft) reasoning(at string, v []byte) {
	if rawjson.IsEmpty(v) {
		return
	}
	d.losses = append(d.losses, Loss{Code: ReasoningDropped, At: at, ItemID: rawjson.String(rawjson.Get(v, "id")),
		Why: "only the model and the account that made it can read it"})
}

// dropItem lists an item that no other dialect has.
func (d *draft) dropItem(code LossCode, at string, v []byte, why string) {
	d.losses = append(d.losses, Loss{Code: code, At: at, ItemID: rawjson.String(rawjson.Get(v, "id")), From: rawjson.String(rawjson.Get(v, "type")), Why: why})
}

// member lists a member of an object that says something and is not carried.
func (d *draft) member(at, name string, v []byte) {
	switch {
	case rawjson.IsEmpty(v):
	case name == "cache_control":
		d.lose(CacheMarkDropped, at+"/"+rawjson.EscapeToken(name), "cache marks are Anthropic's")
	default:
		d.lose(MemberDropped, at+"/"+rawjson.EscapeToken(name), "the other dialect has no counterpart")
	}
}

func escapeToken(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// rest lists the members of an object apart from those that are known.
func (d *draft) rest(v []byte, at string, known ...string) {
members:
	for c := rawjson.Walk(v); c.Object && c.Next(); {
		name := string(c.Key())
		for _, k := range known {
			if k == name {
				continue members
			}
		}
		d.member(at, name, c.Value())
	}
}

// each goes through the elements of an array.
func each(v []byte, at string, do func(v []byte, at string)) {
	n := 0
	for e := rawjson.Walk(v); !e.Object && e.Next(); n++ {
		do(e.Value(), at+"/"+strconv.Itoa(n))
	}
}
