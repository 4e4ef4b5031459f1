package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"github.com/retake-debugger/retake/store/segment"
	"slices"

	"github.com/retake-debugger/retake/store/search"
)

// Plan works out what a prune would remove. It reads the database and changes
// nothing.
func (db *DB) Plan(ctx context.Context, s Selection) (*Plan, error) {
	p := &planner{db: db, ctx: ctx, plan: &Plan{most: s.MaxBytes, Estimated: s.MaxBytes > 0}}
	if err := p.measure(); err != nil {
		return nil, fmt.Errorf("plan removal: %w", err)
	}
	var err error
	switch {
	case s.MaxBytes > 0:
		err = p.oldest(s.MaxBytes)
	case !s.Before.IsZero():
		err = p.before(s.Before.UnixNano())
	case s.KeepRuns > 0:
		err = p.oldRuns(s.KeepRuns)
	default:
		p.plan.Numbers = slices.Clone(s.Numbers)
		for _, run := range s.Runs {
			if err = p.numbers("SELECT n FROM exchange WHERE run = ?", packID(run)); err != nil {
				break
			}
		}
		slices.Sort(p.plan.Numbers)
		p.plan.Numbers = slices.Compact(p.plan.Numbers)
	}
	if err == nil {
		err = p.leavePinned()
	}
	if err == nil {
		err = p.worth()
	}
	if err != nil {
		return nil, fmt.Errorf("plan removal: %w", err)
	}
	return p.plan, nil
}

type planner struct {
	db    *DB
	ctx   context.Context
	plan  *Plan
	each  int64 // bytes of what every exchange has: rows, indexes
	fixed int64 // bytes that an empty database has
}

// measure finds out what is not bodies, and how much of it an exchange has.
func (p *planner) measure() error {
	var err error
	if p.plan.Size, p.plan.Free, err = p.db.size(p.ctx); err != nil {
		return err
	}
	var bodies int64
	err = p.db.st.row(p.ctx, `SELECT (SELECT count(*) FROM exchange),
		(SELECT coalesce(sum(length(recipe)), 0) FROM body) +
		(SELECT coalesce(sum(length(data) + length(lengths)), 0) FROM part_pack) +
		(SELECT coalesce(sum(length(data) + length(lengths)), 0) FROM whole_pack),
		(SELECT count(*) FROM sqlite_schema WHERE rootpage > 0) * s.page_size
		FROM pragma_page_size s`, nil, &p.plan.Total, &bodies, &p.fixed)
	if err != nil {
		return err
	}
	if rows := p.plan.Size - bodies - p.fixed; rows > 0 && p.plan.Total > 0 {
		p.each = rows / p.plan.Total
	}
	return nil
}

func (p *planner) numbers(query string, args ...any) error {
	return p.db.st.rows(p.ctx, query, args, func(row *sql.Rows) error {
		var n int64
		err := row.Scan(&n)
		p.plan.Numbers = append(p.plan.Numbers, n)
		return err
	})
}

// before selects the exchanges from before a time: what ended before it has begun
// before it too.
func (p *planner) before(limit int64) error {
	const unknown = search.OfAnyModel + " AND started IS NULL"
	err := p.numbers("SELECT n FROM exchange WHERE "+search.OfAnyModel+" AND started < ?1 UNION ALL SELECT n FROM exchange WHERE "+unknown+" AND ended < ?1 ORDER BY n", limit)
	if err != nil {
		return err
	}
	return p.db.st.row(p.ctx, "SELECT count(*) FROM exchange WHERE "+unknown+" AND ended IS NULL", nil, &p.plan.Undated)
}

// oldRuns selects the exchanges of all runs before the newest ones, of those
// that have steps: a run of side calls alone counts for nothing.
func (p *planner) oldRuns(keep int) error {
	return p.numbers(`SELECT e.n FROM exchange e JOIN run r ON r.id = e.run WHERE r.n <
		coalesce((SELECT min(n) FROM (SELECT k.n FROM run k WHERE EXISTS (SELECT 1 FROM exchange x WHERE x.run = k.id AND x.agent IS NOT NULL) ORDER BY k.n DESC LIMIT ?)), 0)
		ORDER BY e.n`, keep)
}

