package formats

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// rebuilding rebuilds the exchanges of a conversation. Each answer is one exchange,
// and its request holds everything before it. The history lies in a scratch file, so
// memory does not grow with it.
type rebuilding struct {
	source  *Source
	emit    emitter
	dialect transcript.Dialect
	url     string
	key     string // identifies the conversation: the same file gives the same ids
	label   string // of the run; "" if headers or the history identify it
	header  map[string][]string
	grade   transcript.Grade
	// tail are the members after the history, such as tools; each begins with a
	// comma.
	tail []byte

	scratch ScratchFile
	size    int64 // of the scratch file
	from    int64 // where the history begins in it
	sum     [32]byte
	clock   // time of the end of the history, where the next request begins
	answer  int
}

func (s *Source) rebuild(d transcript.Dialect, key string, emit emitter) *rebuilding {
	return &rebuilding{source: s, emit: emit, dialect: d, url: dialect.URLOf(d), key: key, grade: transcript.ViewOnly, header: map[string][]string{}}
}

// said adds an element to the history.
func (r *rebuilding) said(element []byte) error {
	element = compact(element)
	if r.scratch == nil {
		var err error
		if r.scratch, err = r.source.Scratch(); err != nil {
			return fmt.Errorf("make scratch file: %w", err)
		}
	}
	if r.size > r.from {
		element = append([]byte{','}, element...)
	}
	n, err := r.scratch.Write(element)
	r.size += int64(n)
	if err != nil {
		return fmt.Errorf("write scratch file: %w", err)
	}
	r.sum = sha256.Sum256(append(r.sum[:], element...))
	return nil
}

// forget starts the history over: it was compacted.
func (r *rebuilding) forget() { r.from = r.size }

// answerTo is an answer of a model.
type answerTo struct {
	model    string
	head     []byte             // members of the request before the history, each with a comma after it
	response any                // the response object
	known    any                // what the id is made of; nil: the response
	began    time.Time          // zero: the time of the end of the history
	ended    time.Time          // zero if unknown
	outcome  transcript.Outcome // "" for ok
	empty    bool               // it failed before anything arrived
	err      *transcript.Error
}

// answered emits an exchange whose request is the history so far.
func (r *rebuilding) answered(a answerTo) error {
	response, err := line(a.response)
	known := response
	if err == nil && a.known != nil {
		known, err = line(a.known)
	}
	if err != nil {
		return bad("write answer: %w", err)
	}
	var head bytes.Buffer
	head.WriteByte('{')
	if a.model != "" {
		model, err := line(a.model)
		if err != nil {
			return bad("write model: %w", err)
		}
		head.WriteString(`"model":` + string(model) + `,`)
	}
	head.Write(a.head)
	head.WriteString(`"` + dialect.Of(r.dialect).History() + `":[`)
	request := &scratchBody{head: head.Bytes(), scratch: r.scratch, from: r.from, to: r.size, tail: append([]byte{']'}, append(bytes.Clone(r.tail), '}')...)}
	r.answer++
	began, ended := a.began, a.ended
	if began.IsZero() {
		began = r.now
	}
	if ended.Before(began) {
		ended = time.Time{}
	}
	r.at(ended)
	c := &transcript.Capture{
		ID: idOf(r.key, string(r.dialect), fmt.Sprintf("%x", r.sum), string(known)), StartedAt: began, EndedAt: ended, Label: r.label, Imported: r.grade,
		Upstream: "imported", Method: "POST", URL: r.url, Status: 200, Outcome: transcript.OK,
		RequestHeader: cloneHeader(r.header), ResponseHeader: map[string][]string{"Content-Type": {"application/json"}}, Request: request, Response: inMemory(response),
	}
	c.RequestHeader["Content-Type"] = []string{"application/json"}
	if a.outcome != "" {
		c.Outcome, c.Error = a.outcome, a.err
		c.Response = inMemory(response[:len(response)-1]) // without its end
		if a.empty {
			c.Response, c.Status = inMemory(nil), 0
		}
	}
	return r.emit(c)
}

func cloneHeader(h map[string][]string) map[string][]string {
	out := make(map[string][]string, len(h)+1)
	for name, values := range h {
		out[name] = values
	}
	return out
}

// idOf returns an id made of an exchange's content: the same file gives the same ids.
// It has the form of a UUID of version 8.
func idOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	b := h.Sum(nil)[:16]
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// inMemory is a body in memory.
type inMemory []byte

func (b inMemory) Size() int64                  { return int64(len(b)) }
func (b inMemory) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }

// scratchBody is a body whose history lies in a scratch file.
type scratchBody struct {
	head, tail []byte
	scratch    ScratchFile
	from, to   int64
}

func (b *scratchBody) Size() int64 { return int64(len(b.head)+len(b.tail)) + b.to - b.from }

func (b *scratchBody) Open() (io.ReadCloser, error) {
	history := io.Reader(bytes.NewReader(nil))
	if b.to > b.from {
		history = io.NewSectionReader(b.scratch, b.from, b.to-b.from)
	}
	return io.NopCloser(io.MultiReader(bytes.NewReader(b.head), history, bytes.NewReader(b.tail))), nil
}

// object is JSON that is built member by member.
type object map[string]any

func stringOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// moment parses a time by RFC 3339, the zero time if it is not one.
func moment(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
