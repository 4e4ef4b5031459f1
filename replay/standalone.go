package replay

import (
	"bytes"
	"context"

	"github.com/retake-debugger/retake/transcript"
)

// StandAlone makes the request one that leans on nothing that the provider holds, as
// Play does before it goes on from it. ErrHeld if the recording does not have it all.
func (r *Request) StandAlone(ctx context.Context, reader transcript.Reader) error {
	plain, err := r.plainBody()
	if err == nil {
		_, err = r.standAlone(ctx, reader, plain)
	}
	return err
}

// standAlone makes the request one that leans on nothing that the provider holds, so
// that the take can go on from it and adds nothing to a conversation or a thread. It
// gives its decoded body. Most requests stay as they are.
func (r *Request) standAlone(ctx context.Context, reader transcript.Reader, plain []byte) ([]byte, error) {
	whole := plain
	if r.converted == "" && !r.Held {
		var err error
		if whole, r.Held, err = fill(ctx, reader, r.Origin, plain); err != nil {
			return nil, err
		}
	}
	if d := r.Speaks(); d == transcript.Responses || d == transcript.Messages {
		var err error
		if whole, err = unlean(d, whole); err != nil {
			return nil, err
		}
	}
	if !bytes.Equal(whole, plain) {
		r.Body = whole
		r.Header.Del("Content-Encoding")
	}
	return whole, nil
}
