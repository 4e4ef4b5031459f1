package segment

import (
	"bytes"
	"hash/maphash"

	"github.com/retake-debugger/retake/transcript"
)

// segmentOverhead is about what remembering a segment costs beside its bytes.
const segmentOverhead = 160

// knownSegment is a segment whose bytes are remembered.
type knownSegment struct {
	id   ID
	data []byte // nil once it is forgotten
	same any    // transcript.Piece.Same of a part with these bytes
	hash uint64
	used bool
	next *knownSegment // the one that came after it last time
}

// Known remembers the bytes of the segments used last, so that history that is
// sent again is recognised by comparing bytes: the segment that followed last
// time most likely follows again, and is not even hashed.
type Known struct {
	limit, size int
	seed        maphash.Seed
	byHash      map[uint64]*knownSegment
	queue       []*knownSegment // oldest first; a used one gets a second chance
}

// NewKnown remembers at most limit bytes.
func NewKnown(limit int) *Known {
	return &Known{limit: limit, seed: maphash.MakeSeed(), byHash: map[uint64]*knownSegment{}}
}

// Forget drops everything.
func (k *Known) Forget() {
	k.size, k.queue = 0, nil
	clear(k.byHash)
}

// find returns the remembered segment of a part's bytes, or nil. before is the
// segment that came before, if there is one.
func (k *Known) find(before *knownSegment, p transcript.Segment) *knownSegment {
	if before != nil && before.next != nil && before.next.is(p) {
		before.next.used = true
		return before.next
	}
	s := k.byHash[maphash.Bytes(k.seed, p.Bytes)]
	if s == nil || !s.is(p) {
		return nil
	}
	s.used = true
	if before != nil {
		before.next = s
	}
	return s
}

// is reports whether a part has the segment's bytes.
func (s *knownSegment) is(p transcript.Segment) bool {
	if len(s.data) != len(p.Bytes) {
		return false
	}
	if p.Same != nil && s.same == p.Same {
		return true
	}
	if !bytes.Equal(s.data, p.Bytes) {
		return false
	}
	if p.Same != nil {
		s.same = p.Same
	}
	return true
}

// remember keeps a copy of a part.
func (k *Known) remember(before *knownSegment, id ID, p transcript.Segment) *knownSegment {
	if len(p.Bytes) > k.limit/8 {
		return nil
	}
	s := &knownSegment{id: id, data: bytes.Clone(p.Bytes), same: p.Same, hash: maphash.Bytes(k.seed, p.Bytes)}
	if before != nil {
		before.next = s
	}
	k.byHash[s.hash] = s
	k.queue = append(k.queue, s)
	k.size += len(p.Bytes) + segmentOverhead
	for k.size > k.limit {
		k.evict()
	}
	return s
}

func (k *Known) evict() {
	s := k.queue[0]
	k.queue[0] = nil
	k.queue = k.queue[1:]
	if s.used {
		s.used = false
		k.queue = append(k.queue, s)
		return
	}
	k.size -= len(s.data) + segmentOverhead
	if k.byHash[s.hash] == s {
		delete(k.byHash, s.hash)
	}
	s.data, s.same, s.next = nil, nil, nil
}
