package ingest

import (
	"context"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// owners finds the recorded answer that holds a call of the history. It walks
// up from the parent and keeps what it has read, since most results answer the
// step just before.
type owners struct {
	ctx   context.Context
	tx    transcript.Tx
	last  *transcript.Exchange // the parent, then as far up as was read
	line  []*transcript.Exchange
	calls map[string][]transcript.CallRow
	ended map[string]time.Time
	used  map[string]bool // calls that a result of this request has taken, by exchange and pointer
}

// find gives the row of the call that item i answers, nil if no recorded
// answer holds it.
func (o *owners) find(items []transcript.Item, where []int, held, i int, calls map[int]int) (*transcript.CallRow, error) {
	if call, ok := calls[i]; ok {
		if where[call] < 0 {
			return nil, nil
		}
		return o.at(held + where[call])
	}
	if held == 0 {
		return nil, nil
	}
	return o.open(&items[i])
}

// at finds the call at a place of the full history.
func (o *owners) at(index int) (*transcript.CallRow, error) {
	for n := 0; ; n++ {
		e, err := o.ancestor(n)
		if e == nil || err != nil {
			return nil, err
		}
		if index >= e.Link.OutLen {
			return nil, nil
		}
		if index < e.Link.InLen {
			continue
		}
		for k, row := range o.calls[e.ID] {
			if row.Index == index {
				return &o.calls[e.ID][k], nil
			}
		}
		return nil, nil
	}
}

// open finds the latest unanswered call with that id in a history that only
// the provider holds.
func (o *owners) open(result *transcript.Item) (*transcript.CallRow, error) {
	for n := 0; ; n++ {
		e, err := o.ancestor(n)
		if e == nil || err != nil {
			return nil, err
		}
		for k, row := range o.calls[e.ID] {
			if row.CallID == result.CallID && !o.used[row.Exchange+row.At] {
				if o.used == nil {
					o.used = map[string]bool{}
				}
				o.used[row.Exchange+row.At] = true
				return &o.calls[e.ID][k], nil
			}
		}
	}
}

// ancestor gives the exchange n steps above, 0 being the parent; nil past the
// first.
func (o *owners) ancestor(n int) (*transcript.Exchange, error) {
	for len(o.line) <= n {
		if o.last == nil {
			return nil, nil
		}
		e := o.last
		rows, err := o.tx.Calls(o.ctx, []string{e.ID})
		if err != nil {
			return nil, err
		}
		if o.calls == nil {
			o.calls, o.ended = map[string][]transcript.CallRow{}, map[string]time.Time{}
		}
		o.calls[e.ID], o.ended[e.ID] = rows, e.EndedAt
		o.line = append(o.line, e)
		o.last = nil
		if e.Link.Parent != "" {
			if o.last, err = o.tx.Exchange(o.ctx, e.Link.Parent); err != nil {
				return nil, err
			}
		}
	}
	return o.line[n], nil
}
