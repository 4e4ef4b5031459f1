package replay

import (
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// ErrNoResult says that the request holds no result for a call id.
var ErrNoResult = errors.New("the request holds no result for that call")

// apply makes the edits in a request body. It completes each edit by where its
// value stands and what it was.
func apply(d transcript.Dialect, body []byte, edits []transcript.Edit) ([]byte, error) {
	for i := range edits {
		e := &edits[i]
		item, err := dialect.FindResult(d, body, e.CallID)
		if errors.Is(err, dialect.ErrNoResult) {
			return nil, fmt.Errorf("set result of %q: %w", e.CallID, ErrNoResult)
		}
		if err != nil {
			return nil, fmt.Errorf("set result of %q: %w", e.CallID, err)
		}
		e.Op, e.At, e.Was = transcript.SetResult, item.At, item.Text
		if body, err = dialect.SetResultAt(d, body, e.At, e.Text); err != nil {
			return nil, fmt.Errorf("set result of %q: %w", e.CallID, err)
		}
	}
	return body, nil
}
