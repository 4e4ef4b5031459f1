package view

import (
	"context"
	"fmt"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// Detail is everything known about one item: a call with its result, or any other
// item.
type Detail struct {
	Entry
	Exchange *Row `json:"exchange"` // that contains the item
	// Tokens are estimates: four bytes count as one.
	Bytes        int   `json:"bytes"`
	Tokens       int   `json:"tokens_estimated"`
	ResultBytes  int   `json:"result_bytes"`
	ResultTokens int   `json:"result_tokens_estimated"`
	BroughtBy    *Row  `json:"brought_by"` // the exchange that introduced the result
	Seen         *Seen `json:"seen"`       // for the result, or for an item without one; nil if it was not followed
}

// Seen describes which exchanges had an item in the model's context.
type Seen struct {
	From  string `json:"from"` // short references
	To    string `json:"to"`
	Count int    `json:"count"`
	More  bool   `json:"more"` // following stopped early
}

// mostFollowed bounds how many exchanges an item is followed through.
const mostFollowed = 400

// NewDetail returns the details of the item at a place. The error wraps
// transcript.ErrNotFound if there is none.
func NewDetail(ctx context.Context, r transcript.Reader, e *transcript.Exchange, body, at string) (*Detail, error) {
	t, err := NewTranscript(ctx, r, e)
	if err != nil {
		return nil, err
	}
	entry := entryAt(t.Entries, transcript.Place{Exchange: e.ID, Body: body, At: at})
	if entry == nil && t.Damage != nil {
		return nil, t.Damage
	}
	if entry == nil {
		return nil, fmt.Errorf("item at %s of the %s of %s: %w", at, body, Ref(e.N), transcript.ErrNotFound)
	}
	d := &Detail{Entry: *entry, Bytes: len(entry.Item.Text) + len(entry.Item.ArgumentsRaw)}
	if d.Bytes == 0 {
		d.Bytes = len(entry.Item.Raw)
	}
	d.Tokens = d.Bytes / bytesOfToken
	row := NewRow(e)
	d.Exchange = &row
	if d.Result != nil {
		d.ResultBytes, d.ResultTokens = len(d.Result.Text), len(d.Result.Text)/bytesOfToken
	}
	return d, d.follow(ctx, r, e, t)
}

func entryAt(entries []Entry, p transcript.Place) *Entry {
	var under *Entry
	for i := range entries {
		e := &entries[i]
		if e.Place == p {
			return e
		}
		if under == nil && e.Pair != nil && (e.Pair.Call != nil && *e.Pair.Call == p || e.Pair.Result != nil && *e.Pair.Result == p) {
			under = e
		}
	}
	return under
}

// follow finds the exchanges that saw the item, for a result starting from the
// request that introduced it.
func (d *Detail) follow(ctx context.Context, r transcript.Reader, e *transcript.Exchange, t *Transcript) error {
	place, turn := d.Place, t.Exchange
	if d.Pair != nil && d.Pair.Result != nil && d.Result != nil {
		place = *d.Pair.Result
	}
	if place.Exchange != e.ID {
		other, err := r.Exchange(ctx, place.Exchange)
		if lost(err) != "" {
			return nil
		}
		if err != nil {
			return err
		}
		row := NewRow(other)
		e, d.BroughtBy = other, &row
		read, err := history.Decode(ctx, r, e)
		if lost(err) != "" {
			return nil
		}
		if err != nil {
			return err
		}
		turn = &Exchange{Row: row, Input: read.Input, Output: read.Output}
	} else if d.Result != nil {
		d.BroughtBy = d.Exchange
	}
	position := positionOf(&e.Link, turn, place)
	if position < 0 {
		return nil
	}
	seen, err := followers(ctx, r, e, position)
	if err != nil {
		return err
	}
	if place.Body == "request" {
		seen.Count++
		seen.From = Ref(e.N)
	}
	if seen.Count > 0 {
		if seen.To == "" {
			seen.To = seen.From
		}
		d.Seen = seen
	}
	return nil
}

// positionOf returns the position of an item in the history of an exchange, -1 if
// it is not part of the chain.
func positionOf(l *transcript.Link, turn *Exchange, p transcript.Place) int {
	items, before := turn.Input, 0
	if p.Body == "response" {
		items, before = turn.Output, l.InLen
	} else {
		before = l.InLen - len(inChain(items))
	}
	at := before
	for i := range items {
		if !items[i].InChain() {
			continue
		}
		if items[i].At == p.At {
			return at
		}
		at++
	}
	return -1
}

// followers counts the exchanges after e that extend its history and still contain
// the item at that position.
func followers(ctx context.Context, r transcript.Reader, e *transcript.Exchange, position int) (*Seen, error) {
	s := &Seen{}
	for {
		children, err := r.Children(ctx, e.ID)
		if err != nil && lost(err) == "" {
			return nil, err
		}
		next := heir(children, e)
		if next == nil || !held(&next.Link) && next.Link.Shared <= position {
			return s, nil
		}
		if s.Count == mostFollowed {
			s.More = true
			return s, nil
		}
		s.Count++
		s.To = Ref(next.N)
		if s.From == "" {
			s.From = s.To
		}
		e = next
	}
}

// heir returns the exchange that continues the conversation: the last one of the
// same agent that is no replay.
func heir(children []*transcript.Exchange, e *transcript.Exchange) *transcript.Exchange {
	var best *transcript.Exchange
	for _, c := range children {
		if c.Link.Agent == e.Link.Agent && !c.Link.Side && c.Link.By != transcript.ByTake {
			best = c
		}
	}
	return best
}
