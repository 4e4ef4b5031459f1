package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Selection reports which exchanges Prune removes: those that began before a time
// (or ended, if their begin is unknown), or the oldest ones until the database is small enough, or named ones.
type Selection struct {
	Before   time.Time
	MaxBytes int64
	KeepRuns int
	Numbers  []int64
	Runs     []string // ids
}

// Plan is what a prune would do.
type Plan struct {
	Numbers []int64 // of the exchanges that go, ascending
	Total   int64   // exchanges that are stored
	Pinned  int64   // exchanges that were selected and stay, as their runs are pinned
	Undated int64   // exchanges that stay, as their time is unknown: of a selection by time
	Bytes   int64   // about what they take up and no other exchange needs
	Size    int64   // of the database, without what is free in it
	Free    int64   // what is free in it, which goes back too
	// Estimated: how many go is not known before they have gone, as the selection
	// is by size.
	Estimated bool
	most      int64 // Selection.MaxBytes
}

// Pruned is what Prune did.
type Pruned struct {
	Exchanges int64
	Before    int64 // size of the database, without what is free in it
	After     int64
	Free      int64 // what was free in it before
	File      int64 // size of the file: more than After while a reader sees what was there before
}

// PruneProgress is how far a prune is.
type PruneProgress struct {
	Step        string // "exchanges", "search", "history", "packs" or "space"
	Done, Total int64
}

const (
	pruneSet  = 32                   // exchanges removed at once
	restLeast = 2 * time.Millisecond // between transactions
	restMost  = 200 * time.Millisecond
	maxRounds = 4 // of removing more until the database is small enough
)

// Prune removes the exchanges of a plan with all that they alone hold, and
// frees the space. It does so in short transactions while others record
// and read; what is kept stays whole. Broken off at any point it leaves a whole
// database, and the next prune removes what this one left. progress may be nil.
//
// Exchanges that continue a removed one keep their links; they name nothing.
func (db *DB) Prune(ctx context.Context, plan *Plan, progress func(PruneProgress)) (Pruned, error) {
	p := &pruning{db: db, ctx: ctx, progress: progress}
	if progress == nil {
		p.progress = func(PruneProgress) {}
	}
	err := p.run(plan)
	return p.did, err
}

type pruning struct {
	db       *DB
	ctx      context.Context
	progress func(PruneProgress)
	did      Pruned
}

func (p *pruning) run(plan *Plan) error {
	var err error
	if p.did.Before, p.did.Free, err = p.db.size(p.ctx); err != nil {
		return err
	}
	for round := 0; ; round++ {
		if err := p.remove(plan); err != nil {
			return err
		}
		if p.did.After, _, err = p.db.size(p.ctx); err != nil {
			return err
		}
		if plan.most == 0 || p.did.After <= plan.most || round == maxRounds {
			break
		}
		// What goes was estimated too high.
		if plan, err = p.db.Plan(p.ctx, Selection{MaxBytes: plan.most}); err != nil {
			return err
		}
		if len(plan.Numbers) == 0 {
			break
		}
	}
	info, err := os.Stat(p.db.path)
	if err != nil {
		return fmt.Errorf("look at database: %w", err)
	}
	p.did.File = info.Size()
	return nil
}

func (p *pruning) remove(plan *Plan) error {
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"remove exchanges", func() error { return p.exchanges(plan.Numbers) }},
		{"tidy the search index", p.tidySearch},
		{"remove lookups", p.lookups},
		{"remove names", p.strays},
		{"remove what nobody holds", p.sweep},
		{"give space back", p.space},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return nil
}

// change runs a short transaction, and rests for as long as that took: whoever
// waits to write looks only from time to time whether it may.
func (p *pruning) change(f func(*tx) error) error {
	var began time.Time
	err := p.db.change(p.ctx, func(t *tx) error {
		began = t.w.since // what came before was others' turn
		return f(t)
	})
	if err != nil {
		return err
	}
	select {
	case <-p.ctx.Done():
		return p.ctx.Err()
	case <-time.After(min(max(time.Since(began), restLeast), restMost)):
		return nil
	}
}

func (p *pruning) exchanges(numbers []int64) error {
	total := int64(len(numbers))
	if total > 0 {
		if err := p.change((*tx).removed); err != nil {
			return err
		}
	}
	var removed int64
	change := func(f func(*tx) error) error {
		removed = 0
		err := p.change(f)
		if err == nil {
			p.did.Exchanges += removed
			p.progress(PruneProgress{"exchanges", p.did.Exchanges, total})
		}
		return err
	}
	return inSteps(change, numbers, pruneSet, func(t *tx, some []int64) error {
		n, err := t.removeExchanges(some)
		removed += n
		return err
	})
}

// space returns free pages back to the disk.
func (p *pruning) space() error {
	var free int64
	count := func() error {
		return retryBusy(p.ctx, func() error {
			return p.db.w.st.row(p.ctx, "SELECT freelist_count FROM pragma_freelist_count", nil, &free)
		})
	}
	if err := p.locked(count); err != nil {
		return err
	}
	for total := free; free > 0; {
		before := free
		err := p.change(func(t *tx) error {
			for left := free; left > 0; left -= spaceStep {
				if err := t.vacuum(spaceStep); err != nil || t.enough() {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := p.locked(count); err != nil {
			return err
		}
		if free >= before { // others free as much as is given back
			break
		}
		p.progress(PruneProgress{"space", total - free, total})
	}
	return p.locked(func() error {
		// Not while there are readers: a later checkpoint will do.
		_, _, _ = p.db.checkpointer.log("PASSIVE")
		_, _, _ = p.db.checkpointer.log("TRUNCATE")
		return nil
	})
}

// spaceStep is how many pages are given back at once.
const spaceStep = 64

// locked calls f while it has the writer's turn.
func (p *pruning) locked(f func() error) error {
	if err := p.db.w.lock(p.ctx); err != nil {
		return err
	}
	defer p.db.w.unlock()
	return f()
}

// vacuum returns free pages back, at most so many.
func (t *tx) vacuum(pages int) error {
	rows, err := t.w.conn.QueryContext(context.Background(), fmt.Sprintf("PRAGMA incremental_vacuum(%d)", pages))
	if err != nil {
		return err
	}
	for rows.Next() { // one for each page
	}
	return errors.Join(rows.Err(), rows.Close())
}

// size is what the database takes up, and what is free in it besides.
func (db *DB) size(ctx context.Context) (used, free int64, err error) {
	err = db.st.row(ctx, `SELECT (c.page_count - f.freelist_count) * s.page_size, f.freelist_count * s.page_size
		FROM pragma_page_count c, pragma_freelist_count f, pragma_page_size s`, nil, &used, &free)
	if err != nil {
		return 0, 0, fmt.Errorf("measure database: %w", err)
	}
	return used, free, nil
}
