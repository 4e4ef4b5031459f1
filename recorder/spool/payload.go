package spool

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/transcript"
)

// Begin is the payload of a FrameBegin. Spool files live for seconds and are read
// by the version that wrote them, so payloads are plain lists of length-prefixed
// strings: JSON would cost as much as relaying.
type Begin struct {
	ID, Label, Upstream, Method, URL string
	StartedAt                        time.Time
	Header                           map[string][]string
}

// Head is the payload of a FrameHead.
type Head struct {
	Status int
	Header map[string][]string
}

// Ending is the payload of a FrameEnd, and with nothing but trailers of a
// FrameRequestEnd.
type Ending struct {
	Outcome transcript.Outcome
	Error   *transcript.Error
	Trailer map[string][]string
}

var errMeta = errors.New("damaged record")

// Append appends b with its credentials redacted.
func (b *Begin) Append(out []byte, r *redact.Redactor) []byte {
	out = binary.AppendVarint(out, b.StartedAt.UnixNano())
	for _, s := range []string{b.ID, b.Label, b.Upstream, b.Method, r.URL(b.URL)} {
		out = appendString(out, s)
	}
	return appendHeader(out, b.Header, r)
}

func (b *Begin) parse(in []byte) error {
	d := decoder{in: in}
	b.StartedAt = time.Unix(0, d.varint())
	for _, s := range []*string{&b.ID, &b.Label, &b.Upstream, &b.Method, &b.URL} {
		*s = d.string()
	}
	b.Header = d.header()
	return d.err()
}

func (h *Head) Append(out []byte, r *redact.Redactor) []byte {
	out = binary.AppendVarint(out, int64(h.Status))
	return appendHeader(out, h.Header, r)
}

func (h *Head) parse(in []byte) error {
	d := decoder{in: in}
	h.Status = int(d.varint())
	h.Header = d.header()
	return d.err()
}

func (e *Ending) Append(out []byte, r *redact.Redactor) []byte {
	out = appendString(out, string(e.Outcome))
	err := e.Error
	if err == nil {
		err = &transcript.Error{}
	}
	for _, s := range []string{err.Type, err.Code, err.Message} {
		out = appendString(out, s)
	}
	return appendHeader(out, e.Trailer, r)
}

func (e *Ending) parse(in []byte) error {
	d := decoder{in: in}
	e.Outcome = transcript.Outcome(d.string())
	err := transcript.Error{Type: d.string(), Code: d.string(), Message: d.string()}
	if err != (transcript.Error{}) {
		e.Error = &err
	}
	e.Trailer = d.header()
	return d.err()
}

func appendString(out []byte, s string) []byte {
	out = binary.AppendUvarint(out, uint64(len(s)))
	return append(out, s...)
}

func appendHeader(out []byte, h map[string][]string, r *redact.Redactor) []byte {
	out = binary.AppendUvarint(out, uint64(len(h)))
	for name, values := range h {
		out = appendString(out, name)
		out = binary.AppendUvarint(out, uint64(len(values)))
		for _, v := range values {
			out = appendString(out, r.Value(name, v))
		}
	}
	return out
}

// decoder reads what Append wrote. After an error it returns zeros. It allocates no
// more than its input is long.
type decoder struct {
	in  []byte
	bad bool
}

func (d *decoder) err() error {
	if d.bad || len(d.in) > 0 {
		return errMeta
	}
	return nil
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.in)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.in = d.in[n:]
	return v
}

// count reads the number of elements that take at least one byte each.
func (d *decoder) count() int {
	v, n := binary.Uvarint(d.in)
	if n <= 0 || v > uint64(len(d.in)-n) {
		d.fail()
		return 0
	}
	d.in = d.in[n:]
	return int(v)
}

func (d *decoder) string() string {
	n := d.count()
	s := string(d.in[:n])
	d.in = d.in[n:]
	return s
}

func (d *decoder) header() map[string][]string {
	h := map[string][]string{}
	for n := d.count(); n > 0 && !d.bad; n-- {
		name := d.string()
		values := []string{}
		for m := d.count(); m > 0 && !d.bad; m-- {
			values = append(values, d.string())
		}
		h[name] = values
	}
	return h
}

func (d *decoder) fail() { d.bad, d.in = true, nil }
