package dialect

import (
	"encoding/json"
	"errors"

	"github.com/retake-debugger/retake/transcript"
)

// ErrNoResult says that a request holds no result for that call id.
var ErrNoResult = errors.New("no such tool result")

// ErrNoValue says that a body holds no value at that JSON pointer.
var ErrNoValue = errors.New("no value at that pointer")

// Op is what an Edit does.
type Op string

// The operations of an Edit.
const (
	Replace Op = "replace"
	Insert  Op = "insert" // before the element at At; an index equal to the length, or "-", appends; a new member is put last
	Delete  Op = "delete"
)

// Edit is one change to a JSON body: an operation at a JSON pointer (RFC 6901).
type Edit struct {
	Op    Op              `json:"op"`
	At    string          `json:"at"`
	Value json.RawMessage `json:"value,omitempty"`
}

// Result is the outcome of one tool call, as a client would send it.
type Result struct {
	CallID  string
	Text    string
	IsError bool
}

// SetResult gives body with the result of the call callID set to text. Only
// the bytes of that value change. ErrNoResult if there is none.
func SetResult(d transcript.Dialect, body []byte, callID, text string) ([]byte, error) {
	return nil, ErrNoResult
}

// Apply makes the edits one after the other. Bytes outside the edited values
// stay as they are. ErrNoValue if a pointer leads nowhere.
func Apply(body []byte, edits ...Edit) ([]byte, error) {
	return nil, ErrNoValue
}

// Continue gives the request that goes on from body after its answer: the
// answer (a response object, reassembled if it was streamed) and the tool
// results appended the way a client of that API does.
func Continue(d transcript.Dialect, body, response []byte, results []Result) ([]byte, error) {
	return nil, ErrNoValue
}
