package store

import (
	"context"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// maxOpenCalls bounds of how many answers the calls are remembered.
const maxOpenCalls = 256

// openCalls remembers the calls of the answers stored last that have no result
// yet: most results answer the step just before, and to read its calls touches
// three tables.
type openCalls struct {
	byExchange map[string]*calledFor // nil for an answer whose calls are to be read
	queue      []string              // oldest first
}

type calledFor struct {
	calls []transcript.CallRow
	ids   []int64
}

func (o *openCalls) forget() {
	o.byExchange, o.queue = map[string]*calledFor{}, nil
}

// put remembers a call. latest is the exchange stored last: of another one some
// calls may be missing.
func (o *openCalls) put(c transcript.CallRow, id int64, latest string) {
	at, known := o.byExchange[c.Exchange]
	if !known && c.Exchange == latest {
		at = &calledFor{}
		o.byExchange[c.Exchange] = at
		o.queue = append(o.queue, c.Exchange)
		if len(o.queue) > maxOpenCalls {
			delete(o.byExchange, o.queue[0])
			o.queue = o.queue[1:]
		}
	}
	if at != nil {
		c.Results = nil
		at.calls, at.ids = append(at.calls, c), append(at.ids, id)
	}
}

// drop says that the calls of an answer are not as they are remembered any more.
func (o *openCalls) drop(exchange string) {
	if _, known := o.byExchange[exchange]; known {
		o.byExchange[exchange] = nil
	}
}

// knows reports whether an answer was put here, whether its calls are remembered or not.
func (o *openCalls) knows(exchange string) bool {
	_, known := o.byExchange[exchange]
	return known
}

// last returns the id of the last call of an answer; not ok if it is not remembered.
func (o *openCalls) last(exchange string) (id int64, ok bool) {
	answer := o.byExchange[exchange]
	if answer == nil {
		return 0, false
	}
	return answer.ids[len(answer.ids)-1], true
}

// id returns the id of a call; not ok if it is not remembered.
func (o *openCalls) id(exchange, at string) (id int64, ok bool) {
	answer := o.byExchange[exchange]
	if answer == nil {
		return 0, false
	}
	i := slices.IndexFunc(answer.calls, func(c transcript.CallRow) bool { return c.At == at })
	if i < 0 {
		return 0, false
	}
	return answer.ids[i], true
}

// Calls lists the recorded calls of these exchanges in order.
func (t *tx) Calls(ctx context.Context, exchanges []string) ([]transcript.CallRow, error) {
	if len(exchanges) == 1 && !t.done {
		if answer := t.w.open.byExchange[exchanges[0]]; answer != nil {
			return slices.Clone(answer.calls), nil
		}
	}
	return t.past.Calls(ctx, exchanges)
}
