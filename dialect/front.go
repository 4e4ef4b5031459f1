package dialect

import (
	"encoding/json"

	"github.com/retake-debugger/retake/dialect/draft"
	"github.com/retake-debugger/retake/transcript"
)

// Recognise returns the dialect that an exchange speaks.
func Recognise(w *Wire) transcript.Dialect { return APIs.Recognise(w) }

// RecogniseRequest returns the dialect that a request body looks like, if nothing else
// is known of it.
func RecogniseRequest(body []byte) transcript.Dialect { return APIs.RecogniseRequest(body) }

// Decode reads an exchange.
func Decode(d transcript.Dialect, w *Wire) *transcript.Turn { return APIs.Decode(d, w) }

// Read returns what Decode and Split do, with what m remembers.
func Read(m *Memory, d transcript.Dialect, w *Wire) *Reading { return APIs.Read(m, d, w) }

// Split returns the ends of a body's segments.
func Split(d transcript.Dialect, body []byte) []int { return APIs.Split(d, body) }

// Elements returns where the elements of a body's arrays end.
func Elements(d transcript.Dialect, body []byte) map[string][]int { return APIs.Elements(d, body) }

// DecodeElement reads one element of a request.
func DecodeElement(d transcript.Dialect, at string, piece []byte) []transcript.Item {
	return APIs.DecodeElement(d, at, piece)
}

// FindCall returns the last tool call with that id.
func FindCall(d transcript.Dialect, body []byte, callID string) (*transcript.Item, error) {
	return APIs.FindCall(d, body, callID)
}

// FindResult returns the tool result that SetResult would change.
func FindResult(d transcript.Dialect, body []byte, callID string) (*transcript.Item, error) {
	return APIs.FindResult(d, body, callID)
}

// SetArgumentsAt returns body with other arguments of a tool call.
func SetArgumentsAt(d transcript.Dialect, body []byte, at string, arguments json.RawMessage) ([]byte, error) {
	return APIs.SetArgumentsAt(d, body, at, arguments)
}

// SetResult returns body with another result of a call.
func SetResult(d transcript.Dialect, body []byte, callID, text string) ([]byte, error) {
	return APIs.SetResult(d, body, callID, text)
}

// SetResultAt returns body with another text of a tool result.
func SetResultAt(d transcript.Dialect, body []byte, at, text string) ([]byte, error) {
	return APIs.SetResultAt(d, body, at, text)
}

// SetErrorAt returns body with a tool result that says whether its tool failed.
func SetErrorAt(d transcript.Dialect, body []byte, at string, failed bool) ([]byte, error) {
	return APIs.SetErrorAt(d, body, at, failed)
}

// SetSystem returns body with another system prompt.
func SetSystem(d transcript.Dialect, body []byte, text string) (out []byte, at, was string, err error) {
	return APIs.SetSystem(d, body, text)
}

// Continue returns the request that follows body after its answer.
func Continue(d transcript.Dialect, body, response []byte, results []Result) ([]byte, error) {
	return APIs.Continue(d, body, response, results)
}

// NewGrowing begins with a request body, which must not be changed any more.
func NewGrowing(d transcript.Dialect, body []byte) *Growing { return APIs.NewGrowing(d, body) }

// Convert writes a request of one dialect as one of another.
func Convert(from, to transcript.Dialect, body []byte) ([]byte, []draft.Loss, error) {
	return APIs.Convert(from, to, body)
}
