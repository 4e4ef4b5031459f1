package formats

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/transcript"
)

// Redacted is a transcript.Reader that replaces secrets by placeholders: in headers,
// URLs, bodies, errors, edits and what users said about runs, and in what is derived
// from bodies. Nothing that is stored changes. Bodies have no content encoding. They
// have no checksum either, because their bytes differ from those on the wire.
type Redacted struct {
	transcript.Reader
	scrub *redact.Scrubber

	mu       sync.Mutex
	encoding map[transcript.BodyID]string
}

// NewRedacted returns a Redacted.
func NewRedacted(r transcript.Reader, s *redact.Scrubber) *Redacted {
	return &Redacted{Reader: r, scrub: s, encoding: map[transcript.BodyID]string{}}
}

// mostRedacted limits the size of a body that is redacted.
const mostRedacted = 64 << 20

// exchange returns a copy without secrets.
func (r *Redacted) exchange(e *transcript.Exchange, err error) (*transcript.Exchange, error) {
	if e == nil || err != nil {
		return e, err
	}
	safe := *e
	safe.URL, safe.Preview = r.scrub.Text(e.URL), r.scrub.Text(e.Preview)
	safe.Error = r.failure(e.Error)
	if e.TransportEnding != nil {
		safe.TransportEnding = &transcript.Ending{Outcome: e.TransportEnding.Outcome, Error: r.failure(e.TransportEnding.Error)}
	}
	safe.Warnings = nil
	for _, w := range e.Warnings {
		safe.Warnings = append(safe.Warnings, r.scrub.Text(w))
	}
	r.message(&safe.Request)
	if err := r.chunks(&safe.Response); err != nil {
		return nil, err
	}
	r.message(&safe.Response)
	return &safe, nil
}

func (r *Redacted) failure(e *transcript.Error) *transcript.Error {
	if e == nil {
		return nil
	}
	return &transcript.Error{Type: r.scrub.Text(e.Type), Code: r.scrub.Text(e.Code), Message: r.scrub.Text(e.Message)}
}

func (r *Redacted) message(m *transcript.Message) {
	headers := make(map[string][]string, len(m.Headers))
	for name, values := range m.Headers {
		for _, v := range values {
			headers[name] = append(headers[name], r.scrub.Text(v))
		}
	}
	m.Headers, m.SHA256, m.DecodeError = headers, "", r.scrub.Text(m.DecodeError)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.encoding[m.Body] = m.ContentEncoding
	m.ContentEncoding = ""
}

// chunks moves the offsets of chunks to where they are after the redaction.
func (r *Redacted) chunks(m *transcript.Message) error {
	if len(m.Chunks) == 0 || m.ContentEncoding != "" || m.Bytes > mostRedacted {
		m.Chunks = nil
		return nil
	}
	body, err := r.read(context.Background(), m.Body, "")
	if err != nil {
		return err
	}
	_, splices := r.scrub.Body(body)
	moved := make([]transcript.Chunk, len(m.Chunks))
	for i, c := range m.Chunks {
		moved[i] = transcript.Chunk{Offset: redact.Moved(splices, c.Offset), At: c.At}
	}
	m.Chunks = moved
	return nil
}

// Exchange implements transcript.Reader, like the methods below.
func (r *Redacted) Exchange(ctx context.Context, id string) (*transcript.Exchange, error) {
	return r.exchange(r.Reader.Exchange(ctx, id))
}

// ExchangeN returns the exchange with that number.
func (r *Redacted) ExchangeN(ctx context.Context, n int64) (*transcript.Exchange, error) {
	return r.exchange(r.Reader.ExchangeN(ctx, n))
}

// Exchanges lists exchanges, without the arrival times of chunks.
func (r *Redacted) Exchanges(ctx context.Context, f transcript.Filter) iter.Seq2[*transcript.Exchange, error] {
	return func(yield func(*transcript.Exchange, error) bool) {
		for e, err := range r.Reader.Exchanges(ctx, f) {
			if err == nil {
				e.Response.Chunks = nil
			}
			if !yield(r.exchange(e, err)) {
				return
			}
		}
	}
}

// Children lists the exchanges that continue the one with that id.
func (r *Redacted) Children(ctx context.Context, id string) ([]*transcript.Exchange, error) {
	list, err := r.Reader.Children(ctx, id)
	for i := range list {
		list[i].Response.Chunks = nil
		if list[i], err = r.exchange(list[i], err); err != nil {
			return nil, err
		}
	}
	return list, err
}

// Segments makes readers read bodies whole: a secret may be spread over several
// segments.
func (r *Redacted) Segments(_ context.Context, id transcript.BodyID) ([]transcript.BodyID, error) {
	return []transcript.BodyID{id}, nil
}

