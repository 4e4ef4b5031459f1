package formats

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

func fitsHAR(head []byte) bool {
	return begins(head, '{') && holds(head, `"log"`) && (holds(head, `"entries"`) || holds(head, `"creator"`, `"version"`))
}

// readHAR imports the model calls of an HTTP archive and leaves out the other
// requests of a browser. A body is exact if it was not compressed: archives hold
// texts.
func readHAR(s *Source, emit emitter) error {
	return s.elements([]string{"entries"}, func(string, json.RawMessage) {}, func(_ string, raw json.RawMessage) error {
		var e harEntry
		if err := json.Unmarshal(raw, &e); err != nil {
			return bad("read entry: %w", err)
		}
		c, err := s.harCapture(&e, raw)
		if c == nil || err != nil {
			return err
		}
		return emit(c)
	})
}

func (s *Source) harCapture(e *harEntry, raw json.RawMessage) (*transcript.Capture, error) {
	var post []byte
	if e.Request.PostData != nil {
		var err error
		if post, err = harBody(e.Request.PostData.Text, e.Request.PostData.Encoding); err != nil {
			return nil, bad("read request: %w", err)
		}
	}
	answer, err := harBody(e.Response.Content.Text, e.Response.Content.Encoding)
	if err != nil {
		return nil, bad("read response: %w", err)
	}
	began, err := time.Parse(time.RFC3339, e.StartedDateTime)
	if err != nil {
		return nil, bad("read start: %w", err)
	}
	grade := transcript.Exact
	request, ok := harHeader(e.Request.Headers)
	response, ok2 := harHeader(e.Response.Headers)
	if !ok || !ok2 {
		grade = transcript.Rebuilt
	}
	w := &dialect.Wire{Method: e.Request.Method, URL: e.Request.URL, RequestHeader: request, ResponseHeader: response, Status: e.Response.Status, Request: post, Response: answer}
	if dialect.Recognise(w) == transcript.Unknown {
		return nil, nil
	}
	c := &transcript.Capture{ID: e.ID, StartedAt: began, Imported: grade, Upstream: "imported", Method: e.Request.Method, URL: s.safeURL(e.Request.URL),
		RequestHeader: s.safeHeader(request), ResponseHeader: s.safeHeader(response), Status: e.Response.Status, Outcome: transcript.OK,
		FirstByte: spanOf(e.Timings.Wait), Request: inMemory(post), Response: inMemory(answer)}
	if took := spanOf(e.Time); took > 0 && !began.IsZero() {
		c.EndedAt = began.Add(took)
	}
	if !looksLikeUUID(e.ID) || grade != transcript.Exact {
		c.ID = idOf("har", e.StartedDateTime, e.Request.URL, string(post), string(answer))
	}
	switch o := transcript.Outcome(e.Outcome); {
	case o == transcript.UpstreamReset, o == transcript.ClientDisconnect, o == transcript.RecorderCrashed, o == transcript.RecorderStopped:
		c.Outcome = o
	case e.Response.Status <= 0:
		c.Outcome, c.Status = transcript.UpstreamReset, 0
	}
	if c.Outcome != transcript.OK && e.Error != "" {
		c.Error = &transcript.Error{Message: e.Error}
	}
	if len(answer) > 0 {
		c.Chunks = []transcript.Chunk{{Offset: 0, At: spanOf(e.Timings.Wait)}}
	}
	return c, nil
}

// spanOf reads milliseconds; -1 means unknown.
func spanOf(ms float64) time.Duration {
	const most = 30 * 24 * 3600 * 1000
	if !(ms > 0 && ms < most) {
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond))
}

func harBody(text, encoding string) ([]byte, error) {
	if encoding != "base64" {
		return []byte(text), nil
	}
	return base64.StdEncoding.DecodeString(text)
}

// harHeader returns a header from a list. ok is false if the body was compressed; the
// header then no longer says so, because the text is not.
func harHeader(list []harPair) (h map[string][]string, ok bool) {
	h, ok = map[string][]string{}, true
	for _, p := range list {
		switch {
		case strings.HasPrefix(p.Name, ":"): // of HTTP/2
			continue
		case strings.EqualFold(p.Name, "Content-Encoding") && p.Value != "identity":
			ok = false
			continue
		}
		h[p.Name] = append(h[p.Name], p.Value)
	}
	return h, ok
}

func looksLikeUUID(s string) bool {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	for i := range len(s) {
		if s[i] != '-' && !strings.ContainsRune("0123456789abcdef", rune(s[i])) {
			return false
		}
	}
	return true
}
