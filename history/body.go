package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// MaxBody is the size of the largest body that is read as a whole and decoded.
const MaxBody = 64 << 20

// Why a body is not there as it was sent.
var (
	ErrOmitted  = errors.New("not stored whole, by choice (--omit or --redact)")
	ErrTooLarge = fmt.Errorf("larger than %d bytes", MaxBody)
	ErrEncoding = errors.New("its content encoding cannot be undone")
)

// omitBodies is what Message.Omitted says where nothing of a body was stored.
const omitBodies = "bodies"

// Open opens the exact bytes of a stored body or segment. The error wraps
// transcript.ErrDamaged if they are missing.
func Open(ctx context.Context, r transcript.BodyReader, id transcript.BodyID) (io.ReadCloser, error) {
	body, err := r.Body(ctx, id)
	if errors.Is(err, transcript.ErrNotFound) {
		return nil, fmt.Errorf("%w: the body is missing", transcript.ErrDamaged)
	}
	return body, err
}

// Excerpts reads bodies no further than a search needs, so that damage after that may go
// unnoticed.
type Excerpts struct{ transcript.BodyReader }

// Body opens a body for a search.
func (e Excerpts) Body(ctx context.Context, id transcript.BodyID) (io.ReadCloser, error) {
	return e.Excerpt(ctx, id)
}

// Segment reads a body or segment that the store keeps in one piece.
func Segment(ctx context.Context, r transcript.BodyReader, id transcript.BodyID) ([]byte, error) {
	body, err := Open(ctx, r, id)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

// Wire reads the exact bytes of one side of an exchange. It returns what is stored
// together with ErrOmitted if that is not all, and nothing with ErrTooLarge.
func Wire(ctx context.Context, r transcript.BodyReader, m *transcript.Message) ([]byte, error) {
	switch {
	case m.Omitted == omitBodies:
		return nil, ErrOmitted
	case m.Bytes == 0:
		return nil, nil
	case m.Bytes > MaxBody:
		return nil, fmt.Errorf("the body has %d bytes: %w", m.Bytes, ErrTooLarge)
	}
	body, err := Open(ctx, r, m.Body)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	wire, err := readAll(body, m.Bytes)
	if err == nil && m.Omitted != "" {
		err = ErrOmitted
	}
	return wire, err
}

// Body is Wire without the content encoding. What cannot be undone of it is left out,
// with ErrEncoding.
func Body(ctx context.Context, r transcript.BodyReader, m *transcript.Message) ([]byte, error) {
	wire, err := Wire(ctx, r, m)
	if err != nil && !errors.Is(err, ErrOmitted) {
		return nil, err
	}
	plain, undone := Plain(m.ContentEncoding, wire)
	if undone != nil {
		err = undone
	}
	return plain, err
}

// Plain undoes a content encoding as far as it can.
func Plain(encoding string, wire []byte) ([]byte, error) {
	if len(wire) == 0 || encoding == "" || encoding == "identity" {
		return wire, nil
	}
	plain, err := dialect.Text(encoding, wire, MaxBody)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return plain, err
}

// Available accepts what there is of a body: it drops an error that only says that this
// is not all that was sent.
func Available(body []byte, err error) ([]byte, error) {
	if errors.Is(err, ErrOmitted) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrEncoding) {
		return body, nil
	}
	return body, err
}

// readAll reads at most MaxBody bytes, with room for what is expected to come.
func readAll(body io.Reader, expected int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(max(expected, 0), maxGrow)) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(body, MaxBody))
	return b.Bytes(), err
}

// maxGrow bounds the room that is made before anything was read.
const maxGrow = 16 << 20
