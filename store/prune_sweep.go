package store

import (
	"cmp"
	"context"
	"errors"
	"github.com/retake-debugger/retake/store/segment"
	"slices"
)

// sweep removes what no exchange holds, while others write.
//
// Others can make dead things live again: a writer remembers segments, recipes
// and header sets, and finds segments by lookups. So first every writer is told
// to forget. After that a recipe that no exchange holds stays dead, since bases are
// taken from memory alone, and a dead segment can be found by its lookup only.
// The lookups are deleted next, each in a transaction that has looked at all
// exchanges there are. A segment without a lookup stays dead, and its bytes can
// be removed at leisure. What is broken off in between is found dead again.
func (p *pruning) sweep() error {
	s := &sweep{pruning: p}
	if err := p.db.st.row(p.ctx, "SELECT salt FROM state", nil, &s.lookup.salt); err != nil {
		return err
	}
	if err := s.reachable.catchUp(p.ctx, &p.db.reader, s.looked); err != nil {
		return err
	}
	found, err := findGarbage(p.ctx, p.db.st, &s.reachable)
	if err != nil || found.empty() {
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	for stream := range packTables {
		s.total += int64(len(found.packs[stream]))
	}
	if err := s.recipes(found.recipes); err != nil {
		return err
	}
	if err := s.headers(found.headers); err != nil {
		return err
	}
	for stream, packs := range found.packs {
		for len(packs) > 0 {
			group, rest := cutWork(packs, unlistBytes)
			if err := s.packs(stream, group); err != nil {
				return err
			}
			packs = rest
		}
	}
	return nil
}

type sweep struct {
	*pruning
	reachable   reachable
	unlisted    [2]segment.Bitset // dead segments whose lookups are gone, by stream
	lookup      lookup            // for its keys alone
	done, total int64
}

func (s *sweep) looked(n int64) {
	s.progress(PruneProgress{"history", n, 0})
}

// cutWork takes the first packs that together hold about so many bytes.
func cutWork(packs []segment.Work, bytes int64) (group, rest []segment.Work) {
	n := 0
	for bytes > 0 && n < len(packs) {
		bytes -= packs[n].Bytes + 1
		n++
	}
	return packs[:n], packs[n:]
}

// settled runs a transaction that has looked at all exchanges.
func (s *sweep) settled(f func(*tx) error) error {
	return s.change(func(t *tx) error {
		if err := s.reachable.catchUp(context.Background(), &t.reader, nil); err != nil {
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
	return s.delete("DELETE FROM body WHERE n IN "+gone, dead, &s.reachable.Recipes)
}

func (s *sweep) headers(dead []int64) error {
	return s.delete("DELETE FROM header_set WHERE id IN "+gone, dead, &s.reachable.headers)
}

// delete deletes rows but for those that are held by now.
func (s *sweep) delete(query string, dead []int64, held *segment.Bitset) error {
	return inSteps(s.settled, dead, deadBatch, func(t *tx, some []int64) error {
		_, err := t.st.exec(query, inJSON(slices.DeleteFunc(some, held.Has)))
		return err
	})
}

// packs removes the dead segments of some packs: first their lookups, then
// their bytes.
func (s *sweep) packs(stream int, group []segment.Work) error {
	if err := s.unlist(stream, group); err != nil {
		return err
	}
	for len(group) > 0 {
		var done int
		err := s.change(func(t *tx) (err error) {
			var last bool
			done, last, err = t.w.bodies.Rewrite(stream, group, s.unlisted[stream], t.enough)
			if err != nil || !last {
				return err
			}
			return t.removed() // writers may be about to merge what has changed
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
	id  segment.ID
}

// unlist deletes the lookups of the dead segments of some packs. A pack that
// is damaged, or was merged into another meanwhile, has none that are known.
func (s *sweep) unlist(stream int, group []segment.Work) error {
	var list []listed
	for _, w := range group {
		unpacked, err := segment.ReadPack(s.ctx, segmentRows{s.db.st}, s.db.codec, segment.IDIn(stream, w.First))
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		if err != nil && !errors.Is(err, segment.ErrSegment) && !errors.Is(err, segment.ErrPack) {
			return err
		}
		if err != nil || unpacked.First != w.First {
			continue
		}
		for n := unpacked.First; n <= unpacked.Last(); n++ {
			id := segment.IDIn(stream, n)
			if data, ok := unpacked.Segment(id); ok && !s.reachable.Segments[stream].Has(n) {
				list = append(list, listed{s.lookup.key(findSegment, data), id})
			}
		}
	}
	slices.SortFunc(list, func(a, b listed) int { return cmp.Compare(a.key, b.key) })
	return inSteps(s.settled, list, deadBatch, func(t *tx, some []listed) error {
		lookups := make([][2]int64, 0, len(some))
		for _, l := range some {
			if !s.reachable.Segments[stream].Has(l.id.Number()) {
				lookups = append(lookups, [2]int64{l.key, int64(l.id)})
				s.unlisted[stream].Add(l.id.Number()) // if this fails nothing is rewritten
			}
		}
		return t.removeLookups(lookups)
	})
}
