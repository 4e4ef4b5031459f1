package view

import (
	"bytes"
	"fmt"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// NewPart is the part of a request's conversation that the history before does not
// contain.
type NewPart struct {
	At   string // JSON pointer of its first element
	Of   string // the array that it ends
	JSON []byte // an array of its elements, as sent
	Kept int    // elements before it, which are in the history
}

// NewIn finds the new part of a request's body. It returns nil if everything or
// nothing is new, or if that is unknown.
func NewIn(e *transcript.Exchange, body []byte, input []transcript.Item) *NewPart {
	shared := e.Link.Shared
	if e.Link.ServerHeld() || shared == 0 {
		return nil
	}
	fresh := history.After(input, shared)
	if len(fresh) == 0 {
		return nil
	}
	member, first, ok := dialect.ElementAt(fresh[0].At)
	if !ok || first == 0 || history.IsBeside(fresh[0].At) {
		return nil
	}
	ends := dialect.Elements(e.Dialect, body)[member]
	if first >= len(ends) {
		return nil
	}
	elements := bytes.TrimLeft(body[ends[first-1]:ends[len(ends)-1]], ", \t\r\n")
	return &NewPart{At: fmt.Sprintf("/%s/%d", member, first), Of: member, Kept: first, JSON: bytes.Join([][]byte{[]byte("["), elements, []byte("]")}, nil)}
}
