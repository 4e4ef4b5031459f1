package mock

import (
	"net/http"
	"strings"
	"time"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/transcript"
)

// ownHeaders belong to the connection or are set anew.
var ownHeaders = map[string]bool{"Connection": true, "Keep-Alive": true, "Proxy-Connection": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true, "Content-Length": true}

// play answers with a recording: its status, its header without what was redacted,
// and its wire bytes in the pieces in which they came.
func (a *answer) play(r *recording) {
	wire, err := history.Wire(a.r.Context(), a.Recordings.reader, &r.Response)
	if err != nil {
		(&miss{Type: "invalid_request_error", Code: noMatch, Message: ref(r) + " matches, but its answer cannot be read: " + err.Error()}).write(a.w, a.dialect)
		return
	}
	if r.Status < http.StatusOK { // there was no answer
		panic(http.ErrAbortHandler)
	}
	header := a.w.Header()
	for name, values := range r.Response.Headers {
		canonical := http.CanonicalHeaderKey(name)
		if !ownHeaders[canonical] && !strings.Contains(name, ":") && !strings.Contains(strings.Join(values, ""), redact.Mark) {
			header[canonical] = values
		}
	}
	for _, name := range []string{"Content-Type", "Date"} { // or the server adds its own
		if _, ok := header[name]; !ok {
			header[name] = nil
		}
	}
	chunks, cut := r.Response.Chunks, !ended(r.Exchange)
	if spoiled, ok := a.spoil(wire, header.Get("Content-Encoding")); ok {
		wire = spoiled.wire
		cut = cut || spoiled.cut
		chunks = spoiled.pieces(chunks)
		header.Del("Content-Encoding")
	}
	a.send(r.Status, wire, chunks, cut)
}

// ended reports whether the answer came to its end. A client that hung up behind the end
// has seen all of it.
func ended(e *transcript.Exchange) bool {
	switch e.Outcome {
	case transcript.OK, transcript.HTTPError, transcript.StreamError:
		return true
	}
	return e.Complete
}

// send writes an answer piece by piece. One that was cut ends without its end.
func (a *answer) send(status int, wire []byte, chunks []transcript.Chunk, cut bool) {
	rc := http.NewResponseController(a.w)
	for i, c := range chunks {
		end := int64(len(wire))
		if i+1 < len(chunks) {
			end = min(chunks[i+1].Offset, end)
		}
		if c.Offset >= end {
			continue
		}
		if a.until(c.At) != nil {
			panic(http.ErrAbortHandler)
		}
		if status != 0 {
			a.w.WriteHeader(status)
			status = 0
		}
		if _, err := a.w.Write(wire[c.Offset:end]); err != nil {
			return
		}
		rc.Flush() // the next write tells
	}
	if status != 0 { // nothing was recorded of how it came
		a.w.WriteHeader(status)
		a.w.Write(wire) // the client is gone
	}
	if cut {
		rc.Flush() // it breaks off anyway
		panic(http.ErrAbortHandler)
	}
}

// until waits until a piece is due that was recorded so long after the request.
func (a *answer) until(at time.Duration) error {
	due := time.Duration(0)
	if a.Speed > 0 {
		due = time.Duration(float64(at) / a.Speed)
	}
	for _, f := range a.faults {
		if f.Kind == Slow {
			due += f.Duration
		}
	}
	return a.wait(due - time.Since(a.began))
}

// spoiled is an answer that faults changed, without content encoding.
type spoiled struct {
	wire []byte
	same bool // the bytes are those of the recording, up to the cut
	cut  bool
}

// pieces returns how it comes: as recorded, or at once if the bytes are others.
func (s *spoiled) pieces(chunks []transcript.Chunk) []transcript.Chunk {
	if s.same {
		return chunks
	}
	if len(chunks) == 0 {
		return nil
	}
	return []transcript.Chunk{{Offset: 0, At: chunks[len(chunks)-1].At}}
}

// spoil makes the faults that change an answer. It is not ok if there are none.
func (a *answer) spoil(wire []byte, encoding string) (*spoiled, bool) {
	out := &spoiled{wire: wire, same: encoding == ""}
	touched := false
	for _, f := range a.faults {
		if f.Kind != Cut && f.Kind != Malformed && f.Kind != Duplicate {
			continue
		}
		if !touched && encoding != "" {
			out.wire, _ = history.Plain(encoding, wire) // as far as it can be undone
		}
		touched = true
		switch f.Kind {
		case Cut:
			out.wire, out.cut = firstEvents(out.wire, f.Count), true
		case Malformed:
			out.wire, out.same = malform(out.wire), false
		case Duplicate:
			out.wire, out.same = a.duplicate(out.wire), false
		}
	}
	return out, touched
}
