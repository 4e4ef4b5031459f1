package segment

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

const (
	// maxPart bounds a segment: larger parts are cut.
	maxPart = 1 << 20
	// manyParts is where PutBody begins to join parts up to largeSegment, so
	// that a recipe stays within maxSegments.
	manyParts = 1 << 20
)

// Index finds stored segments by their bytes.
type Index interface {
	// FindSegments calls f for the ids that data may have, the newest first, until f
	// returns true.
	FindSegments(data []byte, f func(ID) bool) error
	// AddSegment makes FindSegments find a segment that FindSegments was just asked
	// for.
	AddSegment(data []byte, id ID)
}

// Writer stores bodies. It remembers from one transaction to the next what was
// stored last.
type Writer struct {
	Rows    RowWriter
	Index   Index
	Streams [2]*Stream
	Known   *Known
	Recent  *Recent
	scratch []byte
	// reader sees what the transaction has written.
	Reader *Reader
	// next returns a new number for a body.
	Next func() int64
}

// Put stores a body and returns its id.
func (p *Writer) Put(parts iter.Seq2[transcript.Segment, error]) (transcript.BodyID, error) {
	b := &bodyWriter{Writer: p, firstFresh: [2]int64{p.Streams[Parts].Next, p.Streams[Wholes].Next}}
	for part, err := range parts {
		if err != nil {
			return 0, fmt.Errorf("read body: %w", err)
		}
		if err := b.add(part); err != nil {
			return 0, fmt.Errorf("store body: %w", err)
		}
	}
	id, err := b.finish()
	if err != nil {
		return 0, fmt.Errorf("store body: %w", err)
	}
	return id, nil
}

// bodyWriter turns parts into segments and their list into a recipe.
type bodyWriter struct {
	*Writer
	ids        []ID
	size       int64
	first      []byte // the first part, until a second one comes
	joined     []byte // parts that will be one segment
	before     *knownSegment
	firstFresh [2]int64 // by stream
}

func (b *bodyWriter) add(p transcript.Segment) error {
	for len(p.Bytes) > maxPart {
		if err := b.addOne(transcript.Segment{Bytes: p.Bytes[:maxPart]}); err != nil {
			return err
		}
		p = transcript.Segment{Bytes: p.Bytes[maxPart:]}
	}
	if len(p.Bytes) == 0 {
		return nil
	}
	return b.addOne(p)
}

func (b *bodyWriter) addOne(p transcript.Segment) error {
	part := p.Bytes
	b.size += int64(len(part))
	switch {
	case len(b.ids) >= manyParts:
		b.joined = append(b.joined, part...)
		if len(b.joined) < LargeSegment {
			return nil
		}
		return b.storeJoined()
	case b.size == int64(len(part)): // which stream it is for shows when a second one comes
		b.first = append(b.scratch[:0], part...)
		b.scratch = b.first
		return nil
	}
	if err := b.storeFirst(Parts); err != nil {
		return err
	}
	return b.store(p, Parts)
}

func (b *bodyWriter) storeFirst(stream int) error {
	if b.first == nil {
		return nil
	}
	first := b.first
	b.first = nil
	return b.store(transcript.Segment{Bytes: first}, stream)
}

func (b *bodyWriter) storeJoined() error {
	if len(b.joined) == 0 {
		return nil
	}
	for part := range chunksOf(b.joined, maxPart) {
		if err := b.store(transcript.Segment{Bytes: part}, Parts); err != nil {
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
func (b *bodyWriter) store(p transcript.Segment, stream int) error {
	if len(b.ids) >= maxSegments {
		return fmt.Errorf("more than %d segments", maxSegments)
	}
	resent := stream == Parts
	if len(p.Bytes) >= LargeSegment {
		stream = Wholes
	}
	if s := b.Known.find(b.before, p); s != nil {
		b.ids, b.before = append(b.ids, s.id), s
		return nil
	}
	id, err := b.segment(p.Bytes, stream)
	if err != nil {
		return err
	}
	b.ids = append(b.ids, id)
	if resent {
		b.before = b.Known.remember(b.before, id, p)
	}
	return nil
}

// segment looks the bytes up in the database and stores them if they are new.
func (p *Writer) segment(data []byte, stream int) (ID, error) {
	found := ID(-1)
	err := p.Index.FindSegments(data, func(id ID) bool {
		held, err := p.Reader.Pack(context.Background(), id)
		if err != nil { // damaged: the bytes are stored again
			return false
		}
		if stored, ok := held.Segment(id); ok && bytes.Equal(stored, data) {
			found = id
		}
		return found >= 0
	})
	if found >= 0 || err != nil {
		return found, err
	}
	id, err := p.Streams[stream].add(data)
	if err == nil {
		p.Index.AddSegment(data, id)
	}
	return id, err
}

// finish writes the recipe.
func (b *bodyWriter) finish() (transcript.BodyID, error) {
	if err := b.storeFirst(Wholes); err != nil {
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
	n, err := b.putRecipe(b.ids, b.fresh(), b.size)
	return bodyOfRecipe(n), err
}

// putRecipe stores the list of segments of a body as a delta against the body
// that it most likely grew from. fresh are those of its segments that are new.
func (p *Writer) putRecipe(ids, fresh []ID, size int64) (int64, error) {
	like := p.Recent.like(ids)
	if like != nil && slices.Equal(like.ids, ids) {
		return like.n, nil
	}
	base, err := p.baseAfter(like)
	if err != nil {
		return 0, err
	}
	body := &recentBody{ids: ids}
	var against []ID
	if base != nil {
		body.base, body.step, against = base.n, like.step+1, base.ids
	}
	recipe, own := encodeRecipe(against, ids)
	if base != nil && own > len(ids)/2 { // too different: begin anew
		body.base, body.step = 0, 0
		recipe, _ = encodeRecipe(nil, ids)
	}
	body.n = p.Next()
	err = p.Rows.PutRecipe(body.n, size, Recipe{body.base, body.step, recipe})
	if err != nil {
		return 0, err
	}
	p.Recent.remember(body, fresh)
	return body.n, nil
}

// fresh lists the segments that this body introduced.
func (b *bodyWriter) fresh() []ID {
	var fresh []ID
	for _, id := range b.ids {
		if id.Number() >= b.firstFresh[id.Stream()] {
			fresh = append(fresh, id)
		}
	}
	return fresh
}

// baseAfter returns the base for the body that comes after last in its chain: the
// one whose step is the next step without its lowest bit. It is one of last's
// own bases, so that every recipe is at most log n deltas away.
func (p *Writer) baseAfter(last *recentBody) (*recentBody, error) {
	if last == nil {
		return nil, nil
	}
	want := last.step & (last.step + 1)
	b := last
	for b.step > want && b.base != 0 {
		next := p.Recent.byN[b.base]
		if next == nil {
			row, err := p.Reader.Recipes.Row(context.Background(), p.Rows, b.base)
			if err != nil {
				return nil, fmt.Errorf("read recipe %d: %w", b.base, err)
			}
			next = &recentBody{n: b.base, base: row.Base, step: row.Step}
		}
		b = next
	}
	if b.ids == nil {
		list, err := p.Reader.recipe(context.Background(), b.n)
		if err != nil {
			return nil, err
		}
		b.ids = list.All()
	}
	return b, nil
}
