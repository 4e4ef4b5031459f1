package segment

import (
	"context"
	"errors"
)

// Work is a pack that is to be removed or written anew.
type Work struct {
	First, Bytes int64
}

// Rewrite writes packs anew without their dead segments. A pack may hold more by
// now than when it was looked at. Of packs that lie next to each other full ones
// are made, as far as there is enough left. It returns for how many there was time
// until enough said so, and whether some are at the end of the stream, so that
// writers may be about to merge them.
func (p *Writer) Rewrite(stream int, group []Work, dead Bitset, enough func() bool) (done int, last bool, err error) {
	r := &rewriter{to: p.Streams[stream], dead: dead}
	for done < len(group) && (done == 0 || !enough()) {
		w := group[done]
		done++
		old, err := ReadPack(context.Background(), p.Rows, r.to.Codec, IDIn(stream, w.First))
		switch {
		case errors.Is(err, ErrSegment), errors.Is(err, ErrPack): // merged meanwhile, or damaged
			continue
		case err != nil:
			return done, false, err
		}
		if old.First != w.First { // merged into another meanwhile
			continue
		}
		if err := r.take(old); err != nil {
			return done, false, err
		}
	}
	if err := r.flush(); err != nil {
		return done, false, err
	}
	later, err := p.Rows.PackSizes(context.Background(), stream, r.last, MaxSmall+1)
	return done, len(later) <= MaxSmall, err
}

type rewriter struct {
	to      *Stream
	dead    Bitset
	first   int64 // of what is not written yet
	lengths []int
	data    []byte
	last    int64 // first of the last pack taken
}

// maxGap is how many dead segments may lie between two that share a pack: each
// takes a byte.
const maxGap = 512

// take removes a pack and keeps what lives of it.
func (r *rewriter) take(p *Pack) error {
	if err := r.adjoin(p.First); err != nil {
		return err
	}
	if err := r.to.Rows.DeletePacks(r.to.Number, p.First, p.First); err != nil {
		return err
	}
	r.last = max(r.last, p.First)
	for n := p.First; n <= p.Last(); n++ {
		data, ok := p.Segment(IDIn(r.to.Number, n))
		if !ok || r.dead.Has(n) {
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
	next, err := r.to.Rows.PackSizes(context.Background(), r.to.Number, r.first+int64(len(r.lengths))-1, 1)
	if err != nil || len(next) == 0 || next[0].First >= first {
		return err
	}
	return r.flush()
}

func (r *rewriter) add(n int64, data []byte) error {
	next := r.first + int64(len(r.lengths))
	if len(r.lengths) > 0 && (n-next > maxGap || len(r.data)+len(data) > PendingLimit || len(data) >= LargeSegment) {
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
	if len(r.data) >= FullPack {
		return r.flush()
	}
	return nil
}

func (r *rewriter) flush() error {
	if len(r.lengths) == 0 {
		return nil
	}
	row := NewRow(r.first, r.lengths, r.data, r.to.Codec.InBlocks)
	r.lengths, r.data = r.lengths[:0], r.data[:0]
	return r.to.Insert(row)
}
