package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// maxBody bounds how much of a body is held to be shown.
const maxBody = 64 << 20

// Bodies are the two sides of an exchange, content encodings undone.
type Bodies struct{ Request, Response []byte }

// ReadBodies reads both bodies of an exchange, decoded. What cannot be decoded
// comes as far as it can be.
func ReadBodies(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (Bodies, error) {
	request, err := readBody(ctx, r, &e.Request)
	if err != nil {
		return Bodies{}, fmt.Errorf("read request of %s: %w", Ref(e.N), pruned(ctx, r, e, err))
	}
	response, err := readBody(ctx, r, &e.Response)
	if err != nil {
		return Bodies{}, fmt.Errorf("read response of %s: %w", Ref(e.N), pruned(ctx, r, e, err))
	}
	return Bodies{request, response}, nil
}

// pruned makes of an error about a body ErrNotFound if the exchange is not there any
// more.
func pruned(ctx context.Context, r transcript.Reader, e *transcript.Exchange, err error) error {
	if _, gone := r.Exchange(ctx, e.ID); errors.Is(gone, transcript.ErrNotFound) {
		return fmt.Errorf("pruned meanwhile: %w", gone)
	}
	return err
}

func readBody(ctx context.Context, r transcript.Reader, m *transcript.Message) ([]byte, error) {
	if m.Bytes == 0 || m.Bytes > maxBody || m.Omitted == "bodies" {
		return nil, nil
	}
	body, err := r.Body(ctx, m.Body)
	if errors.Is(err, transcript.ErrNotFound) {
		return nil, fmt.Errorf("%w: the body is missing", transcript.ErrDamaged)
	}
	if err != nil {
		return nil, err
	}
	defer body.Close()
	wire, err := readAll(body, m.Bytes)
	if err != nil || m.ContentEncoding == "" || m.ContentEncoding == "identity" {
		return wire, err
	}
	// A body that does not decode was told so when it was recorded.
	plain, _ := dialect.Text(m.ContentEncoding, wire, maxBody)
	return plain, nil
}

// readAll reads at most maxBody, with room for what is expected to come.
func readAll(body io.Reader, expected int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(max(expected, 0), grownAtOnce)) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(body, maxBody))
	return b.Bytes(), err
}

// grownAtOnce bounds how much room is made for what may not come.
const grownAtOnce = 16 << 20

// decodeAnswer reads what the answer of an exchange alone tells, whose request is
// damaged. Where that is not why, or the answer cannot be read either, it gives why.
func decodeAnswer(ctx context.Context, r transcript.Reader, e *transcript.Exchange, why error) (*transcript.Turn, error) {
	if !errors.Is(why, transcript.ErrDamaged) {
		return nil, why
	}
	if _, err := readBody(ctx, r, &e.Request); err == nil {
		return nil, why
	}
	answer, err := readBody(ctx, r, &e.Response)
	if err != nil || len(answer) == 0 {
		return nil, why
	}
	return decode(e, Bodies{Response: answer}), nil
}

// Decode reads the turn of a stored exchange again from its bytes.
func Decode(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*transcript.Turn, error) {
	b, err := ReadBodies(ctx, r, e)
	if err != nil {
		return nil, err
	}
	return decode(e, b), nil
}

func decode(e *transcript.Exchange, b Bodies) *transcript.Turn {
	return dialect.Decode(e.Dialect, &dialect.Wire{
		Method: e.Method, URL: e.URL, Status: e.Status,
		RequestHeader: e.Request.Headers, ResponseHeader: e.Response.Headers,
		Request: b.Request, Response: b.Response,
	})
}
