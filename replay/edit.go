package replay

import (
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// ErrNoResult says that the request holds no result for a call id.
var ErrNoResult = errors.New("the request holds no result for that call")

// Edit gives the result of one tool call another text.
type Edit struct {
	CallID string `json:"set_result"`
	Text   string `json:"text"`
}

// apply makes the edits in a request body.
func apply(d transcript.Dialect, body []byte, edits []Edit) ([]byte, error) {
	for _, edit := range edits {
		changed, err := dialect.SetResult(d, body, edit.CallID, edit.Text)
		if errors.Is(err, dialect.ErrNoResult) {
			return nil, fmt.Errorf("set result of %q: %w", edit.CallID, ErrNoResult)
		}
		if err != nil {
			return nil, fmt.Errorf("set result of %q: %w", edit.CallID, err)
		}
		body = changed
	}
	return body, nil
}
