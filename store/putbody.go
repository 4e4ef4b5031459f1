package store

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

const (
	// maxPiece bounds a segment: larger pieces are cut.
	maxPiece = 1 << 20
	// manyPieces is where PutBody begins to join pieces up to largeSegment, so
	// that a recipe stays within maxSegments.
	manyPieces = 1 << 20
)

// PutBody stores the pieces of a body in order; equal pieces are stored once.
// Memory grows with the number of pieces, not with their bytes.
func (t *tx) PutBody(body iter.Seq2[[]byte, error]) (transcript.BodyID, error) {
	return t.PutSegments(func(yield func(transcript.Segment, error) bool) {
		for piece, err := range body {
			if !yield(transcript.Segment{Bytes: piece}, err) {
				return
			}
		}
	})
}

// PutSegments does the same for pieces of which some are known to be the same.
func (t *tx) PutSegments(body iter.Seq2[transcript.Segment, error]) (transcript.BodyID, error) {
	if err := t.open(); err != nil {
		return 0, err
	}
	b := &bodyWriter{t: t, firstFresh: [2]int64{t.w.lanes[pieces].next, t.w.lanes[wholes].next}}
	for piece, err := range body {
		if err != nil {
			return 0, fmt.Errorf("read body: %w", err)
		}
		if err := b.add(piece); err != nil {
			return 0, fmt.Errorf("store body: %w", err)
		}
	}
	id, err := b.finish()
	if err != nil {
		return 0, fmt.Errorf("store body: %w", err)
	}
	return id, nil
}

// bodyWriter turns pieces into segments and their list into a recipe.
type bodyWriter struct {
	t          *tx
	ids        []segmentID
	size       int64
	first      []byte // the first piece, until a second one comes
	joined     []byte // pieces that will be one segment
	before     *knownSegment
	firstFresh [2]int64 // by lane
}

func (b *bodyWriter) add(p transcript.Segment) error {
	for len(p.Bytes) > maxPiece {
		if err := b.addOne(transcript.Segment{Bytes: p.Bytes[:maxPiece]}); err != nil {
			return err
		}
		p = transcript.Segment{Bytes: p.Bytes[maxPiece:]}
	}
	if len(p.Bytes) == 0 {
		return nil
	}
	return b.addOne(p)
}

func (b *bodyWriter) addOne(p transcript.Segment) error {
	piece := p.Bytes
	b.size += int64(len(piece))
	switch {
	case len(b.ids) >= manyPieces:
		b.joined = append(b.joined, piece...)
		if len(b.joined) < largeSegment {
			return nil
		}
		return b.storeJoined()
	case b.size == int64(len(piece)): // which lane it is for shows when a second one comes
		b.first = append(b.t.w.scratch[:0], piece...)
		b.t.w.scratch = b.first
		return nil
	}
	if err := b.storeFirst(pieces); err != nil {
		return err
	}
	return b.store(p, pieces)
}

func (b *bodyWriter) storeFirst(lane int) error {
	if b.first == nil {
		return nil
	}
	first := b.first
	b.first = nil
	return b.store(transcript.Segment{Bytes: first}, lane)
}

func (b *bodyWriter) storeJoined() error {
	if len(b.joined) == 0 {
		return nil
	}
	for piece := range chunksOf(b.joined, maxPiece) {
		if err := b.store(transcript.Segment{Bytes: piece}, pieces); err != nil {
			return err
		}
	}
	b.joined = b.joined[:0]
	return nil
}

func chunksOf(data []byte, size int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(data) > 0 {
			n := min(size, len(data))
			if !yield(data[:n]) {
				return
			}
			data = data[n:]
		}
	}
}

// store finds the segment of these bytes or makes a new one.
func (b *bodyWriter) store(p transcript.Segment, lane int) error {
	if len(b.ids) >= maxSegments {
		return fmt.Errorf("more than %d segments", maxSegments)
	}
	resent := lane == pieces
	if len(p.Bytes) >= largeSegment {
		lane = wholes
	}
	w := b.t.w
	if s := w.known.find(b.before, p); s != nil {
		b.ids, b.before = append(b.ids, s.id), s
		return nil
	}
	id, err := b.t.segment(p.Bytes, lane)
	if err != nil {
		return err
	}
	b.ids = append(b.ids, id)
	if resent {
		b.before = w.known.remember(b.before, id, p)
	}
	return nil
}

