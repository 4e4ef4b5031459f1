package view

import (
	"slices"
	"strings"
	"time"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// Event is one event of a streamed answer.
type Event struct {
	N    int      `json:"n"`    // the first is 1
	Name string   `json:"name"` // of its event: field, "" if it has none
	Data string   `json:"data"` // as sent, or its beginning if it is long
	Size int      `json:"size"` // of all its data, in bytes
	At   *float64 `json:"at"`   // ms from the start of the request until its last byte; nil if unknown
	Cut  bool     `json:"cut"`  // the stream ended within it
}

const (
	longestEvent = 8 << 10 // kept of an event's data
	mostEvents   = 100_000 // kept
)

// Events reads and counts the events of a streamed answer, after undoing its
// content encoding. Only the first withData events keep their data. Events of a
// compressed answer have no times, because the chunks that arrived were compressed
// bytes.
func Events(e *transcript.Exchange, response []byte, withData int) (list []Event, total int) {
	if !isEventStream(e) {
		return nil, 0
	}
	var reader dialect.SSE
	next := func(v dialect.Event) {
		if total++; total > mostEvents {
			return
		}
		shown := Event{N: total, Size: len(v.Data), At: arrival(e, v.End), Cut: v.Unterminated}
		if total <= withData {
			shown.Name, shown.Data = v.Name, transcript.Head(string(v.Data[:min(len(v.Data), 2*longestEvent)]), longestEvent)
		}
		list = append(list, shown)
	}
	reader.Feed(response, next)
	reader.Close(next)
	return list, total
}

func isEventStream(e *transcript.Exchange) bool {
	for name, values := range e.Response.Headers {
		if strings.EqualFold(name, "Content-Type") {
			return strings.HasPrefix(strings.ToLower(strings.Join(values, "")), "text/event-stream")
		}
	}
	return false
}

// arrival returns when the bytes of a response up to an offset had arrived.
func arrival(e *transcript.Exchange, end int64) *float64 {
	m := &e.Response
	if m.ContentEncoding != "" && m.ContentEncoding != "identity" || len(m.Chunks) == 0 || m.Omitted != "" {
		return nil
	}
	after, _ := slices.BinarySearchFunc(m.Chunks, end, func(c transcript.Chunk, end int64) int {
		if c.Offset < end {
			return -1
		}
		return 1
	})
	if after == 0 {
		return nil
	}
	at := float64(m.Chunks[after-1].At) / float64(time.Millisecond)
	return &at
}
