package formats

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/retake-debugger/retake/transcript"
)

// ErrNewerArchive says that a newer version wrote an archive.
var ErrNewerArchive = errors.New("a newer version of this program wrote the archive")

// FitsArchive reports whether a file with that beginning is an archive.
func FitsArchive(head []byte) bool { return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) }

// Said is what an archive holds beside exchanges: what users said about them, and
// replays. It belongs to exchanges that were read before.
type Said struct {
	Marks    *transcript.Marks // of the run of Exchange
	Override *transcript.Override
	ToRun    string // of an override: To is the run of this exchange
	Take     *transcript.Take
	Exchange string
}

// Linked is the link that an archive has for an exchange.
type Linked struct{ Exchange, Parent, By string }

// ReadArchive calls emit for the exchanges of an archive, then said for what users
// said. A line that cannot be read, or an exchange whose bytes do not match its
// checksum, is reported and left out.
func ReadArchive(s *Source, emit func(*transcript.Capture, Linked) error, said func(*Said) error) error {
	z, err := zstd.NewReader(s.Reader, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30))
	if err != nil {
		return fmt.Errorf("open archive: %w", err)
	}
	defer z.Close()
	inner := *s
	inner.Reader = bufio.NewReaderSize(z, 1<<16)
	r := &archiveReader{source: &inner, emit: emit, said: said}
	if err := inner.lines(r.line); err != nil {
		return err
	}
	if !r.begun {
		return errors.New("read archive: it is empty")
	}
	return nil
}

type archiveReader struct {
	source  *Source
	emit    func(*transcript.Capture, Linked) error
	said    func(*Said) error
	begun   bool
	scratch ScratchFile
	ends    []int64 // of the segments in the scratch file
	sides   [2]recipeRing
}

func (r *archiveReader) line(text []byte) error {
	if !r.begun {
		var head archiveHead
		if err := json.Unmarshal(text, &head); err != nil || head.Archive < 1 {
			return errors.New("read archive: the first line is not that of an archive")
		}
		if head.Archive > archiveVersion {
			return ErrNewerArchive
		}
		r.begun = true
		return nil
	}
	var l archiveLine
	if err := json.Unmarshal(text, &l); err != nil {
		return bad("read line: %w", err)
	}
	switch {
	case l.Segment != nil:
		return r.segment(l.Segment)
	case l.Exchange != nil:
		return r.exchange(l.Exchange)
	case l.Marks != nil:
		m := l.Marks
		return r.said(&Said{Exchange: m.Exchange, Marks: &transcript.Marks{Name: m.Name, Note: m.Note, Tags: m.Tags, Pinned: m.Pinned}})
	case l.Override != nil:
		o := l.Override
		return r.said(&Said{Exchange: o.Exchange, ToRun: o.ToRun, Override: &transcript.Override{Exchange: o.Exchange, Verb: o.Verb, To: o.To, At: o.At}})
	case l.Take != nil:
		t := l.Take
		return r.said(&Said{Exchange: t.Exchange, Take: t.take()})
	}
	return bad("nothing that is known")
}

func (r *archiveReader) segment(s *archiveSegment) error {
	piece, err := s.bytes()
	if r.scratch == nil && err == nil {
		if r.scratch, err = r.source.Scratch(); err != nil {
			return fmt.Errorf("make scratch file: %w", err)
		}
	}
	end := int64(0)
	if n := len(r.ends); n > 0 {
		end = r.ends[n-1]
	}
	if err != nil { // it still has a number
		r.ends = append(r.ends, end)
		return bad("read segment: %w", err)
	}
	n, err := r.scratch.Write(piece)
	r.ends = append(r.ends, end+int64(n))
	if err != nil {
		return fmt.Errorf("write scratch file: %w", err)
	}
	return nil
}

func (r *archiveReader) exchange(x *archiveExchange) error {
	request, err := r.body(&x.Request, 0)
	response, err2 := r.body(&x.Response, 1)
	if err := errors.Join(err, err2); err != nil {
		return bad("read exchange %s: %w", x.ID, err)
	}
	if x.ID == "" {
		return bad("an exchange without an id")
	}
	c := &transcript.Capture{ID: x.ID, StartedAt: x.StartedAt, EndedAt: x.EndedAt, Label: x.Label, Imported: x.Grade, Upstream: x.Upstream, Method: x.Method, URL: r.source.safeURL(x.URL),
		RequestHeader: r.source.safeHeader(x.Request.Headers), ResponseHeader: r.source.safeHeader(x.Response.Headers), Status: x.Status, Outcome: x.Outcome, Error: x.Error,
		Lossy: x.Lossy, FirstByte: x.FirstByte, Request: request, Response: response,
		RequestOmission: x.Request.omission(), ResponseOmission: x.Response.omission()}
	if c.Imported == "" {
		c.Imported = transcript.Exact
	}
	for _, k := range x.Chunks {
		c.Chunks = append(c.Chunks, transcript.Chunk{Offset: k[0], At: time.Duration(k[1]) * time.Microsecond})
	}
	return r.emit(c, Linked{x.ID, x.Link.Parent, x.Link.By})
}

// omission returns what was left out of an archived body.
func (b *archiveBody) omission() *transcript.Omission {
	if b.Omitted == "" {
		return nil
	}
	return &transcript.Omission{What: b.Omitted, Bytes: b.Bytes, SHA256: b.SHA256}
}

// body rebuilds a body from its recipe and checks its checksum.
func (r *archiveReader) body(b *archiveBody, side int) (*segments, error) {
	recipe, ok := r.sides[side].read(b, len(r.ends))
	if !ok {
		return nil, errors.New("its body refers to missing segments")
	}
	out := &segments{scratch: r.scratch}
	for _, n := range recipe {
		from := int64(0)
		if n > 0 {
			from = r.ends[n-1]
		}
		if size := r.ends[n] - from; size > 0 {
			out.parts = append(out.parts, [2]int64{from, size})
			out.size += size
		}
	}
	if b.SHA256 == "" || b.Omitted != "" {
		return out, nil
	}
	body, err := out.Open()
	if err != nil {
		return nil, err
	}
	sum, err := sumOf(body)
	if err == nil && sum != b.SHA256 {
		err = errors.New("its bytes do not match its checksum")
	}
	return out, err
}

// segments is a body in a scratch file.
type segments struct {
	scratch ScratchFile
	parts   [][2]int64
	size    int64
}

func (b *segments) Size() int64 { return b.size }

func (b *segments) Open() (io.ReadCloser, error) {
	list := make([]io.Reader, len(b.parts))
	for i, p := range b.parts {
		list[i] = io.NewSectionReader(b.scratch, p[0], p[1])
	}
	return io.NopCloser(io.MultiReader(list...)), nil
}
