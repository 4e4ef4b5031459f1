package decode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// storedBody gives a stored body as a recorder would.
type storedBody struct {
	ctx    context.Context
	reader transcript.Reader
	id     transcript.BodyID
	size   int64
}

func (b *storedBody) Size() int64                  { return b.size }
func (b *storedBody) Open() (io.ReadCloser, error) { return history.Open(b.ctx, b.reader, b.id) }

// newStoredBody gives the body of one side. Where secrets were replaced, its length
// is not that of the wire.
func newStoredBody(ctx context.Context, r transcript.Reader, m *transcript.Message) *storedBody {
	b := &storedBody{ctx, r, m.Body, m.Bytes}
	if !strings.Contains(m.Omitted, OmitSecrets) {
		return b
	}
	body, err := b.Open()
	if err != nil {
		return b // whoever reads it learns why
	}
	defer body.Close()
	if n, err := io.Copy(io.Discard, body); err == nil {
		b.size = n
	}
	return b
}

// recapture gives a stored exchange as it was caught.
func recapture(ctx context.Context, r transcript.Reader, e *transcript.Exchange) *transcript.Capture {
	end := seen(e)
	c := &transcript.Capture{
		ID: e.ID, StartedAt: e.StartedAt, EndedAt: e.EndedAt, Imported: e.Imported, Upstream: e.Upstream, Method: e.Method, URL: e.URL,
		RequestHeader: e.Request.Headers, ResponseHeader: e.Response.Headers, Status: e.Status,
		Outcome: end.Outcome, Error: end.Error, Lossy: e.Lossy, FirstByte: e.Timing.FirstByte, Chunks: e.Response.Chunks,
		Request:  newStoredBody(ctx, r, &e.Request),
		Response: newStoredBody(ctx, r, &e.Response),
	}
	if e.Link.Labelled {
		c.Label = e.Link.Run // the label itself is not needed: see draft.RunByLabel
	}
	return c
}

// Redecode decodes a stored exchange again. The error says that a body cannot
// be read.
func (c *Decoder) Redecode(ctx context.Context, r transcript.Reader, old *transcript.Exchange) (*Decoded, error) {
	if old.Request.Omitted == OmitBodies || old.Response.Omitted == OmitBodies {
		return nil, ErrOmitted
	}
	d := c.Decode(recapture(ctx, r, old))
	if err := errors.Join(d.request.failed, d.response.failed); err != nil {
		return nil, fmt.Errorf("x%d: %w: %w", old.N, transcript.ErrDamaged, err)
	}
	d.request, d.response = pieces{}, pieces{}
	e := d.Exchange
	e.N = old.N
	keepWire(&e.Request, &old.Request)
	keepWire(&e.Response, &old.Response)
	return d, nil
}

// ErrOmitted says that there is nothing to derive from: the bodies were left out
// by choice.
var ErrOmitted = errors.New("bodies omitted")

// keepWire takes over what the wire showed of one side, and what could not be
// read when it was recorded.
func keepWire(m, old *transcript.Message) {
	m.Bytes, m.SHA256, m.Body, m.Omitted = old.Bytes, old.SHA256, old.Body, old.Omitted
	if m.DecodeError == "" && unreadable(old.DecodeError) {
		m.DecodeError = old.DecodeError
	}
}

// Reread decodes a stored exchange again, with the arrival of its pieces that
// listings leave out.
func (c *Decoder) Reread(ctx context.Context, r transcript.Reader, id string) (*Decoded, error) {
	whole, err := r.Exchange(ctx, id)
	if err != nil {
		return nil, err
	}
	return c.Redecode(ctx, r, whole)
}

// Turn is a link.TurnReader.
func Turn(ctx context.Context, r transcript.Reader, id string) (*transcript.Turn, error) {
	d, err := new(Decoder).Reread(ctx, r, id)
	if Gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return d.Turn, nil
}

// Gone reports whether err says that an exchange has no bodies to decode.
func Gone(err error) bool {
	return errors.Is(err, transcript.ErrDamaged) || errors.Is(err, transcript.ErrNotFound) || errors.Is(err, ErrOmitted)
}
