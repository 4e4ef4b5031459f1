package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// sweep removes what no exchange holds, while others write.
//
// Others can make dead things live again: a writer remembers segments, recipes
// and header sets, and finds segments by lookups. So first every writer is told
// to forget. After that a recipe that nobody holds stays dead, since bases are
// taken from memory alone, and a dead segment can be found by its lookup only.
// The lookups are deleted next, each in a transaction that has looked at all
// exchanges there are. A segment without a lookup stays dead, and its bytes can
// be removed at leisure. What is broken off in between is found dead again.
func (p *pruning) sweep() error {
	s := &sweep{pruning: p}
	if err := p.db.st.row(p.ctx, "SELECT salt FROM state", nil, &s.lookup.salt); err != nil {
		return err
	}
	if err := s.held.catchUp(p.ctx, &p.db.reader, s.looked); err != nil {
		return err
	}
	found, err := findGarbage(p.ctx, p.db.st, &s.held)
	if err != nil || found.empty() {
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	for lane := range packTables {
		s.total += int64(len(found.packs[lane]))
	}
	if err := s.recipes(found.recipes); err != nil {
		return err
	}
	if err := s.headers(found.headers); err != nil {
		return err
	}
	for lane, packs := range found.packs {
		for len(packs) > 0 {
			group, rest := cutWork(packs, unlistBytes)
			if err := s.packs(lane, group); err != nil {
				return err
			}
			packs = rest
		}
	}
	return nil
}

type sweep struct {
	*pruning
	held        held
	unlisted    [2]bitset // dead segments whose lookups are gone, by lane
	lookup      lookup    // for its keys alone
	done, total int64
}

func (s *sweep) looked(n int64) {
	s.progress(PruneProgress{"history", n, 0})
}

// cutWork takes the first packs that together hold about so many bytes.
func cutWork(packs []packWork, bytes int64) (group, rest []packWork) {
	n := 0
	for bytes > 0 && n < len(packs) {
		bytes -= packs[n].bytes + 1
		n++
	}
	return packs[:n], packs[n:]
}

// settled runs a transaction that has looked at all exchanges.
func (s *sweep) settled(f func(*tx) error) error {
	return s.change(func(t *tx) error {
		if err := s.held.catchUp(context.Background(), &t.reader, nil); err != nil {
			return err
		}
		return f(t)
	})
}

// begin makes every writer forget. Models that no exchange has go at once.
func (s *sweep) begin() error {
	return s.settled(func(t *tx) error {
		if _, err := t.st.exec("DELETE FROM model WHERE NOT EXISTS (SELECT 1 FROM exchange WHERE model = model.id)"); err != nil {
			return err
		}
		return t.removed()
	})
}

const (
	deadBatch   = 128       // recipes, header sets, lookups that are deleted at once
	unlistBytes = 256 << 20 // of segments whose lookups are sorted at once
)

func (s *sweep) recipes(dead []int64) error {
	return s.delete("DELETE FROM body WHERE n IN "+gone, dead, &s.held.recipes)
}

func (s *sweep) headers(dead []int64) error {
	return s.delete("DELETE FROM header_set WHERE id IN "+gone, dead, &s.held.headers)
}

// delete deletes rows but for those that are held by now.
func (s *sweep) delete(query string, dead []int64, held *bitset) error {
	return inSteps(s.settled, dead, deadBatch, func(t *tx, some []int64) error {
		_, err := t.st.exec(query, inJSON(slices.DeleteFunc(some, held.has)))
		return err
	})
}

// packs removes the dead segments of some packs: first their lookups, then
// their bytes.
func (s *sweep) packs(lane int, group []packWork) error {
	if err := s.unlist(lane, group); err != nil {
		return err
	}
	for len(group) > 0 {
		var done int
		err := s.change(func(t *tx) (err error) {
			done, err = t.rewrite(lane, group, s.unlisted[lane])
			return err
		})
		if err != nil {
			return err
		}
		group = group[done:]
		s.done += int64(done)
		s.progress(PruneProgress{"packs", s.done, s.total})
	}
	return nil
}

type listed struct {
	key int64
	id  segmentID
}

// unlist deletes the lookups of the dead segments of some packs. A pack that
// is damaged, or was merged into another meanwhile, has none that are known.
func (s *sweep) unlist(lane int, group []packWork) error {
	var list []listed
	for _, w := range group {
		unpacked, err := readPack(s.ctx, s.db.st, s.db.codec, idIn(lane, w.first))
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		if err != nil && !errors.Is(err, errSegment) && !errors.Is(err, errPack) {
			return err
		}
		if err != nil || unpacked.first != w.first {
			continue
		}
		for n := unpacked.first; n <= unpacked.last(); n++ {
			id := idIn(lane, n)
			if data, ok := unpacked.segment(id); ok && !s.held.segments[lane].has(n) {
				list = append(list, listed{s.lookup.key(findSegment, data), id})
			}
		}
	}
	slices.SortFunc(list, func(a, b listed) int { return cmp.Compare(a.key, b.key) })
	return inSteps(s.settled, list, deadBatch, func(t *tx, some []listed) error {
		lookups := make([][2]int64, 0, len(some))
		for _, l := range some {
			if !s.held.segments[lane].has(l.id.number()) {
				lookups = append(lookups, [2]int64{l.key, int64(l.id)})
				s.unlisted[lane].add(l.id.number()) // if this fails nothing is rewritten
			}
		}
		return t.removeLookups(lookups)
	})
}

// rewrite writes packs anew without their dead segments. A pack may hold more by
// now than when it was looked at. Of packs that lie next to each other full ones
// are made, as far as there is enough left. It says for how many there was time.
func (t *tx) rewrite(lane int, group []packWork, dead bitset) (done int, err error) {
	r := &rewriter{t: t, lane: lane, dead: dead}
	for done < len(group) && (done == 0 || !t.enough()) {
		w := group[done]
		done++
		p, err := readPack(context.Background(), t.st, t.w.codec, idIn(lane, w.first))
		switch {
		case errors.Is(err, errSegment), errors.Is(err, errPack): // merged meanwhile, or damaged
			continue
		case err != nil:
			return done, err
		}
		if p.first != w.first { // merged into another meanwhile
			continue
		}
		if err := r.take(p); err != nil {
			return done, err
		}
	}
	if err := r.flush(); err != nil {
		return done, err
	}
	return done, r.unsettle()
}

type rewriter struct {
	t       *tx
	lane    int
	dead    bitset
	first   int64 // of what is not written yet
	lengths []int
	data    []byte
	last    int64 // first of the last pack taken
}

// maxGap is how many dead segments may lie between two that share a pack: each
// takes a byte.
const maxGap = 512

// take removes a pack and keeps what lives of it.
func (r *rewriter) take(p *pack) error {
	if err := r.adjoin(p.first); err != nil {
		return err
	}
	if _, err := r.t.st.exec("DELETE FROM "+packTables[r.lane]+" WHERE first = ?", p.first); err != nil {
		return err
	}
	r.last = max(r.last, p.first)
	for n := p.first; n <= p.last(); n++ {
		data, ok := p.segment(idIn(r.lane, n))
		if !ok || r.dead.has(n) {
			continue
		}
		if err := r.add(n, data); err != nil {
			return err
		}
	}
	return nil
}

// adjoin ends the pack that is being made if another one lies between it and
// first: a segment is looked for in the last pack that begins before it.
func (r *rewriter) adjoin(first int64) error {
	if len(r.lengths) == 0 {
		return nil
	}
	between, err := r.t.exists("SELECT 1 FROM "+packTables[r.lane]+" WHERE first >= ? AND first < ? LIMIT 1", r.first+int64(len(r.lengths)), first)
	if err != nil || !between {
		return err
	}
	return r.flush()
}

func (r *rewriter) add(n int64, data []byte) error {
	next := r.first + int64(len(r.lengths))
	if len(r.lengths) > 0 && (n-next > maxGap || len(r.data)+len(data) > pendingLimit || len(data) >= largeSegment) {
		if err := r.flush(); err != nil {
			return err
		}
	}
	if len(r.lengths) == 0 {
		r.first, next = n, n
	}
	for ; next < n; next++ {
		r.lengths = append(r.lengths, 0)
	}
	r.lengths = append(r.lengths, len(data))
	r.data = append(r.data, data...)
	if len(r.data) >= fullPack {
		return r.flush()
	}
	return nil
}

func (r *rewriter) flush() error {
	if len(r.lengths) == 0 {
		return nil
	}
	row := packRow(r.first, r.lengths, r.data, r.t.w.codec.inBlocks)
	r.lengths, r.data = r.lengths[:0], r.data[:0]
	return r.t.w.lanes[r.lane].insert(row)
}

// unsettle tells writers that packs have changed that they may be about to
// merge: those at the end of the lane.
func (r *rewriter) unsettle() error {
	later, err := r.t.exists("SELECT 1 FROM "+packTables[r.lane]+" WHERE first > ? LIMIT 1 OFFSET ?", r.last, maxLoose)
	if err != nil || later {
		return err
	}
	return r.t.removed()
}
