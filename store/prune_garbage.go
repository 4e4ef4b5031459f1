package store

import (
	"context"
	"database/sql"
	"fmt"
	"github.com/retake-debugger/retake/store/segment"
)

// garbage is what no exchange holds.
type garbage struct {
	recipes []int64           // numbers of bodies
	packs   [2][]segment.Work // by stream
	headers []int64           // ids of header sets
	bytes   int64             // about what it takes up
}

// deadShare: a pack is written anew when one byte in so many is dead. Before,
// it would cost more than it returns.
const deadShare = 4

func (g *garbage) empty() bool {
	return len(g.recipes)+len(g.packs[segment.Parts])+len(g.packs[segment.Wholes])+len(g.headers) == 0
}

// findGarbage looks for what is stored and not held.
func findGarbage(ctx context.Context, st *statements, h *reachable) (*garbage, error) {
	g := &garbage{}
	if err := g.findRecipes(ctx, st, h); err != nil {
		return nil, err
	}
	for stream := range packTables {
		err := segment.EachPack(ctx, segmentRows{st}, stream, func(p *segment.PackInfo) error {
			dead, err := h.Dead(p, stream)
			g.bytes += p.Share(dead)
			if dead > 0 && dead*deadShare >= p.Bytes {
				g.packs[stream] = append(g.packs[stream], segment.Work{First: p.First, Bytes: p.Bytes})
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	// The newest set stays, so that its id is not given out again while
	// a writer remembers it.
	err := st.rows(ctx, "SELECT id FROM header_set WHERE id < (SELECT max(id) FROM header_set)", nil, func(row *sql.Rows) error {
		var id int64
		err := row.Scan(&id)
		if !h.headers.Has(id) {
			g.headers = append(g.headers, id)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list header sets: %w", err)
	}
	return g, nil
}

func (g *garbage) findRecipes(ctx context.Context, st *statements, h *reachable) error {
	for after, more := int64(0), true; more; {
		more = false
		err := st.rows(ctx, "SELECT n, length(recipe) FROM body WHERE n > ? ORDER BY n LIMIT ?", []any{after, holderPage}, func(row *sql.Rows) error {
			var bytes int64
			err := row.Scan(&after, &bytes)
			more = true
			if !h.Recipes.Has(after) {
				g.recipes = append(g.recipes, after)
				g.bytes += bytes
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("list recipes: %w", err)
		}
	}
	return nil
}
