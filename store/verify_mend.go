package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// MendLookups stores the lookups that Verify misses, and says how many. They
// are what exchanges are linked by: without them a reindex would take links for
// wrong that are right. progress may be nil; it is told the number of the
// exchange reached and of the newest one.
func (db *DB) MendLookups(ctx context.Context, progress func(done, newest int64)) (int, error) {
	m := &mending{db: db, ctx: ctx, progress: progress}
	err := m.exchanges()
	if err == nil {
		err = m.segments()
	}
	if err != nil {
		return m.mended, fmt.Errorf("mend lookups: %w", err)
	}
	return m.mended, nil
}

type mending struct {
	db       *DB
	ctx      context.Context
	progress func(done, newest int64)
	mended   int
}

func (m *mending) exchanges() error {
	g, err := m.db.gaps(m.ctx)
	if err != nil {
		return err
	}
	var newest int64
	if err := m.db.st.row(m.ctx, "SELECT exchange FROM state", nil, &newest); err != nil {
		return err
	}
	for e, err := range m.db.Exchanges(m.ctx, transcript.Filter{Oldest: true}) {
		if errors.Is(err, transcript.ErrDamaged) {
			continue
		}
		if err != nil {
			return err
		}
		missing, err := g.exchange(e)
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			if err := m.exchange(e.ID); err != nil {
				return err
			}
		}
		if m.progress != nil && e.N%verifyPage == 0 {
			m.progress(e.N, newest)
		}
	}
	return nil
}

// exchange stores what is missing of one, as it is now.
func (m *mending) exchange(id string) error {
	added := 0
	err := m.db.change(m.ctx, func(t *tx) error {
		e, err := t.Exchange(m.ctx, id)
		if errors.Is(err, transcript.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		g, err := t.gaps(m.ctx)
		if err != nil {
			return err
		}
		missing, err := g.exchange(e)
		added = t.fill(missing)
		return err
	})
	if err == nil {
		m.mended += added
	}
	return err
}

// segments stores what is missing of segments. It looks again within the
// transaction: a segment that a prune has unlisted must stay so.
func (m *mending) segments() error {
	missing, err := m.missing(&m.db.reader)
	if err != nil || len(missing) == 0 {
		return err
	}
	added := 0
	err = m.db.change(m.ctx, func(t *tx) error {
		missing, err := m.missing(&t.reader)
		added = t.fill(missing)
		return err
	})
	if err == nil {
		m.mended += added
	}
	return err
}

func (m *mending) missing(r *reader) ([]gap, error) {
	h := &reachable{}
	if err := h.catchUp(m.ctx, r, nil); isDamage(err) {
		return nil, nil // it is not known what is held
	} else if err != nil {
		return nil, err
	}
	g, err := r.gaps(m.ctx)
	if err != nil {
		return nil, err
	}
	return g.segments(m.db.codec, h)
}

func (t *tx) fill(missing []gap) int {
	for _, g := range missing {
		t.w.lookup.add(g.key, g.target)
	}
	return len(missing)
}
