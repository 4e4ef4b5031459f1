package formats

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// Archive writes exchanges without loss: see archiveVersion. The same exchanges in
// the same order give the same bytes.
type Archive struct {
	ctx      context.Context
	reader   transcript.Reader
	out      *zstd.Encoder
	lost     *Losses
	segments map[[32]byte]int
	stored   map[transcript.BodyID]int // number of a stored segment
	sides    [2]recipeRing
	runs     map[string]int
	agents   map[string]int
	written  map[string]bool   // exchanges
	first    map[string]string // run → its first exchange here
	order    []string          // runs
	labels   map[string]string
	ids      []string // of the exchanges, in order
}

// NewArchive begins an archive of what a reader returns. Close ends it.
func NewArchive(ctx context.Context, r transcript.Reader, w io.Writer, lost *Losses) (*Archive, error) {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("begin archive: %w", err)
	}
	a := &Archive{ctx: ctx, reader: r, out: z, lost: lost, segments: map[[32]byte]int{}, stored: map[transcript.BodyID]int{}, runs: map[string]int{}, agents: map[string]int{},
		written: map[string]bool{}, first: map[string]string{}, labels: map[string]string{}}
	return a, writeLine(z, archiveHead{archiveVersion})
}

// Add writes an exchange with the arrival times of its chunks. An exchange in
// progress is a loss. If a body was not stored, its turn is written.
func (a *Archive) Add(e *transcript.Exchange) error {
	switch {
	case a.written[e.ID]:
		return nil
	case e.Outcome == transcript.InProgress:
		a.lost.add("exchanges in progress")
		return nil
	case e.Request.Omitted == "bodies" || e.Response.Omitted == "bodies":
		a.lost.add("turns of exchanges whose bodies were not stored")
	}
	x := &archiveExchange{ID: e.ID, StartedAt: e.StartedAt.UTC(), EndedAt: e.EndedAt.UTC(), Grade: e.Imported, Upstream: e.Upstream, Method: e.Method, URL: e.URL, Status: e.Status,
		Outcome: e.Outcome, Error: e.Error, Lossy: e.Lossy, FirstByte: e.Timing.FirstByte, Link: a.link(e)}
	if e.TransportEnding != nil {
		x.Outcome, x.Error = e.TransportEnding.Outcome, e.TransportEnding.Error
	} else if e.Outcome == transcript.HTTPError || e.Outcome == transcript.StreamError {
		x.Outcome, x.Error = transcript.OK, nil
	}
	if x.Grade == transcript.Exact {
		x.Grade = ""
	}
	for _, c := range e.Response.Chunks {
		x.Chunks = append(x.Chunks, [2]int64{c.Offset, c.At.Microseconds()})
	}
	var err error
	if x.Label, err = a.label(e); err != nil {
		return err
	}
	if x.Request, err = a.body(e, &e.Request, 0); err != nil {
		return err
	}
	if x.Response, err = a.body(e, &e.Response, 1); err != nil {
		return err
	}
	a.written[e.ID] = true
	a.ids = append(a.ids, e.ID)
	return writeLine(a.out, archiveLine{Exchange: x})
}

func (a *Archive) link(e *transcript.Exchange) archiveLink {
	l := archiveLink{Parent: e.Link.Parent, By: e.Link.By, Step: e.Link.Step, Attempt: e.Link.Attempt, Side: e.Link.Side}
	if run := e.Link.Run; run != "" {
		if a.runs[run] == 0 {
			a.runs[run], a.first[run] = len(a.runs)+1, e.ID
			a.order = append(a.order, run)
		}
		l.Run = a.runs[run]
	}
	if agent := e.Link.Agent; agent != "" {
		if a.agents[agent] == 0 {
			a.agents[agent] = len(a.agents) + 1
		}
		l.Agent = a.agents[agent]
	}
	return l
}

