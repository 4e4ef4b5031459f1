package reindex

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/ingest/decode"
	"github.com/retake-debugger/retake/ingest/link"
	"github.com/retake-debugger/retake/transcript"
)

// Difference is what is stored of an exchange and would be derived otherwise.
type Difference struct {
	Exchange string
	N        int64
	Parts    []string // e.g. "usage", "link"

	asOf int64 // number of a later exchange that it would be linked anew for, 0 for none
}

// String says it in words.
func (d Difference) String() string {
	return "what was derived of it differs from what this version derives: " + strings.Join(slices.Sorted(slices.Values(d.Parts)), ", ")
}

// Compare derives every exchange again and tells where that differs from what
// is stored: Reindex changes those, and what follows from them, and nothing if
// there are none. It writes nothing. Exchanges that cannot be read are left out.
// With an error it tells what it found until then. progress may be nil.
func Compare(ctx context.Context, r transcript.Reader, progress func(done, newest int64)) ([]Difference, error) {
	allow, err := allowed(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("derive again: %w", err)
	}
	allow.choice = true // whether one is a replay or continued was told of after it was chosen
	var newest int64
	for e, err := range r.Exchanges(ctx, transcript.Filter{Limit: 1}) {
		if err == nil {
			newest = e.N
		}
	}
	c := &comparison{ctx: ctx, reader: r, allow: allow}
	for e, err := range r.Exchanges(ctx, transcript.Filter{Before: newest + 1, Oldest: true}) {
		if err == nil {
			err = c.add(e)
		}
		if decode.Gone(err) {
			continue
		}
		if err != nil {
			return c.found, fmt.Errorf("derive again: %w", err)
		}
		if progress != nil {
			progress(e.N, newest)
		}
	}
	return c.again()
}

// comparison holds what is stored against what is derived.
type comparison struct {
	ctx     context.Context
	reader  transcript.Reader
	allow   lenience
	decoder decode.Decoder
	found   []Difference
}

// add derives an exchange again, and those with pending links to it.
func (c *comparison) add(e *transcript.Exchange) error {
	d, parts, err := c.one(e.ID, 0)
	if err != nil {
		return err
	}
	if len(parts) > 0 {
		c.found = append(c.found, Difference{e.ID, e.N, parts, 0})
	}
	late, err := link.PendingOn(c.reader.Before(e.N), &d.Subject)
	if err != nil {
		return err
	}
	for _, id := range late {
		d, parts, err := c.one(id, e.N)
		if err != nil && !decode.Gone(err) {
			return err
		}
		if len(parts) > 0 && !slices.ContainsFunc(c.found, func(f Difference) bool { return f.Exchange == id }) {
			c.found = append(c.found, Difference{id, d.Exchange.N, parts, e.N})
		}
	}
	return nil
}

// one derives an exchange again, as of another one as Relink does it if that is
// not 0, and names what is otherwise.
func (c *comparison) one(id string, asOf int64) (*decode.Decoded, []string, error) {
	old, err := c.reader.Exchange(c.ctx, id)
	if err != nil {
		return nil, nil, err
	}
	d, err := c.decoder.Redecode(c.ctx, c.reader, old)
	if err != nil {
		return nil, nil, err
	}
	dr, err := rederiveAsOf(c.ctx, c.reader, old, d, asOf, c.allow)
	if err != nil {
		return nil, nil, err
	}
	parts, err := dr.differences(c.ctx, c.reader)
	if err != nil || asOf > 0 {
		return d, parts, err
	}
	unnoted, err := dr.unnoted(c.ctx, c.reader)
	if len(unnoted) > 0 {
		parts = append(parts, "hints")
	}
	return d, parts, err
}

// again looks at what differed once more: exchanges may have been pruned, or changed,
// between one reading and the next.
func (c *comparison) again() ([]Difference, error) {
	var still []Difference
	for i, d := range c.found {
		_, parts, err := c.one(d.Exchange, d.asOf)
		switch {
		case errors.Is(err, transcript.ErrNotFound):
			continue
		case err != nil:
			return append(still, c.found[i:]...), fmt.Errorf("derive again: %w", err)
		case len(parts) > 0:
			still = append(still, Difference{d.Exchange, d.N, parts, d.asOf})
		}
	}
	return still, nil
}