// leavePinned takes the exchanges of pinned runs out of the selection.
func (p *planner) leavePinned() error {
	pinned := map[int64]bool{}
	err := p.db.st.rows(p.ctx, "SELECT e.n FROM mark m CROSS JOIN exchange e ON e.run = m.run WHERE m.pinned", nil, func(row *sql.Rows) error {
		var n int64
		err := row.Scan(&n)
		pinned[n] = true
		return err
	})
	if err != nil {
		return err
	}
	before := len(p.plan.Numbers)
	p.plan.Numbers = slices.DeleteFunc(p.plan.Numbers, func(n int64) bool { return pinned[n] })
	p.plan.Pinned = int64(before - len(p.plan.Numbers))
	return nil
}

// errFull ends the walk of oldest.
var errFull = errors.New("no more fits")

// oldest selects the oldest exchanges so that the others take up no more than
// most: it goes back from the newest one for as long as what they hold fits.
func (p *planner) oldest(most int64) error {
	if p.plan.Size <= most {
		return nil
	}
	left := (most - p.fixed) * 9 / 10 // some of what is dead stays in packs that are mostly alive
	sizes := &sizes{ctx: p.ctx, st: p.db.st}
	h := &reachable{}
	h.Took = func(id segment.ID) error {
		bytes, _, err := sizes.of(id)
		left -= bytes
		return err
	}
	keep, err := p.back(h, func(e *holder) error {
		left -= p.each
		if err := h.take(p.ctx, &p.db.reader, e); err != nil {
			return fmt.Errorf("read what x%d holds: %w", e.n, err)
		}
		if left < 0 {
			return errFull
		}
		return nil
	})
	if err != nil {
		return err
	}
	return p.numbers("SELECT n FROM exchange WHERE n < ? ORDER BY n", keep)
}

// back calls f for the exchanges, newest first, and returns the number of the
// last one before it was full.
func (p *planner) back(h *reachable, f func(*holder) error) (int64, error) {
	before := int64(noBound)
	for {
		list, err := holders(p.ctx, p.db.st, selectHolders+"WHERE n < ? ORDER BY n DESC LIMIT ?", before, holderPage)
		if err != nil || len(list) == 0 {
			return before, err
		}
		if err := h.bound(p.ctx, &p.db.reader); err != nil {
			return 0, err
		}
		for i := range list {
			err := f(&list[i])
			if errors.Is(err, errFull) {
				return before, nil
			}
			if err != nil {
				return 0, err
			}
			before = list[i].n
		}
	}
}

// worth adds up what goes with the selected exchanges.
func (p *planner) worth() error {
	if len(p.plan.Numbers) == 0 {
		return nil
	}
	h := &reachable{}
	for _, n := range p.plan.Numbers {
		h.skip.Add(n)
	}
	if err := h.catchUp(p.ctx, &p.db.reader, nil); err != nil {
		return err
	}
	garbage, err := findGarbage(p.ctx, p.db.st, h)
	if err != nil {
		return err
	}
	p.plan.Bytes = garbage.bytes + p.each*int64(len(p.plan.Numbers))
	return nil
}

// sizes measures what segments take up in the file, and how long they are.
type sizes struct {
	ctx  context.Context
	st   *statements
	last [2]*segment.PackInfo
}

func (s *sizes) of(id segment.ID) (stored, raw int64, err error) {
	p := s.last[id.Stream()]
	if p == nil || id.Number() < p.First || id.Number() >= p.First+p.Count {
		p = &segment.PackInfo{}
		query := "SELECT first, count, bytes, lengths, length(data) + length(lengths) FROM " + packTables[id.Stream()] + " WHERE first <= ? ORDER BY first DESC LIMIT 1"
		err := s.st.row(s.ctx, query, []any{id.Number()}, &p.First, &p.Count, &p.Bytes, &p.Lengths, &p.Stored)
		if err != nil {
			return 0, 0, fmt.Errorf("find segment %d: %w", id, err)
		}
		s.last[id.Stream()] = p
	}
	err = p.Segments(func(number, bytes int64) {
		if number == id.Number() {
			raw = bytes
		}
	})
	return p.Share(raw), raw, err
}
