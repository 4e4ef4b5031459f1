package replay

import (
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// Taped is a result on a tape, as it was recorded.
type Taped struct {
	CallID    string
	Name      string // of the tool
	Arguments string // canonical
	Text      string
	IsError   bool
	From      *transcript.Exchange // whose request brought it
}

// Results lists the results on the tape, in the order of the recording. An edit of one
// is for all that have its call id.
func (t *Tape) Results() []Taped {
	from := map[string]*transcript.Exchange{}
	for _, e := range t.line {
		from[e.ID] = e
	}
	list := make([]Taped, len(t.all))
	for i, r := range t.all {
		list[i] = Taped{CallID: r.callID, Name: r.key.name, Arguments: r.key.arguments, Text: r.item.Text, IsError: r.item.IsError, From: from[r.from]}
	}
	return list
}

// IsCallID tells whether a user means a call id by a part of it, or by its two ends
// as they are printed: call_ZtaP…5vVC.
func IsCallID(id, given string) bool {
	start, end, short := strings.Cut(given, "…")
	if !short {
		return strings.Contains(id, given)
	}
	return len(id) >= len(start)+len(end) && strings.HasPrefix(id, start) && strings.HasSuffix(id, end)
}
