package segment

import (
	"context"
	"fmt"
)

const (
	LargeSegment = 64 << 10  // from here on a segment has a pack to itself
	FullPack     = 128 << 10 // small packs are merged when together they hold this much
	PendingLimit = 256 << 10 // new segments are written out when they hold this much
	MaxSmall     = 64        // or when there are so many of them
)

// Stream writes new segments of one sequence. It belongs to the writer.
type Stream struct {
	Number  int
	Codec   *Codec
	Rows    RowWriter
	Next    int64  // number of the next segment
	data    []byte // the pending segments: those that are in no pack yet
	lengths []int
	small   []smallPack // the last packs, without gaps up to the pending segments
	Written int64       // bytes of packs in this transaction
}

// smallPack is a pack that will be merged. It is not compressed: to compress few
// bytes costs as much as many. What this process has packed itself is kept as it
// was until then: less than fullPack in all.
type smallPack struct {
	first, count, bytes int64
	lengths             []int // nil if it is to be read
	data                []byte
}

// Load prepares the stream for a transaction in which next is the next number.
func (l *Stream) Load(next int64) error {
	l.data, l.lengths, l.Written = l.data[:0], l.lengths[:0], 0
	if l.Next == next {
		return nil
	}
	l.Next, l.small = next, nil
	want := next
	err := l.Rows.LastPacks(context.Background(), l.Number, MaxSmall, func(first, count, bytes int64) bool {
		if first+count != want || bytes >= LargeSegment {
			return false
		}
		want = first
		l.small = append([]smallPack{{first: first, count: count, bytes: bytes}}, l.small...)
		return true
	})
	if err != nil {
		return fmt.Errorf("read small packs: %w", err)
	}
	return nil
}

// Forget makes the next load read everything again.
func (l *Stream) Forget() { l.Next, l.small = -1, nil }

// add returns a segment its id and keeps a copy of it until flush.
func (l *Stream) add(data []byte) (ID, error) {
	large := len(data) >= LargeSegment
	if large || len(l.data)+len(data) > PendingLimit {
		if err := l.Flush(); err != nil {
			return 0, err
		}
	}
	id := IDIn(l.Number, l.Next)
	if large {
		l.Next++
		l.small = nil
		return id, l.Insert(NewRow(id.Number(), []int{len(data)}, data, l.Codec.whole))
	}
	l.Next++
	l.data = append(l.data, data...)
	l.lengths = append(l.lengths, len(data))
	return id, nil
}

// Flush writes the pending segments as a pack: a small one if they are few, or
// together with the small ones before.
func (l *Stream) Flush() error {
	if len(l.lengths) == 0 {
		return nil
	}
	total := int64(len(l.data))
	for _, p := range l.small {
		total += p.bytes
	}
	if total < FullPack && len(l.small) < MaxSmall {
		return l.merge(len(l.small), stored)
	}
	return l.merge(0, l.Codec.InBlocks)
}

// Settle compresses the small packs that this process has left, as one.
func (l *Stream) Settle() error {
	if n := len(l.small); n == 0 || l.small[n-1].lengths == nil {
		return nil
	}
	return l.merge(0, l.Codec.InBlocks)
}

// merge writes the pending segments as one pack with the small ones from the n-th on.
func (l *Stream) merge(n int, compress func([]byte) []byte) error {
	p, err := l.takeSmall(n)
	if err != nil {
		return fmt.Errorf("merge packs: %w", err)
	}
	if err := l.Insert(NewRow(p.first, p.lengths, p.data, compress)); err != nil {
		return err
	}
	if l.small = l.small[:n]; n > 0 || p.bytes < FullPack {
		l.small = append(l.small, p)
	}
	l.data, l.lengths = l.data[:0], l.lengths[:0]
	return nil
}

// takeSmall deletes the small packs from the n-th on and returns what they hold,
// with the pending segments after it.
func (l *Stream) takeSmall(n int) (all smallPack, err error) {
	taken := l.small[n:]
	all = smallPack{first: l.Next - int64(len(l.lengths)), count: int64(len(l.lengths)), bytes: int64(len(l.data))}
	for _, p := range taken {
		all.count, all.bytes = all.count+p.count, all.bytes+p.bytes
	}
	all.lengths, all.data = make([]int, 0, all.count), make([]byte, 0, all.bytes)
	for _, small := range taken {
		if small.lengths != nil {
			all.lengths, all.data = append(all.lengths, small.lengths...), append(all.data, small.data...)
			continue
		}
		p, err := ReadPack(context.Background(), l.Rows, l.Codec, IDIn(l.Number, small.first))
		if err != nil {
			return all, err
		}
		start := 0
		for _, end := range p.ends {
			all.lengths = append(all.lengths, end-start)
			start = end
		}
		all.data = append(all.data, p.data...)
	}
	if len(taken) > 0 {
		all.first = taken[0].first
		err = l.Rows.DeletePacks(l.Number, all.first, taken[len(taken)-1].first)
	}
	all.lengths, all.data = append(all.lengths, l.lengths...), append(all.data, l.data...)
	return all, err
}

// Insert writes a pack.
func (l *Stream) Insert(row Row) error {
	l.Written += int64(len(row.Data))
	if err := l.Rows.PutPack(l.Number, row); err != nil {
		return fmt.Errorf("store pack: %w", err)
	}
	return nil
}

// Pending returns the pending segments as a pack if id is one of them.
func (l *Stream) Pending(id ID) *Pack {
	first := l.Next - int64(len(l.lengths))
	if id.Stream() != l.Number || id.Number() < first || id.Number() >= l.Next {
		return nil
	}
	p := &Pack{stream: l.Number, First: first, data: l.data}
	end := 0
	for _, n := range l.lengths {
		end += n
		p.ends = append(p.ends, end)
	}
	return p
}
