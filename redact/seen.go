package redact

import "hash/maphash"

// seen remembers texts by their hashes: the last mostSeen at least, and at most twice
// as many.
type seen struct {
	seed        maphash.Seed
	now, before map[uint64]struct{}
}

const mostSeen = 1 << 16

func newSeen() seen {
	return seen{seed: maphash.MakeSeed(), now: map[uint64]struct{}{}}
}

func (s *seen) hash(text string) uint64 { return maphash.String(s.seed, text) }

// has reports whether the text is known, and keeps it known.
func (s *seen) has(hash uint64) bool {
	if _, ok := s.now[hash]; ok {
		return true
	}
	if _, ok := s.before[hash]; !ok {
		return false
	}
	s.add(hash)
	return true
}

func (s *seen) add(hash uint64) {
	if len(s.now) >= mostSeen {
		s.before, s.now = s.now, make(map[uint64]struct{}, mostSeen)
	}
	s.now[hash] = struct{}{}
}
