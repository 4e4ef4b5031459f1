package api

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// Decode reads an exchange. It takes any bytes; what is odd becomes a warning.
// The Turn shares memory with w's bodies.
//
// Complete means that the answer's own end was seen. Without streaming that is
// a whole JSON body. Of streams it is, for chat, [DONE], or a finish reason of
// every choice when the stream ended without one (Copilot and older vLLM leave
// it out); for responses a completed, incomplete or failed event; for messages
// message_stop.
func (l List) Decode(d transcript.Dialect, w *Wire) *transcript.Turn {
	r := newReader(l, d, w)
	r.decode()
	return r.Turn
}

func (r *Reader) decode() {
	r.path()
	if r.api == nil {
		return
	}
	read := r.api.Decode(r)
	r.request(read)
	if r.Turn.Model == "" {
		r.Turn.Model = modelOfPath(r.Wire.URL)
	}
	r.response(read)
	if t := r.Turn; t.ResponseID == "" && r.Wire.Status < 400 { // of a stream that was resumed in its middle
		t.ResponseID = t.RetrievedID
	}
}

// path reads what the request target names.
func (r *Reader) path() {
	p := segments(r.Wire.URL)
	for _, a := range r.apis {
		if a.Target != nil {
			a.Target(r, p)
		}
	}
}

// Decoder reads one exchange. Bodies are whole, valid JSON values.
type Decoder interface {
	Request(o *Outline)
	// Response reads a response object. It is called for error bodies too.
	Response(object []byte)
	Stream() Assembler
}

// Assembler builds the response object of a stream.
type Assembler interface {
	// Event takes the data of one event, a valid JSON value or "[DONE]", and
	// reports whether it carried content.
	Event(name string, data []byte) (content bool)
	// Object returns what has come so far as a response object, nil if nothing
	// of one has, and whether the stream's own end was seen.
	Object() (object []byte, complete bool)
}

// Reader holds what the decoders of all dialects share.
type Reader struct {
	apis   List
	api    *API // nil for transcript.Unknown
	Turn   *transcript.Turn
	Wire   *Wire
	warned int // how often

	NoOutputCount bool // the usage does not say what came out

	memory  *Memory // nil to read everything anew
	memos   []*Memo // of the elements so far, nil for those that have none
	keys    []transcript.Key
	nodes   []transcript.Node // of as many keys, if they are known already
	history inputMark         // the end of the list that grows
	cuts    []int
	marks   []Mark
}

func newReader(l List, d transcript.Dialect, w *Wire) *Reader {
	return &Reader{apis: l, api: l.Of(d), Turn: &transcript.Turn{Dialect: d, FirstContentAt: -1}, Wire: w}
}

func (r *Reader) Warn(format string, args ...any) {
	const most = 50
	r.warned++
	if len(r.Turn.Warnings) < most {
		r.Turn.Warnings = append(r.Turn.Warnings, fmt.Sprintf(format, args...))
	}
}

// unmarked gives a body without its byte order mark.
func (r *Reader) unmarked(body []byte, side string) []byte {
	b := bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if len(b) != len(body) {
		r.Warn("%s body begins with a byte order mark", side)
	}
	return b
}

// json gives the JSON value of a body, mended if need be; nil if it has none.
func (r *Reader) json(body []byte, side string) (v []byte, whole bool) {
	if len(body) == 0 {
		return nil, false
	}
	v, whole, rest := rawjson.Mend(body)
	if !whole {
		if fixed, n := rawjson.EscapeControls(body); n > 0 {
			v, whole, rest = rawjson.Mend(fixed)
			r.Warn("%s body has %d control characters in strings that are not escaped", side, n)
		}
	}
	switch {
	case v == nil:
		r.Warn("%s body is not JSON", side)
	case !whole:
		r.Warn("%s body breaks off: %d bytes are not read", side, rest)
	case rest > 0:
		r.behind(rest, side)
	}
	return v, whole
}

func (r *Reader) behind(rest int, side string) {
	r.Warn("%s body has %d bytes behind its JSON value", side, rest)
}

func (r *Reader) response(read Decoder) {
	t, body := r.Turn, r.Wire.Response
	eventStream := strings.HasPrefix(Header(r.Wire.ResponseHeader, "Content-Type"), "text/event-stream")
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		t.Stream = eventStream
		t.Complete = r.Wire.Status == 204 || r.Wire.Status == 304
	case looksLikeJSON(body):
		object, whole := r.json(r.unmarked(body, "response"), "response")
		t.Complete = whole && object != nil
		t.Response = object
		if object != nil {
			read.Response(object)
		}
	case eventStream || looksLikeEvents(body):
		t.Stream = true
		r.readStream(read, body)
	case r.Wire.Status < 400:
		r.Warn("response body is neither JSON nor an event stream")
	}
	if r.Wire.Status >= 400 && t.Error == nil {
		t.Error = &transcript.Error{Message: strings.ToValidUTF8(Start(body, 500), "\uFFFD")}
		if t.Error.Message == "" {
			t.Error.Message = fmt.Sprintf("status %d without a body", r.Wire.Status)
		}
	}
	if t.Usage != nil {
		t.Usage.Complete = t.Complete && !r.NoOutputCount
	}
}

func Start(b []byte, n int) string { return string(b[:min(len(b), n)]) }

func looksLikeJSON(body []byte) bool {
	i := rawjson.SkipSpace(body, 0)
	i += len(body[i:]) - len(bytes.TrimPrefix(body[i:], []byte("\xef\xbb\xbf")))
	return i < len(body) && (body[i] == '{' || body[i] == '[')
}

func looksLikeEvents(body []byte) bool {
	body = bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), "\r\n")
	for _, p := range [...]string{"data:", "event:", ":", "id:", "retry:"} {
		if bytes.HasPrefix(body, []byte(p)) {
			return true
		}
	}
	return false
}

func (r *Reader) readStream(read Decoder, body []byte) {
	t, build := r.Turn, read.Stream()
	var sse SSE
	notJSON, unterminated := 0, false
	take := func(e Event) {
		data := bytes.TrimSpace(e.Data)
		if string(data) != "[DONE]" && !(len(data) > 1 && rawjson.Valid(data)) {
			if e.Unterminated {
				unterminated = true
			} else {
				notJSON++
			}
			return
		}
		if e.Unterminated {
			r.Warn("the last event has no blank line behind it")
		}
		if build.Event(e.Name, data) && t.FirstContentAt < 0 {
			t.FirstContentAt = e.End
		}
	}
	sse.Feed(body, take)
	sse.Close(take)
	t.Events = sse.Events
	if unterminated {
		t.Events--
		r.Warn("the stream breaks off inside an event")
	}
	if t.NotJSON = notJSON; notJSON > 0 {
		r.Warn("%d data events are not JSON", notJSON)
	}
	if sse.Strange > 0 {
		r.Warn("%d lines are no field of an event stream", sse.Strange)
	}
	object, complete := build.Object()
	t.Complete = complete
	if object != nil {
		t.Response = object
		read.Response(object)
	}
	if !complete && t.Error == nil {
		r.Warn("the stream ended before its end event")
	}
}

// Header gives the first value of a header, whatever the case of its name.
func Header(h map[string][]string, name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	for n, v := range h {
		if len(v) > 0 && strings.EqualFold(n, name) {
			return v[0]
		}
	}
	return ""
}

// In adds an item to the input, out to the output.
func (r *Reader) In(it transcript.Item)  { r.Turn.Input = append(r.Turn.Input, it) }
func (r *Reader) Out(it transcript.Item) { r.Turn.Output = append(r.Turn.Output, it) }