// segment looks the bytes up in the database and stores them if they are new.
func (t *tx) segment(data []byte, lane int) (segmentID, error) {
	key := t.w.lookup.key(findSegment, data)
	found := segmentID(-1)
	err := t.w.lookup.walk(key, noBound, 4, func(target int64) (bool, error) {
		p, err := t.pack(context.Background(), segmentID(target))
		if err != nil { // damaged: the bytes are stored again
			return false, nil
		}
		if stored, ok := p.segment(segmentID(target)); ok && bytes.Equal(stored, data) {
			found = segmentID(target)
		}
		return found >= 0, nil
	})
	if found >= 0 || err != nil {
		return found, err
	}
	id, err := t.w.lanes[lane].add(data)
	if err == nil {
		t.w.lookup.add(key, int64(id))
	}
	return id, err
}

// finish writes the recipe.
func (b *bodyWriter) finish() (transcript.BodyID, error) {
	if err := b.storeFirst(wholes); err != nil {
		return 0, err
	}
	if err := b.storeJoined(); err != nil {
		return 0, err
	}
	switch len(b.ids) {
	case 0:
		return 0, nil
	case 1:
		return bodyOfSegment(b.ids[0]), nil
	}
	n, err := b.t.putRecipe(b.ids, b.fresh(), b.size)
	return bodyOfRecipe(n), err
}

// putRecipe stores the list of segments of a body as a delta against the body
// that it most likely grew from. fresh are those of its segments that are new.
func (t *tx) putRecipe(ids, fresh []segmentID, size int64) (int64, error) {
	w := t.w
	like := w.recent.like(ids)
	if like != nil && slices.Equal(like.ids, ids) {
		return like.n, nil
	}
	base, err := t.baseAfter(like)
	if err != nil {
		return 0, err
	}
	body := &recentBody{ids: ids}
	var against []segmentID
	if base != nil {
		body.base, body.step, against = base.n, like.step+1, base.ids
	}
	recipe, own := encodeRecipe(against, ids)
	if base != nil && own > len(ids)/2 { // too different: begin anew
		body.base, body.step = 0, 0
		recipe, _ = encodeRecipe(nil, ids)
	}
	body.n = w.state.next(&w.state.body)
	err = t.st.run("INSERT INTO body (n, bytes, base, step, recipe) VALUES (?, ?, ?, ?, ?)",
		body.n, size, body.base, body.step, recipe)
	if err != nil {
		return 0, err
	}
	w.recent.remember(body, fresh)
	return body.n, nil
}

// fresh lists the segments that this body brought.
func (b *bodyWriter) fresh() []segmentID {
	var fresh []segmentID
	for _, id := range b.ids {
		if id.number() >= b.firstFresh[id.lane()] {
			fresh = append(fresh, id)
		}
	}
	return fresh
}

// baseAfter gives the base for the body that comes after last in its chain: the
// one whose step is the next step without its lowest bit. It is one of last's
// own bases, so that every recipe is at most log n deltas away.
func (t *tx) baseAfter(last *recentBody) (*recentBody, error) {
	if last == nil {
		return nil, nil
	}
	want := last.step & (last.step + 1)
	b := last
	for b.step > want && b.base != 0 {
		next := t.w.recent.byN[b.base]
		if next == nil {
			next = &recentBody{n: b.base}
			err := t.st.row(context.Background(), "SELECT base, step FROM body WHERE n = ?", []any{b.base}, &next.base, &next.step)
			if err != nil {
				return nil, fmt.Errorf("read recipe %d: %w", b.base, err)
			}
		}
		b = next
	}
	if b.ids == nil {
		list, err := t.recipe(context.Background(), b.n)
		if err != nil {
			return nil, err
		}
		b.ids = list.all()
	}
	return b, nil
}
