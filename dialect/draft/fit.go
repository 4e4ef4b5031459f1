package draft

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// fitIDs gives every call an id that the other API takes, and its result the same.
func (d *Draft) fitIDs(l Limits) {
	items := make([]transcript.Item, len(d.Units))
	for i := range d.Units {
		u := &d.Units[i]
		items[i] = transcript.Item{Kind: u.Kind, Role: u.Role, CallID: u.ID, Name: u.Name}
	}
	f := fitting{longest: l.ID, strict: l.PlainID, minted: "call"}
	f.reserve(len(d.Units))
	calls := make([]int, len(d.Units)) // of each result, 1 + its call
	for _, m := range transcript.PairItems(items) {
		if m.Call >= 0 && m.Result >= 0 {
			calls[m.Result] = 1 + m.Call
		}
	}
	for i := range d.Units {
		u := &d.Units[i]
		switch {
		case u.Kind == transcript.ToolCall:
			id, why := f.fit(u.ID, f.strict)
			d.fitted(CallIDRewritten, u.At, &u.ID, id, why)
		case u.Kind != transcript.ToolResult:
		case calls[i] > 0:
			call := &d.Units[calls[i]-1]
			u.ID, u.Free = call.ID, call.Free
			if u.Name == "" || u.Name == call.Name {
				u.Name = call.Name
			}
		default:
			id, why := f.fit(u.ID, false)
			d.fitted(CallIDRewritten, u.At, &u.ID, id, why)
		}
	}
}

func (d *Draft) fitted(code LossCode, at string, old *string, now, why string) {
	if now != *old {
		d.Losses = append(d.Losses, Loss{Code: code, At: at, From: *old, To: now, Why: why})
		*old = now
	}
}

// fitNames gives every tool a name that the other dialect takes, the same in
// its definition, its calls and the choice of it.
func (d *Draft) fitNames(l Limits) {
	f := fitting{longest: l.Name, strict: true, minted: "tool"}
	f.reserve(len(d.Tools))
	known := map[string]string{}
	rename := func(at string, name *string) {
		now, ok := known[*name]
		if !ok {
			var why string
			now, why = f.fit(*name, true)
			known[*name] = now
			if now != *name {
				d.Losses = append(d.Losses, Loss{Code: ToolNameRewritten, At: at, From: *name, To: now, Why: why})
			}
		}
		*name = now
	}
	for i := range d.Tools {
		rename(d.Tools[i].At, &d.Tools[i].Name)
	}
	for i := range d.Units {
		if d.Units[i].Kind == transcript.ToolCall {
			rename(d.Units[i].At, &d.Units[i].Name)
		}
	}
	if d.Choice != nil {
		for i := range d.Choice.Names {
			rename(d.Choice.At, &d.Choice.Names[i].Name)
		}
	}
}

// fitting makes names that a dialect takes.
type fitting struct {
	longest int
	strict  bool // letters, digits, _ and - alone
	minted  string
	taken   map[string]int // 1 + how many further ones were made of it
}

func (f *fitting) reserve(n int) { f.taken = make(map[string]int, n) }

// fit gives a name as it may stand, and why it is another one.
func (f *fitting) fit(name string, unique bool) (fit, why string) {
	fit = name
	if f.strict {
		if fit = plainName(name); fit != name {
			why = "it may hold letters, digits, _ and - alone"
		}
	}
	if len(fit) > f.longest {
		sum := sha256.Sum256([]byte(name))
		fit = strings.ToValidUTF8(fit[:f.longest-9], "") + "_" + hex.EncodeToString(sum[:4])
		why = "it may have " + strconv.Itoa(f.longest) + " signs at most"
	}
	if fit == "" {
		fit, why, unique = f.minted, "there was none", true
	}
	if !unique {
		return fit, why
	}
	if f.taken[fit] == 0 {
		f.taken[fit] = 1
		return fit, why
	}
	if why == "" {
		why = "another one has it already"
	}
	for base := fit; ; {
		f.taken[base]++
		tail := "_" + strconv.Itoa(f.taken[base])
		fit = base[:min(len(base), f.longest-len(tail))] + tail
		if f.taken[fit] == 0 {
			f.taken[fit] = 1
			return fit, why
		}
	}
}

func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// Limits bounds ids and names.
type Limits struct {
	ID, Name int  // longest, in bytes
	PlainID  bool // of call ids: letters, digits, _ and - alone, each id once
}
