package main

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// The headers of a request say what it wants of the model.
const (
	headerSize   = "X-Bench-Size"   // bytes of an answer that is not streamed
	headerEvents = "X-Bench-Events" // events of a stream
	headerPace   = "X-Bench-Pace"   // nanoseconds between them
)

// model is the stub server.
type model struct {
	text    text
	buffers sync.Pool
}

func newModel() *model {
	return &model{text: newText(), buffers: sync.Pool{New: func() any { return new(bytes.Buffer) }}}
}

// maxRequest is the largest request that the model accepts.
const maxRequest = 16 << 20

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b := m.buffers.Get().(*bytes.Buffer)
	defer m.buffers.Put(b)
	b.Reset()
	if _, err := b.ReadFrom(io.LimitReader(r.Body, maxRequest)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	mark := markOf(b.Bytes())
	if events := number(r, headerEvents); events > 0 {
		m.stream(w, r, b.AvailableBuffer()[:0], mark, events)
		return
	}
	answer := appendAnswer(b.AvailableBuffer()[:0], m.text, mark, number(r, headerSize))
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(answer)))
	w.Write(answer)
}

func (m *model) stream(w http.ResponseWriter, r *http.Request, b []byte, mark mark, events int) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	pace := time.Duration(number(r, headerPace))
	flusher := http.NewResponseController(w)
	begun := time.Now()
	for n := range events {
		if pace > 0 { // the first event takes its time as well
			time.Sleep(time.Until(begun.Add(time.Duration(n+1) * pace)))
		}
		b = appendEvent(b[:0], m.text, mark, n, events)
		if _, err := w.Write(b); err != nil {
			return
		}
		if flusher.Flush() != nil {
			return
		}
	}
}

// number reads a header that the load generator sets; 0 if it is missing.
func number(r *http.Request, header string) int {
	n, _ := strconv.Atoi(r.Header.Get(header))
	return max(0, min(n, 1<<30))
}
