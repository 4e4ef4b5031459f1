package segment

import (
	"context"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// Reachable is the set of segments and recipes that some bodies are made of.
type Reachable struct {
	Segments [2]Bitset // by stream
	Recipes  Bitset    // those that a body is rebuilt from, bases too
	bodies   Bitset    // recipes whose segments are in segments
	// The highest numbers given out: what is above is damage.
	HighestBody int64
	Highest     [2]int64 // by stream
	cache       RecipeCache
	// took is called for each segment that was not in it before, if set.
	Took func(ID) error
}

// Body adds what a body is made of.
func (h *Reachable) Body(ctx context.Context, r *Reader, id transcript.BodyID) error {
	switch {
	case id <= 0:
		return nil
	case id&1 == 1:
		return h.segment(ID(id >> 1))
	case int64(id>>1) > h.HighestBody:
		return ErrRecipe
	case !h.bodies.Add(int64(id >> 1)):
		return nil
	}
	ids, err := h.recipe(ctx, r, int64(id>>1))
	if err != nil {
		return err
	}
	for _, id := range ids.All() {
		if err := h.segment(id); err != nil {
			return err
		}
	}
	return nil
}

func (h *Reachable) segment(id ID) error {
	if id.Number() > h.Highest[id.Stream()] {
		return ErrSegment
	}
	if h.Segments[id.Stream()].Add(id.Number()) && h.Took != nil {
		return h.Took(id)
	}
	return nil
}

// Dead is how many bytes of a pack are of segments that are not in the set.
func (h *Reachable) Dead(p *PackInfo, stream int) (bytes int64, err error) {
	err = p.Segments(func(n, length int64) {
		if !h.Segments[stream].Has(n) {
			bytes += length
		}
	})
	return bytes, err
}

// recipe reads the segments that a recipe lists, and notes the recipes that it
// is told by.
func (h *Reachable) recipe(ctx context.Context, r *Reader, n int64) (*List, error) {
	type delta struct {
		n      int64
		recipe []byte
	}
	var chain []delta
	ids := &List{}
	for n != 0 {
		h.Recipes.Add(n)
		if known, ok := h.cache.Find(n); ok {
			ids = known
			break
		}
		row, err := r.Recipes.Row(ctx, r.Rows, n)
		if err != nil {
			return nil, fmt.Errorf("read recipe %d: %w", n, err)
		}
		if chain = append(chain, delta{n, row.Recipe}); row.Base >= n || len(chain) > MaxChain {
			return nil, ErrRecipe
		}
		n = row.Base
	}
	for _, d := range slices.Backward(chain) {
		var err error
		if ids, err = DecodeRecipe(ids, d.recipe); err != nil {
			return nil, err
		}
		h.cache.Keep(d.n, ids)
	}
	return ids, nil
}
