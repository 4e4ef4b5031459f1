package ingest

import (
	"context"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// putResults joins the results that are new in this request to the recorded
// answers that asked for them. It goes from the last to the first, as the
// answers are searched from the latest: equal calls keep their order.
func putResults(ctx context.Context, tx transcript.Tx, d *decoded, parent *transcript.Exchange) error {
	if parent == nil {
		return nil
	}
	items := d.turn.Input
	calls := map[int]int{}
	for _, m := range transcript.PairItems(items) {
		if m.Result >= 0 && m.Call >= 0 {
			calls[m.Result] = m.Call
		}
	}
	callers := callers{ctx: ctx, tx: tx, next: parent}
	for _, i := range slices.Backward(newResults(d)) {
		same := func(row *transcript.CallRow) bool { return row.CallID == items[i].CallID }
		if call, ok := calls[i]; ok {
			key := transcript.KeyOf(&items[call])
			same = func(row *transcript.CallRow) bool { return row.Key == key }
		}
		row, asked, err := callers.take(same)
		if err != nil {
			return err
		}
		if row == nil {
			continue
		}
		result := transcript.ResultRow{Exchange: d.exchange.ID, At: items[i].At, By: "id", IsError: items[i].IsError}
		if items[i].CallID == "" {
			result.By = "position"
		}
		if !asked.EndedAt.IsZero() {
			result.LatencyMS = max(0, float64(d.exchange.StartedAt.Sub(asked.EndedAt).Microseconds())/1000)
		}
		if err := tx.PutResult(row.Exchange, row.At, result); err != nil {
			return err
		}
	}
	return nil
}

// newResults gives the tool results that the history before did not hold.
func newResults(d *decoded) []int {
	var found []int
	for i, where := range chainIndex(d.turn.Input) {
		if it := &d.turn.Input[i]; it.Kind == transcript.ToolResult && !it.ServerSide && where >= d.exchange.Link.Shared {
			found = append(found, i)
		}
	}
	return found
}

// chainIndex numbers the items that are in the chain; -1 for the others.
func chainIndex(items []transcript.Item) []int {
	where := make([]int, len(items))
	n := 0
	for i := range items {
		where[i] = -1
		if items[i].InChain() {
			where[i] = n
			n++
		}
	}
	return where
}

// farthest bounds how many answers back the call of a result is looked for.
const farthest = 64

// callers are the recorded answers of a conversation, latest first, read as
// far up as is needed: most results answer the step just before.
type callers struct {
	ctx  context.Context
	tx   transcript.Tx
	next *transcript.Exchange // not read yet
	line []caller
}

type caller struct {
	exchange *transcript.Exchange
	calls    []transcript.CallRow
	taken    []bool
}

// take finds the latest call that fits and is not taken; nil if there is none.
func (c *callers) take(fits func(*transcript.CallRow) bool) (*transcript.CallRow, *transcript.Exchange, error) {
	for n := 0; n < farthest; n++ {
		if n == len(c.line) {
			if c.next == nil {
				break
			}
			if err := c.read(); err != nil {
				return nil, nil, err
			}
		}
		at := c.line[n]
		for i := len(at.calls) - 1; i >= 0; i-- {
			if !at.taken[i] && fits(&at.calls[i]) {
				at.taken[i] = true
				return &at.calls[i], at.exchange, nil
			}
		}
	}
	return nil, nil, nil
}

// read reads the calls of the next answer up.
func (c *callers) read() error {
	e := c.next
	calls, err := c.tx.Calls(c.ctx, []string{e.ID})
	if err != nil {
		return err
	}
	c.line = append(c.line, caller{e, calls, make([]bool, len(calls))})
	c.next = nil
	if e.Link.Parent != "" {
		c.next, err = c.tx.Exchange(c.ctx, e.Link.Parent)
	}
	return err
}
