package replay

import (
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// RecordedResult is a result of a recording, as it was recorded.
type RecordedResult struct {
	CallID    string
	Name      string // of the tool
	Arguments string // canonical
	Text      string
	IsError   bool
	From      *transcript.Exchange // whose request brought it
}

// Results lists the results in the recording, in the order of the recording. An edit of one
// is for all that have its call id.
func (t *RecordedResults) Results() []RecordedResult {
	from := map[string]*transcript.Exchange{}
	for _, e := range t.line {
		from[e.ID] = e
	}
	list := make([]RecordedResult, len(t.all))
	for i, r := range t.all {
		list[i] = RecordedResult{CallID: r.callID, Name: r.key.name, Arguments: r.key.arguments, Text: r.item.Text, IsError: r.item.IsError, From: from[r.from]}
	}
	return list
}

// IsCallID reports whether a user means a call id by a part of it, or by its two ends
// as they are printed: call_ZtaP…5vVC.
func IsCallID(id, given string) bool {
	start, end, short := strings.Cut(given, "…")
	if !short {
		return strings.Contains(id, given)
	}
	return len(id) >= len(start)+len(end) && strings.HasPrefix(id, start) && strings.HasSuffix(id, end)
}
