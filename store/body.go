package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// maxChain bounds how many deltas lead to a recipe; steps are numbered as in a
// skip list, so 64 would be 2^64 bodies. More is damage.
const maxChain = 64

// A BodyID is a segment or a recipe: a body that is one segment needs no recipe.
// Twice a recipe's number is its BodyID, twice a segment's id and one more the
// BodyID of that segment.

func bodyOfRecipe(n int64) transcript.BodyID { return transcript.BodyID(n << 1) }

func bodyOfSegment(id segmentID) transcript.BodyID { return transcript.BodyID(id<<1 | 1) }

// segments lists the segments of a body.
func (r *reader) segments(ctx context.Context, id transcript.BodyID) ([]segmentID, error) {
	if id < 0 {
		return nil, transcript.ErrNotFound
	}
	if id&1 == 0 {
		list, err := r.recipe(ctx, int64(id>>1))
		if err != nil {
			return nil, err
		}
		return list.all(), nil
	}
	return []segmentID{segmentID(id >> 1)}, nil
}

// Body opens the exact bytes of a body. They are read from the database as they
// are asked for, without holding a connection in between.
func (r *reader) Body(ctx context.Context, id transcript.BodyID) (io.ReadCloser, error) {
	return r.openBody(ctx, id, r.pack)
}

// Excerpt opens a body for a search.
func (r *reader) Excerpt(ctx context.Context, id transcript.BodyID) (io.ReadCloser, error) {
	return r.openBody(ctx, id, r.beginning)
}

func (r *reader) openBody(ctx context.Context, id transcript.BodyID, find func(context.Context, segmentID) (*pack, error)) (io.ReadCloser, error) {
	if id == 0 {
		return io.NopCloser(bytes.NewReader(nil)), nil
	}
	ids, err := r.segments(ctx, id)
	if err == nil && id&1 == 1 {
		if _, e := find(ctx, ids[0]); errors.Is(e, errSegment) {
			err = transcript.ErrNotFound
		}
	}
	if err != nil {
		if !errors.Is(err, transcript.ErrNotFound) {
			err = damaged(err)
		}
		return nil, fmt.Errorf("open body %d: %w", id, err)
	}
	return &bodyReader{ctx: ctx, find: find, ids: ids}, nil
}

// recipe reads the segments that a recipe lists.
func (r *reader) recipe(ctx context.Context, n int64) (*segmentList, error) {
	var chain [][]byte
	var numbers []int64
	ids := &segmentList{}
	for n != 0 {
		if known, ok := r.recipes.find(n); ok {
			ids = known
			break
		}
		base, recipe, err := r.recipeRow(ctx, n)
		if errors.Is(err, sql.ErrNoRows) && len(chain) == 0 {
			return nil, transcript.ErrNotFound
		}
		if err != nil {
			return nil, fmt.Errorf("read recipe %d: %w", n, err)
		}
		chain, numbers = append(chain, recipe), append(numbers, n)
		if base >= n || len(chain) > maxChain {
			return nil, errRecipe
		}
		n = base
	}
	for i, recipe := range slices.Backward(chain) {
		var err error
		if ids, err = decodeRecipe(ids, recipe); err != nil {
			return nil, err
		}
		r.recipes.keep(numbers[i], ids)
	}
	return ids, nil
}

// bodyReader reads the segments of a body one after the other.
type bodyReader struct {
	ctx  context.Context
	find func(context.Context, segmentID) (*pack, error)
	ids  []segmentID
	pack *pack
	left []byte // of the segment before ids
}

// Read reads on.
func (b *bodyReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if err := b.fill(); err != nil {
			if n > 0 {
				return n, nil
			}
			return 0, err
		}
		m := copy(p[n:], b.left)
		b.left = b.left[m:]
		n += m
	}
	return n, nil
}

// WriteTo writes the rest, segment by segment.
func (b *bodyReader) WriteTo(w io.Writer) (int64, error) {
	total := int64(0)
	for {
		if err := b.fill(); err == io.EOF {
			return total, nil
		} else if err != nil {
			return total, err
		}
		n, err := w.Write(b.left)
		total += int64(n)
		b.left = b.left[n:]
		if err != nil {
			return total, err
		}
	}
}

// fill makes sure that left holds something; io.EOF at the end.
func (b *bodyReader) fill() error {
	for len(b.left) == 0 {
		if len(b.ids) == 0 {
			return io.EOF
		}
		id := b.ids[0]
		if b.pack != nil {
			if data, ok := b.pack.segment(id); ok {
				b.left, b.ids = data, b.ids[1:]
				continue
			}
		}
		p, err := b.find(b.ctx, id)
		if err != nil {
			return fmt.Errorf("read body: %w", damaged(err))
		}
		b.pack = p
	}
	return nil
}

// Close ends reading.
func (b *bodyReader) Close() error {
	b.ids, b.left, b.pack = nil, nil, nil
	return nil
}
