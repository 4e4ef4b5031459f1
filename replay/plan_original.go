package replay

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// original is a recorded request. All that a plan makes of it shares one original, so
// that its body is read and decoded once.
type original struct {
	exchange *transcript.Exchange
	body     []byte   // as recorded
	plain    *decoded // body without its content encoding; nil until it is needed
	full     *decoded // plain with the history that the provider holds; nil until it is needed
	held     bool     // the provider holds some of full
	decodes  *atomic.Int64
}

// readOriginal reads the recorded request of an exchange, which must be whole.
func readOriginal(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*original, error) {
	if e.Lossy {
		return nil, ErrLossy
	}
	body, err := history.Wire(ctx, r, &e.Request)
	if errors.Is(err, history.ErrOmitted) {
		return nil, ErrOmitted
	}
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	return &original{exchange: e, body: body, decodes: new(atomic.Int64)}, nil
}

// decode returns a body of the original's exchange, to be decoded when its turn is
// asked for.
func (o *original) decode(body []byte) *decoded {
	return newDecoded(o.exchange.Dialect, o.exchange.Method, o.exchange.URL, body, o.decodes)
}

// text returns the body without its content encoding.
func (o *original) text() (*decoded, error) {
	if o.plain != nil {
		return o.plain, nil
	}
	body, err := history.Plain(o.exchange.Request.ContentEncoding, o.body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUndecodable, err)
	}
	if cut(o.exchange, body, true) {
		return nil, ErrCut
	}
	o.plain = o.decode(body)
	return o.plain, nil
}

// whole returns the body with the history that the provider holds.
func (o *original) whole(ctx context.Context, r transcript.Reader) (*decoded, error) {
	if o.full != nil {
		return o.full, nil
	}
	plain, err := o.text()
	if err != nil {
		return nil, err
	}
	full, held, err := fill(ctx, r, o.exchange, plain)
	if err != nil {
		return nil, err
	}
	o.full, o.held = full, held
	return full, nil
}

// decoded is a request body and the turn that it decodes to, which is made when it is
// first asked for. Takes that are played at once share it and do not change it.
type decoded struct {
	speaks transcript.Dialect
	body   []byte
	turn   func() *transcript.Turn
	errors func() []lint.Finding      // what lint calls an error
	with   func(body []byte) *decoded // another body of the same request
}

// newDecoded counts in decodes, unless it is nil, that a body is decoded.
func newDecoded(speaks transcript.Dialect, method, url string, body []byte, decodes *atomic.Int64) *decoded {
	d := &decoded{speaks: speaks, body: body, turn: sync.OnceValue(func() *transcript.Turn {
		if decodes != nil {
			decodes.Add(1)
		}
		return dialect.Decode(speaks, &dialect.Wire{Method: method, URL: url, Request: body})
	})}
	d.errors = sync.OnceValue(d.lint)
	d.with = func(other []byte) *decoded {
		if sameSlice(body, other) {
			return d
		}
		return newDecoded(speaks, method, url, other, decodes)
	}
	return d
}

// sameSlice reports whether two slices are the same memory.
func sameSlice(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
