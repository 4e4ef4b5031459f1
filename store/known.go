package store

import (
	"bytes"
	"hash/maphash"
)

// segmentOverhead is about what remembering a segment costs beside its bytes.
const segmentOverhead = 160

// knownSegment is a segment whose bytes are remembered.
type knownSegment struct {
	id   segmentID
	data []byte // nil once it is forgotten
	hash uint64
	used bool
	next *knownSegment // the one that came after it last time
}

// known remembers the bytes of the segments used last, so that history that is
// sent again is recognised by comparing bytes: the segment that followed last
// time most likely follows again, and is not even hashed.
type known struct {
	limit, size int
	seed        maphash.Seed
	byHash      map[uint64]*knownSegment
	queue       []*knownSegment // oldest first; a used one gets a second chance
}

func newKnown(limit int) *known {
	return &known{limit: limit, seed: maphash.MakeSeed(), byHash: map[uint64]*knownSegment{}}
}

func (k *known) forget() {
	k.size, k.queue = 0, nil
	clear(k.byHash)
}

// find gives the remembered segment of these bytes, or nil. before is the
// segment that came before, if there is one.
func (k *known) find(before *knownSegment, data []byte) *knownSegment {
	if before != nil && before.next != nil && bytes.Equal(before.next.data, data) {
		before.next.used = true
		return before.next
	}
	s := k.byHash[maphash.Bytes(k.seed, data)]
	if s == nil || !bytes.Equal(s.data, data) {
		return nil
	}
	s.used = true
	if before != nil {
		before.next = s
	}
	return s
}

// remember keeps a copy of data.
func (k *known) remember(before *knownSegment, id segmentID, data []byte) *knownSegment {
	if len(data) > k.limit/8 {
		return nil
	}
	s := &knownSegment{id: id, data: bytes.Clone(data), hash: maphash.Bytes(k.seed, data)}
	if before != nil {
		before.next = s
	}
	k.byHash[s.hash] = s
	k.queue = append(k.queue, s)
	k.size += len(data) + segmentOverhead
	for k.size > k.limit {
		k.evict()
	}
	return s
}

func (k *known) evict() {
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
	s.data, s.next = nil, nil
}
