package segment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// MaxChain bounds how many deltas lead to a recipe; steps are numbered as in a
// skip list, so 64 would be 2^64 bodies. More is damage.
const MaxChain = 64

// A BodyID is a segment or a recipe: a body that is one segment needs no recipe.
// Twice a recipe's number is its BodyID, twice a segment's id and one more the
// BodyID of that segment.

func bodyOfRecipe(n int64) transcript.BodyID { return transcript.BodyID(n << 1) }

func bodyOfSegment(id ID) transcript.BodyID { return transcript.BodyID(id<<1 | 1) }

// Reader reads bodies.
type Reader struct {
	Rows    Rows
	Recipes *Recipes // nil in a transaction, which sees what others do not
	// pack returns the unpacked pack that holds a segment.
	Pack func(context.Context, ID) (*Pack, error)
	// beginning may return less of it: up to that segment, which no sum vouches for.
	Beginning func(context.Context, ID) (*Pack, error)
	// damaged marks an error as damage, unless it only says that reading was
	// interrupted.
	Damaged func(error) error
}

// Open opens the exact bytes of a body. They are read from the database as they
// are asked for, without holding a connection in between.
func (r *Reader) Open(ctx context.Context, id transcript.BodyID) (io.ReadCloser, error) {
	return r.openWith(ctx, id, r.Pack)
}

// OpenExcerpt opens a body for a search.
func (r *Reader) OpenExcerpt(ctx context.Context, id transcript.BodyID) (io.ReadCloser, error) {
	return r.openWith(ctx, id, r.Beginning)
}

func (r *Reader) openWith(ctx context.Context, id transcript.BodyID, find func(context.Context, ID) (*Pack, error)) (io.ReadCloser, error) {
	if id == 0 {
		return io.NopCloser(bytes.NewReader(nil)), nil
	}
	list, err := r.list(ctx, id)
	if err == nil && id&1 == 1 {
		if _, e := find(ctx, ID(id>>1)); errors.Is(e, ErrSegment) {
			err = transcript.ErrNotFound
		}
	}
	if err != nil {
		if !errors.Is(err, transcript.ErrNotFound) {
			err = r.Damaged(err)
		}
		return nil, fmt.Errorf("open body %d: %w", id, err)
	}
	return &bodyReader{ctx: ctx, find: find, damaged: r.Damaged, ids: list.All()}, nil
}

// list returns the segments of a body.
func (r *Reader) list(ctx context.Context, id transcript.BodyID) (*List, error) {
	switch {
	case id < 0:
		return nil, transcript.ErrNotFound
	case id == 0:
		return &List{}, nil
	case id&1 == 0:
		return r.recipe(ctx, int64(id>>1))
	}
	list := &List{}
	list.add(ID(id >> 1))
	return list, nil
}

// SegmentsAfter lists the segments of a body after those that it begins with like
// another body.
func (r *Reader) SegmentsAfter(ctx context.Context, id, like transcript.BodyID) (shared int, rest []transcript.BodyID, err error) {
	list, err := r.list(ctx, id)
	if err != nil {
		return 0, nil, fmt.Errorf("list segments of body %d: %w", id, err)
	}
	if like != 0 {
		other, err := r.list(ctx, like)
		if err != nil && !errors.Is(err, transcript.ErrNotFound) {
			return 0, nil, fmt.Errorf("list segments of body %d: %w", like, err)
		}
		if err == nil {
			shared = sharedPrefix(list, other)
		}
	}
	ids := list.behind(shared)
	if len(ids) == 0 {
		return shared, nil, nil
	}
	rest = make([]transcript.BodyID, len(ids))
	for i := range ids {
		rest[i] = bodyOfSegment(ids[i])
	}
	return shared, rest, nil
}

// recipe reads the segments that a recipe lists.
func (r *Reader) recipe(ctx context.Context, n int64) (*List, error) {
	var chain [][]byte
	var numbers []int64
	ids := &List{}
	for n != 0 {
		if known, ok := r.Recipes.find(n); ok {
			ids = known
			break
		}
		row, err := r.Recipes.Row(ctx, r.Rows, n)
		if errors.Is(err, errNoRecipe) && len(chain) == 0 {
			return nil, transcript.ErrNotFound
		}
		if err != nil {
			return nil, fmt.Errorf("read recipe %d: %w", n, err)
		}
		chain, numbers = append(chain, row.Recipe), append(numbers, n)
		if row.Base >= n || len(chain) > MaxChain {
			return nil, ErrRecipe
		}
		n = row.Base
	}
	for i, recipe := range slices.Backward(chain) {
		var err error
		if ids, err = DecodeRecipe(ids, recipe); err != nil {
			return nil, err
		}
		r.Recipes.keep(numbers[i], ids)
	}
	return ids, nil
}

// bodyReader reads the segments of a body one after the other.
type bodyReader struct {
	ctx     context.Context
	find    func(context.Context, ID) (*Pack, error)
	damaged func(error) error
	ids     []ID
	pack    *Pack
	left    []byte // of the segment before ids
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
			if data, ok := b.pack.Segment(id); ok {
				b.left, b.ids = data, b.ids[1:]
				continue
			}
		}
		p, err := b.find(b.ctx, id)
		if err != nil {
			return fmt.Errorf("read body: %w", b.damaged(err))
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
