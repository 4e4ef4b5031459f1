package replay

import (
	"bytes"
	"context"

	"github.com/retake-debugger/retake/transcript"
)

// StandAlone puts in the history that the provider holds, so that a take can continue
// the request and adds nothing to a conversation or a thread. Most requests stay as they
// are. Play does the same before it continues a request. ErrHeld if the recording does
// not have all of the history.
func (r *Request) StandAlone(ctx context.Context, reader transcript.Reader) error {
	plain, err := r.decoded()
	if err != nil {
		return err
	}
	whole := plain
	if r.converted == "" && !r.Held {
		if whole, r.Held, err = fill(ctx, reader, r.Origin, plain); err != nil {
			return err
		}
	}
	body, err := unlean(r.Speaks(), whole.body)
	if err != nil {
		return err
	}
	whole = whole.with(body)
	if !bytes.Equal(whole.body, plain.body) {
		r.Body, r.read, r.sent = whole.body, whole, whole.body
		r.Header.Del("Content-Encoding")
	}
	return nil
}
