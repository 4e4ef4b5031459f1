package spool

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// Record is an exchange that has ended. Its bodies are read from the spool on
// demand, and only until it is released. Trailers are in the headers, their names
// prefixed with "Trailer:", as in net/http.
type Record struct {
	transcript.Capture
	release  func() error
	released atomic.Bool
}

// Release frees the record's space. Call it once the record is stored durably: from
// then on a crash does not bring it back. After an error a crash may bring it back;
// the space is free all the same.
func (r *Record) Release() error {
	if r.release == nil || !r.released.CompareAndSwap(false, true) {
		return nil
	}
	if err := r.release(); err != nil {
		return fmt.Errorf("release record: %w", err)
	}
	return nil
}

// maxMeta bounds the payload of a frame that is read whole.
const maxMeta = 64 << 20

var errNoBegin = errors.New("record has no beginning")

// readRecord reads an exchange without its bodies.
func readRecord(s span) (*Record, error) {
	r := &Record{}
	w := frameReader{span: s, pos: s.start}
	defer w.free()
	var request, response spanBody
	request.span, request.kind = s, FrameRequest
	response.span, response.kind = s, FrameResponse
	for {
		f, err := w.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		switch f.kind {
		case FrameRequest:
			request.size += f.length
		case FrameResponse:
			if r.Chunks == nil {
				r.Chunks = make([]transcript.Chunk, 0, 16)
			}
			r.Chunks = append(r.Chunks, transcript.Chunk{Offset: response.size, At: f.at})
			response.size += f.length
		default:
			if err := r.meta(&w, f); err != nil {
				return nil, err
			}
		}
	}
	if r.ID == "" {
		return nil, errNoBegin
	}
	r.Request, r.Response = &request, &response
	return r, nil
}

// meta reads a frame that holds no body bytes.
func (r *Record) meta(w *frameReader, f frame) error {
	if f.length > maxMeta {
		return errMeta
	}
	payload := make([]byte, f.length)
	if err := w.payload(payload); err != nil {
		return err
	}
	switch f.kind {
	case FrameBegin:
		var b Begin
		if err := b.parse(payload); err != nil {
			return err
		}
		r.ID, r.Label, r.Upstream, r.Method, r.URL = b.ID, b.Label, b.Upstream, b.Method, b.URL
		r.StartedAt, r.RequestHeader, r.Outcome = b.StartedAt, b.Header, transcript.InProgress
	case FrameRequestEnd:
		var e Ending
		if err := e.parse(payload); err != nil {
			return err
		}
		addTrailer(&r.RequestHeader, e.Trailer)
	case FrameHead:
		var h Head
		if err := h.parse(payload); err != nil {
			return err
		}
		r.Status, r.ResponseHeader, r.FirstByte = h.Status, h.Header, f.at
	case FrameEnd:
		var e Ending
		if err := e.parse(payload); err != nil {
			return err
		}
		r.conclude(&e, f.at)
	}
	return nil
}

func (r *Record) conclude(e *Ending, at time.Duration) {
	r.Outcome, r.Error, r.EndedAt = e.Outcome, e.Error, r.StartedAt.Add(at)
	addTrailer(&r.ResponseHeader, e.Trailer)
}

func addTrailer(h *map[string][]string, trailer map[string][]string) {
	if len(trailer) > 0 && *h == nil {
		*h = map[string][]string{}
	}
	for name, values := range trailer {
		(*h)["Trailer:"+name] = values
	}
}

// spanBody is one body of an exchange.
type spanBody struct {
	span
	kind byte
	size int64
}

func (b *spanBody) Size() int64 { return b.size }

func (b *spanBody) Open() (io.ReadCloser, error) {
	return &bodyReader{frameReader: frameReader{span: b.span, pos: b.start}, kind: b.kind}, nil
}

// bodyReader reads the payloads of the frames of one kind.
type bodyReader struct {
	frameReader
	kind byte
	left int64 // of the current frame
	at   int64
}

func (r *bodyReader) Read(p []byte) (int, error) {
	for r.left == 0 {
		f, err := r.next()
		if err != nil {
			return 0, err
		}
		if f.kind == r.kind {
			r.left, r.at = f.length, r.last
		}
	}
	if int64(len(p)) > r.left {
		p = p[:r.left]
	}
	n, err := r.readAt(p, r.at)
	r.at += int64(n)
	r.left -= int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (r *bodyReader) Close() error {
	r.free()
	return nil
}
