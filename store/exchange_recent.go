package store

import "github.com/retake-debugger/retake/transcript"

// maxLastRows bounds how many exchanges are remembered.
const maxLastRows = 256

// lastRows remembers the exchanges stored last as a listing returns them: most
// requests go on from one of them, and to read its seventy columns costs as much
// as to write them. The nil lastRows remembers none.
type lastRows struct {
	byN   map[int64]transcript.Exchange
	queue []int64 // oldest first
}

func (l *lastRows) forget() { l.byN, l.queue = map[int64]transcript.Exchange{}, nil }

// put remembers an exchange as it was stored.
func (l *lastRows) put(e *transcript.Exchange) {
	row := *e
	row.StartedAt, row.EndedAt = storedTime(e.StartedAt), storedTime(e.EndedAt)
	row.Response.Chunks = nil
	l.byN[e.N] = row
	if l.queue = append(l.queue, e.N); len(l.queue) > maxLastRows {
		delete(l.byN, l.queue[0])
		l.queue = l.queue[1:]
	}
}

// drop says that an exchange is not as it is remembered any more.
func (l *lastRows) drop(n int64) { delete(l.byN, n) }

// find returns what is remembered of an exchange; what it points at is shared.
func (l *lastRows) find(n int64) (*transcript.Exchange, bool) {
	if l == nil {
		return nil, false
	}
	row, ok := l.byN[n]
	return &row, ok
}
