package mock

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// Handler is an upstream that answers from a Recordings. Beside what is recorded it knows
// GET /_retake/health, GET /_retake/status and POST /_retake/rewind.
type Handler struct {
	Recordings *Recordings
	Speed      float64                                    // 1: as recorded, 2: twice as fast; 0: at once
	Miss       http.Handler                               // gets what matches no recording, and what is used up; nil: answers an error
	Faults     *Faults                                    // nil: none
	Log        *slog.Logger                               // nil: no log
	Wait       func(context.Context, time.Duration) error // nil: by a timer

	mu      sync.Mutex
	counts  counts
	results changedResults
}

// counts tell what happened since the start.
type counts struct {
	Requests  int `json:"requests"`
	Served    int `json:"served"`
	Missed    int `json:"missed"`
	Exhausted int `json:"exhausted"`
	Faults    int `json:"faults"`
}

func (h *Handler) count(f func(c *counts)) counts {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(&h.counts)
	return h.counts
}

func (h *Handler) log() *slog.Logger {
	if h.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return h.Log
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/_retake/health":
		writeJSON(w, map[string]string{"status": "ok"})
	case r.URL.Path == "/_retake/status" && r.Method == http.MethodGet:
		writeJSON(w, h.status())
	case r.URL.Path == "/_retake/rewind" && r.Method == http.MethodPost:
		h.Recordings.Rewind()
		h.results.forget()
		writeJSON(w, h.status())
	case r.Header.Get("Upgrade") != "":
		http.Error(w, "no WebSockets here", http.StatusUpgradeRequired) // at which clients use HTTP
	default:
		h.serve(w, r)
	}
}

// leftShown bounds how many recordings the status names.
const leftShown = 100

func (h *Handler) status() any {
	left, n := h.Recordings.left(leftShown)
	return struct {
		counts
		Recordings int      `json:"recordings"`
		Left       int      `json:"left"`
		LeftRefs   []string `json:"left_exchanges"`
	}{h.count(func(*counts) {}), h.Recordings.Len(), n, left}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the client is gone
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) {
	wire, err := io.ReadAll(http.MaxBytesReader(w, r.Body, history.MaxBody))
	if err != nil {
		(&miss{Type: "invalid_request_error", Code: noMatch, Message: fmt.Sprintf("read request: %v", err)}).write(w, transcript.Unknown)
		return
	}
	body := wire
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" {
		body, _ = history.Plain(encoding, wire) // as far as it can be undone
	}
	n := h.count(func(c *counts) { c.Requests++ }).Requests
	a := &answer{Handler: h, w: w, r: r, began: time.Now(), body: body, wire: wire}
	a.dialect = dialect.Recognise(&dialect.Wire{Method: r.Method, URL: r.URL.RequestURI(), Request: body})
	if faults := h.Faults.draw(n); len(faults) > 0 {
		for _, f := range faults {
			h.count(func(c *counts) { c.Faults++ })
			h.log().Info("fault", "request", n, "fault", f.String())
		}
		a.faults = faults
	}
	a.serve()
}

// answer is one request and what it gets.
type answer struct {
	*Handler
	w       http.ResponseWriter
	r       *http.Request
	began   time.Time
	dialect transcript.Dialect
	body    []byte // without content encoding
	wire    []byte
	faults  []Fault
	changed bool // a fault gave some tool result another text
}

func (a *answer) serve() {
	if a.refused() {
		return
	}
	a.changeResults()
	o := a.Recordings.outliner.of(a.dialect, a.r.Method, a.r.URL.RequestURI(), a.body)
	next, matched := a.Recordings.take(o)
	switch {
	case next != nil:
		a.count(func(c *counts) { c.Served++ })
		a.log().Debug("served", "path", a.r.URL.Path, "recording", ref(next))
		a.play(next)
	case a.Miss != nil:
		a.count(func(c *counts) { c.Missed++ })
		a.log().Info("forwarded: no recording left", "path", a.r.URL.Path)
		a.r.Body, a.r.ContentLength = io.NopCloser(bytes.NewReader(a.wire)), int64(len(a.wire))
		a.Miss.ServeHTTP(a.w, a.r)
	case matched != nil:
		a.count(func(c *counts) { c.Exhausted++ })
		m := &miss{Type: "invalid_request_error", Code: exhausted, Nearest: ref(matched),
			Message: fmt.Sprintf("every recording of this request was served already, the last is %s; POST /_retake/rewind begins again", ref(matched))}
		a.log().Warn("request refused", "why", m.Message)
		m.write(a.w, a.dialect)
	default:
		a.count(func(c *counts) { c.Missed++ })
		m := a.Recordings.explain(a.r.Context(), o, a.Recordings.nearest(o), a.body)
		if a.changed {
			m.Message = "a fault gave a tool result another text, and no recording tells what the model says to that: answer from a take that has it (inspect replay --set-result, then --from tN), or forward. " + m.Message
		}
		a.log().Warn("request refused", "path", a.r.URL.Path, "why", m.Message)
		m.write(a.w, a.dialect)
	}
}

func (a *answer) wait(d time.Duration) error {
	if d <= 0 {
		return a.r.Context().Err()
	}
	if a.Wait != nil {
		return a.Wait(a.r.Context(), d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-a.r.Context().Done():
		return a.r.Context().Err()
	case <-t.C:
		return nil
	}
}
