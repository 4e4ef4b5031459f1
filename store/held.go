package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// held is what exchanges hold: their segments, recipes and header sets. What is
// not in it nobody can reach.
type held struct {
	segments [2]bitset // by lane
	recipes  bitset    // those that a body is rebuilt from, bases too
	bodies   bitset    // recipes whose segments are in segments
	headers  bitset
	skip     bitset // numbers of exchanges that do not count
	last     int64  // number of the last exchange that was looked at
	highest  state  // the highest numbers given out: what is above is damage
	cache    recipeCache
	// took is called for each segment that was not in it before, if set.
	took func(segmentID) error
}

// holder is what a row of exchange holds.
type holder struct {
	n       int64
	bodies  [2]transcript.BodyID
	headers [2][]byte
}

// maxHeaderID bounds what is taken for the id of a header set: each differs in
// the names of its headers.
const maxHeaderID = 1 << 24

const (
	holderPage    = 2000
	selectHolders = "SELECT n, request_body, response_body, substr(request_headers, 1, 10), substr(response_headers, 1, 10) FROM exchange "
)

func holders(ctx context.Context, st *statements, query string, args ...any) ([]holder, error) {
	var list []holder
	err := st.rows(ctx, query, args, func(row *sql.Rows) error {
		var h holder
		err := row.Scan(&h.n, &h.bodies[0], &h.bodies[1], &h.headers[0], &h.headers[1])
		list = append(list, h)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read exchanges: %w", err)
	}
	return list, nil
}

// catchUp takes the exchanges that came since the last one it has looked at.
func (h *held) catchUp(ctx context.Context, r *reader, progress func(n int64)) error {
	for {
		list, err := holders(ctx, r.st, selectHolders+"WHERE n > ? ORDER BY n LIMIT ?", h.last, holderPage)
		if err != nil || len(list) == 0 {
			return err
		}
		if err := h.bound(ctx, r); err != nil {
			return err
		}
		for i := range list {
			if err := h.take(ctx, r, &list[i]); err != nil {
				return fmt.Errorf("read what x%d holds: %w", list[i].n, err)
			}
			h.last = list[i].n
		}
		if progress != nil {
			progress(h.last)
		}
	}
}

// bound reads how high numbers can be, after what is to be taken was read.
func (h *held) bound(ctx context.Context, r *reader) error {
	err := r.st.row(ctx, "SELECT body, piece, whole FROM state", nil, &h.highest.body, &h.highest.piece, &h.highest.whole)
	if err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	return nil
}

func (h *held) take(ctx context.Context, r *reader, e *holder) error {
	if h.skip.has(e.n) {
		return nil
	}
	for i, body := range e.bodies {
		if err := h.body(ctx, r, body); err != nil {
			return err
		}
		if set, n := binary.Uvarint(e.headers[i]); n > 0 && set < maxHeaderID {
			h.headers.add(int64(set))
		}
	}
	return nil
}

func (h *held) body(ctx context.Context, r *reader, id transcript.BodyID) error {
	switch {
	case id <= 0:
		return nil
	case id&1 == 1:
		return h.segment(segmentID(id >> 1))
	case int64(id>>1) > h.highest.body:
		return errRecipe
	case !h.bodies.add(int64(id >> 1)):
		return nil
	}
	ids, err := h.recipe(ctx, r, int64(id>>1))
	if err != nil {
		return err
	}
	for _, id := range ids.all() {
		if err := h.segment(id); err != nil {
			return err
		}
	}
	return nil
}

func (h *held) segment(id segmentID) error {
	if most := [2]int64{h.highest.piece, h.highest.whole}; id.number() > most[id.lane()] {
		return errSegment
	}
	if h.segments[id.lane()].add(id.number()) && h.took != nil {
		return h.took(id)
	}
	return nil
}

// dead is how many bytes of a pack are of segments that nobody holds.
func (h *held) dead(p *packSize, lane int) (bytes int64, err error) {
	err = p.segments(func(n, length int64) {
		if !h.segments[lane].has(n) {
			bytes += length
		}
	})
	return bytes, err
}

// recipe reads the segments that a recipe lists, and notes the recipes that it
// is told by.
func (h *held) recipe(ctx context.Context, r *reader, n int64) (*segmentList, error) {
	type delta struct {
		n      int64
		recipe []byte
	}
	var chain []delta
	ids := &segmentList{}
	for n != 0 {
		h.recipes.add(n)
		if known, ok := h.cache.find(n); ok {
			ids = known
			break
		}
		base, recipe, err := r.recipeRow(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("read recipe %d: %w", n, err)
		}
		if chain = append(chain, delta{n, recipe}); base >= n || len(chain) > maxChain {
			return nil, errRecipe
		}
		n = base
	}
	for _, d := range slices.Backward(chain) {
		var err error
		if ids, err = decodeRecipe(ids, d.recipe); err != nil {
			return nil, err
		}
		h.cache.keep(d.n, ids)
	}
	return ids, nil
}

// recipeCache keeps the recipes read last: the bodies of a conversation share
// their bases. The base of one that is kept is noted already.
type recipeCache struct {
	byN   map[int64]*segmentList
	queue []int64 // oldest first
	size  int
}

const cachedIDs = 1 << 20

func (c *recipeCache) find(n int64) (*segmentList, bool) {
	ids, ok := c.byN[n]
	return ids, ok
}

func (c *recipeCache) keep(n int64, ids *segmentList) {
	if c.byN == nil {
		c.byN = map[int64]*segmentList{}
	}
	c.byN[n] = ids
	c.queue = append(c.queue, n)
	c.size += ids.own + 1
	for c.size > cachedIDs && len(c.queue) > 1 {
		c.size -= c.byN[c.queue[0]].own + 1
		delete(c.byN, c.queue[0])
		c.queue = c.queue[1:]
	}
}