// label returns the label that an exchange was recorded with.
func (a *Archive) label(e *transcript.Exchange) (string, error) {
	if !e.Link.Labelled {
		return "", nil
	}
	if name, ok := a.labels[e.Link.Run]; ok {
		return name, nil
	}
	run, err := a.reader.Run(a.ctx, e.Link.Run)
	if errors.Is(err, transcript.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	a.labels[e.Link.Run] = run.Name
	return run.Name, nil
}

// body writes the segments of a body that are new.
func (a *Archive) body(e *transcript.Exchange, m *transcript.Message, side int) (archiveBody, error) {
	b := archiveBody{Headers: m.Headers, Bytes: m.Bytes, SHA256: m.SHA256, Omitted: m.Omitted}
	recipe, err := a.recipe(e, m)
	if err != nil {
		return b, fmt.Errorf("archive body of x%d: %w", e.N, err)
	}
	a.sides[side].tell(recipe, &b)
	return b, nil
}

func (a *Archive) recipe(e *transcript.Exchange, m *transcript.Message) ([]int, error) {
	if m.Bytes == 0 {
		return nil, nil
	}
	pieces, err := a.reader.Segments(a.ctx, m.Body)
	if err != nil {
		return nil, err
	}
	if len(pieces) < 2 {
		body, err := history.Segment(a.ctx, a.reader, m.Body)
		if err != nil {
			return nil, err
		}
		return a.cut(e.Dialect, body)
	}
	recipe := make([]int, 0, len(pieces))
	for _, id := range pieces {
		n, ok := a.stored[id]
		if !ok {
			piece, err := history.Segment(a.ctx, a.reader, id)
			if err != nil {
				return nil, err
			}
			if n, err = a.segment(piece); err != nil {
				return nil, err
			}
			a.stored[id] = n
		}
		recipe = append(recipe, n)
	}
	return recipe, nil
}

// cut splits a body that is stored as one segment.
func (a *Archive) cut(d transcript.Dialect, body []byte) ([]int, error) {
	var recipe []int
	start := 0
	for _, end := range append(dialect.Split(d, body), len(body)) {
		if end <= start {
			continue
		}
		n, err := a.segment(body[start:end])
		if err != nil {
			return nil, err
		}
		recipe, start = append(recipe, n), end
	}
	return recipe, nil
}

// segment returns the number of a segment, and writes it if it is new.
func (a *Archive) segment(piece []byte) (int, error) {
	sum := sha256.Sum256(piece)
	if n, ok := a.segments[sum]; ok {
		return n, nil
	}
	n := len(a.segments)
	a.segments[sum] = n
	return n, writeLine(a.out, archiveLine{Segment: newSegment(piece)})
}

// overrides returns what users said about exchanges.
type overrides interface {
	Override(exchange string) (*transcript.Override, error)
}

// Close writes what users said about the written exchanges, and the end.
func (a *Archive) Close(words overrides) error {
	for _, run := range a.order {
		m, err := a.reader.Marks(a.ctx, run)
		if err != nil {
			return err
		}
		if !m.IsZero() {
			if err := writeLine(a.out, archiveLine{Marks: &archiveMarks{a.first[run], m.Name, m.Note, m.Tags, m.Pinned}}); err != nil {
				return err
			}
		}
	}
	if err := a.overrides(words); err != nil {
		return err
	}
	takes, err := a.reader.Takes(a.ctx, "")
	if err != nil {
		return err
	}
	for _, t := range takes {
		steps := slices.DeleteFunc(t.Steps, func(s transcript.TakeStep) bool { return !a.written[s.Exchange] })
		if len(steps) == 0 {
			continue
		}
		whole, err := a.reader.TakeN(a.ctx, t.N)
		if err != nil {
			return err
		}
		if err := writeLine(a.out, archiveLine{Take: newArchiveTake(whole, steps)}); err != nil {
			return err
		}
	}
	if err := a.out.Close(); err != nil {
		return fmt.Errorf("end archive: %w", err)
	}
	return nil
}

func (a *Archive) overrides(words overrides) error {
	for _, id := range a.ids {
		o, err := words.Override(id)
		if errors.Is(err, transcript.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		out := &archiveOverride{Exchange: id, Verb: o.Verb, To: o.To, At: o.At.UTC()}
		if first := a.first[o.To]; first != "" {
			out.To, out.ToRun = "", first
		}
		if err := writeLine(a.out, archiveLine{Override: out}); err != nil {
			return err
		}
	}
	return nil
}

// sumOf returns the checksum of a body as exchanges hold it.
func sumOf(body io.Reader) (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, body)
	return hex.EncodeToString(h.Sum(nil)), err
}
