package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/retake-debugger/retake/store/varint"
)

// packSize is a pack without its data.
type packSize struct {
	first, count, bytes, stored int64
	lengths                     []byte
}

// segments calls f for each segment that the pack holds.
func (p *packSize) segments(f func(number, bytes int64)) error {
	v := varint.Reader{B: p.lengths}
	for n := p.first; len(v.B) > 0; n++ {
		if bytes := v.Uint(maxPack); bytes > 0 {
			f(n, int64(bytes))
		}
	}
	if v.Bad {
		return errPack
	}
	return nil
}

// share is what so many of the pack's bytes take up in the file.
func (p *packSize) share(bytes int64) int64 {
	if p.bytes <= 0 {
		return 0
	}
	return int64(float64(p.stored) * float64(bytes) / float64(p.bytes))
}

// listedPacks is how many packs are read at once.
const listedPacks = 500

// eachPack calls f for the packs of a lane in order.
func eachPack(ctx context.Context, st *statements, lane int, f func(*packSize) error) error {
	query := "SELECT first, count, bytes, lengths, length(data) + length(lengths) FROM " + packTables[lane] + " WHERE first > ? ORDER BY first LIMIT ?"
	after := int64(-1)
	for {
		var list []*packSize
		err := st.rows(ctx, query, []any{after, listedPacks}, func(row *sql.Rows) error {
			p := &packSize{}
			err := row.Scan(&p.first, &p.count, &p.bytes, &p.lengths, &p.stored)
			list = append(list, p)
			return err
		})
		if err != nil {
			return fmt.Errorf("list packs: %w", err)
		}
		for _, p := range list {
			if err := f(p); err != nil {
				return fmt.Errorf("look at %s %d: %w", packTables[lane], p.first, err)
			}
			after = p.first
		}
		if len(list) < listedPacks {
			return nil
		}
	}
}
