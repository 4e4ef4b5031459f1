package segment

import (
	"context"
	"fmt"
	"math"
)

// Rows reads the rows of packs and recipes. A second engine implements it and
// RowWriter, and shares all else.
type Rows interface {
	// Pack calls f for the last pack of a stream that begins at that number or
	// before it, if there is one. What f gets is valid until it returns.
	Pack(ctx context.Context, stream int, number int64, f func(Row) error) error
	// PackSizes lists packs that begin after a number, in order, at most limit.
	PackSizes(ctx context.Context, stream int, after int64, limit int) ([]*PackInfo, error)
	// LastPacks calls f for packs of a stream, the last one first, until it
	// returns false, at most limit times.
	LastPacks(ctx context.Context, stream int, limit int, f func(first, count, bytes int64) bool) error
	// Recipes calls f for the recipes from number n on, in order, at most limit.
	// What f gets is its own.
	Recipes(ctx context.Context, n int64, limit int, f func(n int64, r Recipe)) error
}

// RowWriter writes the rows of packs and recipes, in a transaction.
type RowWriter interface {
	Rows
	// PutPack stores a new pack.
	PutPack(stream int, row Row) error
	// DeletePacks deletes the packs that begin from first to last.
	DeletePacks(stream int, first, last int64) error
	// PutRecipe stores the recipe of body n, which is so long.
	PutRecipe(n, size int64, r Recipe) error
}

// ReadPack reads the pack that holds a segment.
func ReadPack(ctx context.Context, from Rows, c *Codec, id ID) (*Pack, error) {
	return ReadPackTo(ctx, from, c, id, math.MaxInt64)
}

// ReadPackTo unpacks no more of it than what holds the segment of a number.
func ReadPackTo(ctx context.Context, from Rows, c *Codec, id ID, number int64) (*Pack, error) {
	var p *Pack
	err := from.Pack(ctx, id.Stream(), id.Number(), func(row Row) (err error) {
		if p, err = c.unpackTo(id.Stream(), row, number); err != nil {
			return fmt.Errorf("unpack %s %d: %w", streamNames[id.Stream()], row.First, err)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read pack: %w", err)
	}
	if p == nil {
		return nil, fmt.Errorf("segment %d: %w", id, ErrSegment)
	}
	if _, ok := p.Segment(id); !ok {
		return nil, fmt.Errorf("segment %d: %w", id, ErrSegment)
	}
	return p, nil
}

// listedPacks is how many packs are listed at once.
const listedPacks = 500

// EachPack calls f for the packs of a stream in order.
func EachPack(ctx context.Context, from Rows, stream int, f func(*PackInfo) error) error {
	for after := int64(-1); ; {
		list, err := from.PackSizes(ctx, stream, after, listedPacks)
		if err != nil {
			return fmt.Errorf("list packs: %w", err)
		}
		for _, p := range list {
			if err := f(p); err != nil {
				return fmt.Errorf("look at %s %d: %w", streamNames[stream], p.First, err)
			}
			after = p.First
		}
		if len(list) < listedPacks {
			return nil
		}
	}
}
