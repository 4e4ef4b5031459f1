package link

import (
	"context"
	"errors"

	"github.com/retake-debugger/retake/transcript"
)

// farthest bounds how many answers back the call of a result is looked for.
const farthest = 64

// callers are the recorded answers of a conversation, latest first. They are read
// as far back as needed: most results answer the step before. Each call is returned
// once.
type callers struct {
	ctx  context.Context
	tx   transcript.Tx
	from *transcript.Exchange // the latest
	line []*caller            // those that were read
}

// caller is one answer with the calls that are left, the latest at the end.
type caller struct {
	exchange *transcript.Exchange
	calls    []transcript.CallRow
	taken    []bool
	keys     map[transcript.Key][]int
	ids      map[string][]int
}

// byKey returns the latest call with that key that was not returned yet; nil if
// there is none.
func (c *callers) byKey(key transcript.Key) (*transcript.CallRow, *transcript.Exchange, error) {
	return c.take(func(at *caller) []int { return at.keys[key] })
}

// byID does the same for a call id.
func (c *callers) byID(id string) (*transcript.CallRow, *transcript.Exchange, error) {
	return c.take(func(at *caller) []int { return at.ids[id] })
}

// byKeyWithoutID returns the latest call that is the same except for its id.
func (c *callers) byKeyWithoutID(it *transcript.Item) (*transcript.CallRow, *transcript.Exchange, error) {
	return c.take(func(at *caller) []int {
		var fits []int
		for i := range at.calls {
			named := *it
			if named.CallID = at.calls[i].CallID; named.Name == at.calls[i].Name && transcript.KeyOf(&named) == at.calls[i].Key {
				fits = append(fits, i)
			}
		}
		return fits
	})
}

func (c *callers) take(fitting func(*caller) []int) (*transcript.CallRow, *transcript.Exchange, error) {
	for n := 0; n < farthest; n++ {
		if n == len(c.line) {
			if more, err := c.read(); err != nil || !more {
				return nil, nil, err
			}
		}
		at := c.line[n]
		fits := fitting(at)
		for i := len(fits) - 1; i >= 0; i-- {
			if k := fits[i]; !at.taken[k] {
				at.taken[k] = true
				return &at.calls[k], at.exchange, nil
			}
		}
	}
	return nil, nil, nil
}

// read reads the calls of the answer before, if there is one.
func (c *callers) read() (more bool, err error) {
	e := c.from
	if n := len(c.line); n > 0 {
		parent := c.line[n-1].exchange.Link.Parent
		if parent == "" {
			return false, nil
		}
		e, err = c.tx.Exchange(c.ctx, parent)
		if errors.Is(err, transcript.ErrNotFound) { // removed since
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	calls, err := c.tx.Calls(c.ctx, []string{e.ID})
	if err != nil {
		return false, err
	}
	at := &caller{exchange: e, calls: calls, taken: make([]bool, len(calls)), keys: map[transcript.Key][]int{}, ids: map[string][]int{}}
	for i := range calls {
		at.keys[calls[i].Key] = append(at.keys[calls[i].Key], i)
		at.ids[calls[i].CallID] = append(at.ids[calls[i].CallID], i)
	}
	c.line = append(c.line, at)
	return true, nil
}
