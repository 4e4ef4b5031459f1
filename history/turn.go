package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// Bodies are the two sides of an exchange without their content encodings.
type Bodies struct{ Request, Response []byte }

// Wire returns an exchange with these bodies, as a dialect reads it.
func (b Bodies) Wire(e *transcript.Exchange) *dialect.Wire {
	return &dialect.Wire{
		Method: e.Method, URL: e.URL, Status: e.Status,
		RequestHeader: e.Request.Headers, ResponseHeader: e.Response.Headers,
		Request: b.Request, Response: b.Response,
	}
}

// Decode returns the turn of an exchange with these bodies.
func (b Bodies) Decode(e *transcript.Exchange) *transcript.Turn {
	return dialect.Decode(e.Dialect, b.Wire(e))
}

// Read reads both bodies of an exchange, as far as they are available. The error wraps
// transcript.ErrNotFound if the exchange was removed meanwhile.
func Read(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (b Bodies, err error) {
	if b.Request, err = Available(Body(ctx, r, &e.Request)); err != nil {
		return Bodies{}, fmt.Errorf("read request of x%d: %w", e.N, pruned(ctx, r, e, err))
	}
	if b.Response, err = Available(Body(ctx, r, &e.Response)); err != nil {
		return Bodies{}, fmt.Errorf("read response of x%d: %w", e.N, pruned(ctx, r, e, err))
	}
	return b, nil
}

// pruned turns an error about a body into ErrNotFound if the exchange is gone.
func pruned(ctx context.Context, r transcript.ExchangeReader, e *transcript.Exchange, err error) error {
	if _, gone := r.Exchange(ctx, e.ID); errors.Is(gone, transcript.ErrNotFound) {
		return fmt.Errorf("pruned meanwhile: %w", gone)
	}
	return err
}

// Decode decodes a stored exchange, as far as its bodies are available.
func Decode(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*transcript.Turn, error) {
	b, err := Read(ctx, r, e)
	if err != nil {
		return nil, err
	}
	return b.Decode(e), nil
}

// DecodeRequest decodes the request of a stored exchange alone, as far as it is available.
func DecodeRequest(ctx context.Context, r transcript.BodyReader, e *transcript.Exchange) (*transcript.Turn, error) {
	body, err := Available(Body(ctx, r, &e.Request))
	if err != nil {
		return nil, err
	}
	return Bodies{Request: body}.Decode(e), nil
}

// DecodeAnswer decodes the answer of a stored exchange alone, as far as it is available.
func DecodeAnswer(ctx context.Context, r transcript.BodyReader, e *transcript.Exchange) (*transcript.Turn, error) {
	body, err := Available(Body(ctx, r, &e.Response))
	if err != nil {
		return nil, err
	}
	return Bodies{Response: body}.Decode(e), nil
}

// DecodeAnswerDespite decodes the answer of an exchange whose request is damaged, which is
// why its turn cannot be read. It returns why if the request is not damaged, or there is
// no answer to be read.
func DecodeAnswerDespite(ctx context.Context, r transcript.BodyReader, e *transcript.Exchange, why error) (*transcript.Turn, error) {
	if !errors.Is(why, transcript.ErrDamaged) {
		return nil, why
	}
	if _, err := Available(Body(ctx, r, &e.Request)); err == nil {
		return nil, why
	}
	answer, err := Available(Body(ctx, r, &e.Response))
	if err != nil || len(answer) == 0 {
		return nil, why
	}
	return Bodies{Response: answer}.Decode(e), nil
}
