package view

import (
	"context"
	"iter"
	"sync"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// reading is what was read of a run: whoever judges it and whoever tells it share
// that.
type reading struct {
	requests
	mu      sync.Mutex
	answers map[string]*transcript.Turn // by exchange
	size    int                         // bytes that the answers came from
}

func newReading(ctx context.Context, r transcript.Reader) *reading {
	return &reading{requests: newRequests(ctx, r), answers: map[string]*transcript.Turn{}}
}

// answer reads the answer of an exchange. Unlike the requests, several goroutines
// may ask for answers. They are not to be changed.
func (q *reading) answer(e *transcript.Exchange) (*transcript.Turn, error) {
	q.mu.Lock()
	turn := q.answers[e.ID]
	q.mu.Unlock()
	if turn != nil {
		return turn, nil
	}
	body, err := readBody(q.ctx, q.reader, &e.Response)
	if err != nil {
		return nil, err
	}
	turn = dialect.Decode(e.Dialect, &dialect.Wire{Method: e.Method, URL: e.URL, Status: e.Status, ResponseHeader: e.Response.Headers, Response: body})
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.size += len(body); q.size > keptItems {
		clear(q.answers)
		q.size = len(body)
	}
	q.answers[e.ID] = turn
	return turn, nil
}

// answered is an exchange with its answer, or why there is none.
type answered struct {
	exchange *transcript.Exchange
	turn     *transcript.Turn
	err      error
}

// inAdvance reads the answers of exchanges one after the other, some before they
// are asked for.
func (q *reading) inAdvance(exchanges iter.Seq[*transcript.Exchange]) iter.Seq[answered] {
	return ahead(workAhead, func(yield func(answered) bool) {
		for e := range exchanges {
			turn, err := q.answer(e)
			if !yield(answered{e, turn, err}) {
				return
			}
		}
	})
}
