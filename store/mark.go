package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// Marks returns what users said of a run.
func (r *reader) Marks(ctx context.Context, run string) (*transcript.Marks, error) {
	var m transcript.Marks
	var tags string
	err := r.st.row(ctx, "SELECT name, note, tags, pinned FROM mark WHERE run = ?", []any{packID(run)}, &m.Name, &m.Note, &tags, &m.Pinned)
	if errors.Is(err, sql.ErrNoRows) {
		return &m, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(tags), &m.Tags)
	}
	if err != nil {
		return nil, fmt.Errorf("read marks: %w", damaged(err))
	}
	return &m, nil
}

// PutMarks replaces what users said of a run.
func (t *tx) PutMarks(run string, m *transcript.Marks) error {
	if err := t.open(); err != nil {
		return err
	}
	if _, err := t.Run(context.Background(), run); err != nil {
		return err
	}
	tags := slices.Compact(slices.Sorted(slices.Values(m.Tags)))
	if tags == nil {
		tags = []string{}
	}
	text, err := json.Marshal(tags)
	if err == nil && m.IsZero() {
		_, err = t.st.exec("DELETE FROM mark WHERE run = ?", packID(run))
	} else if err == nil {
		_, err = t.st.exec(`INSERT OR REPLACE INTO mark (run, first, name, note, tags, pinned)
			VALUES (?1, (SELECT id FROM exchange WHERE run = ?1 ORDER BY n LIMIT 1), ?2, ?3, ?4, ?5)`,
			packID(run), m.Name, m.Note, string(text), m.Pinned)
	}
	if err != nil {
		return fmt.Errorf("store marks: %w", err)
	}
	return nil
}

// Override returns the last word of a user on an exchange.
func (p *past) Override(exchange string) (*transcript.Override, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	o := &transcript.Override{Exchange: exchange}
	var target any
	var said *int64
	err := p.st.row(context.Background(), "SELECT verb, target, said FROM override WHERE exchange = ?", []any{packID(exchange)}, &o.Verb, &target, &said)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("word on %s: %w", exchange, transcript.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read override: %w", err)
	}
	o.To, o.At = unpackID(target), unpackTime(said)
	return o, nil
}

// Override asks nothing where no user has said anything.
func (t *tx) Override(exchange string) (*transcript.Override, error) {
	if !t.w.state.overridden && !t.done {
		return nil, errNotSaid
	}
	return t.past.Override(exchange)
}

var errNotSaid = fmt.Errorf("nothing was said of it: %w", transcript.ErrNotFound)

// PutOverride keeps a user's word on an exchange.
func (t *tx) PutOverride(o *transcript.Override) error {
	known, err := t.HasExchange(o.Exchange)
	if err != nil {
		return err
	}
	if !known {
		return fmt.Errorf("exchange %s: %w", o.Exchange, transcript.ErrNotFound)
	}
	t.w.state.overridden = true
	if _, err := t.st.exec("INSERT OR REPLACE INTO override (exchange, verb, target, said) VALUES (?, ?, ?, ?)",
		packID(o.Exchange), string(o.Verb), packID(o.To), packTime(o.At)); err != nil {
		return fmt.Errorf("store override: %w", err)
	}
	return nil
}

// DropOverride forgets what was said of an exchange.
func (t *tx) DropOverride(exchange string) (bool, error) {
	if err := t.open(); err != nil {
		return false, err
	}
	res, err := t.st.exec("DELETE FROM override WHERE exchange = ?", packID(exchange))
	if err != nil {
		return false, fmt.Errorf("delete override: %w", err)
	}
	gone, err := res.RowsAffected()
	return gone > 0, err
}