// Body opens a body without its content encoding and its secrets.
func (r *Redacted) Body(ctx context.Context, id transcript.BodyID) (io.ReadCloser, error) {
	r.mu.Lock()
	encoding := r.encoding[id]
	r.mu.Unlock()
	body, err := r.read(ctx, id, encoding)
	if err != nil {
		return nil, err
	}
	safe, _ := r.scrub.Body(body)
	return io.NopCloser(bytes.NewReader(safe)), nil
}

// read reads a body. It returns an error for one that is too large to be redacted or
// cannot be decoded.
func (r *Redacted) read(ctx context.Context, id transcript.BodyID, encoding string) ([]byte, error) {
	wire, err := history.Open(ctx, r.Reader, id)
	if err != nil {
		return nil, err
	}
	defer wire.Close()
	body, err := io.ReadAll(io.LimitReader(wire, mostRedacted+1))
	if err != nil {
		return nil, err
	}
	if len(body) > mostRedacted {
		return nil, fmt.Errorf("redact body: it has more than %d bytes", mostRedacted)
	}
	if encoding == "" || encoding == "identity" || len(body) == 0 {
		return body, nil
	}
	plain, err := dialect.Text(encoding, body, mostRedacted)
	if err != nil && len(plain) == 0 {
		return nil, fmt.Errorf("redact body: %w", err)
	}
	return plain, nil
}

// Takes lists replays.
func (r *Redacted) Takes(ctx context.Context, id string) ([]transcript.Take, error) {
	list, err := r.Reader.Takes(ctx, id)
	for i := range list {
		r.redactTake(&list[i])
	}
	return list, err
}

// TakeN returns the take with that number.
func (r *Redacted) TakeN(ctx context.Context, n int64) (*transcript.Take, error) {
	t, err := r.Reader.TakeN(ctx, n)
	if err == nil {
		r.redactTake(t)
	}
	return t, err
}

func (r *Redacted) redactTake(t *transcript.Take) {
	edits, _ := r.scrub.Body([]byte(t.Edits))
	t.Edits, t.Reason = string(edits), r.scrub.Text(t.Reason)
	for i := range t.Results {
		res := &t.Results[i]
		res.Name, res.Text = r.scrub.Text(res.Name), r.scrub.Text(res.Text)
	}
}

// Run returns the run with that id.
func (r *Redacted) Run(ctx context.Context, id string) (*transcript.Run, error) {
	return r.run(r.Reader.Run(ctx, id))
}

// RunN returns the run with that number.
func (r *Redacted) RunN(ctx context.Context, n int64) (*transcript.Run, error) {
	return r.run(r.Reader.RunN(ctx, n))
}

func (r *Redacted) run(run *transcript.Run, err error) (*transcript.Run, error) {
	if err != nil {
		return run, err
	}
	safe := *run
	safe.Name = r.scrub.Text(run.Name)
	return &safe, nil
}

// Runs lists runs.
func (r *Redacted) Runs(ctx context.Context, f transcript.RunFilter) ([]transcript.RunSum, error) {
	list, err := r.Reader.Runs(ctx, f)
	r.names(list)
	return list, err
}

// RunNames returns the names of runs.
func (r *Redacted) RunNames(ctx context.Context, ids []string) ([]transcript.RunSum, error) {
	list, err := r.Reader.RunNames(ctx, ids)
	r.names(list)
	return list, err
}

func (r *Redacted) names(list []transcript.RunSum) {
	for i := range list {
		s := &list[i]
		s.Name, s.Topic = r.scrub.Text(s.Name), r.scrub.Text(s.Topic)
		r.marks(&s.Marks)
	}
}

// Marks returns what users said about a run.
func (r *Redacted) Marks(ctx context.Context, run string) (*transcript.Marks, error) {
	m, err := r.Reader.Marks(ctx, run)
	if err == nil && m != nil {
		safe := *m
		r.marks(&safe)
		m = &safe
	}
	return m, err
}

func (r *Redacted) marks(m *transcript.Marks) {
	m.Name, m.Note = r.scrub.Text(m.Name), r.scrub.Text(m.Note)
	var tags []string
	for _, t := range m.Tags {
		tags = append(tags, r.scrub.Text(t))
	}
	m.Tags = tags
}

// Calls lists the recorded calls of exchanges.
func (r *Redacted) Calls(ctx context.Context, exchanges []string) ([]transcript.CallRow, error) {
	return r.rows(r.Reader.Calls(ctx, exchanges))
}

// IntroducedResults lists the results that a request introduced.
func (r *Redacted) IntroducedResults(ctx context.Context, exchange string) ([]transcript.CallRow, error) {
	return r.rows(r.Reader.IntroducedResults(ctx, exchange))
}

func (r *Redacted) rows(list []transcript.CallRow, err error) ([]transcript.CallRow, error) {
	for i := range list {
		list[i].Name = r.scrub.Text(list[i].Name)
	}
	return list, err
}
