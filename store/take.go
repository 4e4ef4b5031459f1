package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

const selectTake = "SELECT n, id, origin, parent, mode, edits, reason, sample, arm, created, ended, outcome, stop_reason FROM take "

// Takes lists the takes that start from the exchange with that id or sent it,
// oldest first; all takes if id is "".
func (r *reader) Takes(ctx context.Context, id string) ([]transcript.Take, error) {
	where, args := "", []any(nil)
	if id != "" {
		where, args = "WHERE n IN (SELECT n FROM take WHERE origin = ?1 UNION SELECT take FROM take_step WHERE exchange = ?1) ", []any{packID(id)}
	}
	takes, err := r.takes(ctx, where, args)
	if err != nil {
		return nil, fmt.Errorf("read takes: %w", damaged(err))
	}
	return takes, nil
}

// TakeN returns the take with that number.
func (r *reader) TakeN(ctx context.Context, n int64) (*transcript.Take, error) {
	takes, err := r.takes(ctx, "WHERE n = ?1 ", []any{n})
	if err == nil && len(takes) == 0 {
		return nil, fmt.Errorf("take t%d: %w", n, transcript.ErrNotFound)
	}
	if err == nil {
		err = r.takeResults(ctx, &takes[0])
	}
	if err != nil {
		return nil, fmt.Errorf("read take: %w", damaged(err))
	}
	return &takes[0], nil
}

// takes reads takes with their steps, which are in order by their ids (UUID v7).
// where chooses by the columns of take.
func (r *reader) takes(ctx context.Context, where string, args []any) ([]transcript.Take, error) {
	var takes []transcript.Take
	byN := map[int64]int{}
	err := r.st.rows(ctx, selectTake+where+"ORDER BY n", args, func(row *sql.Rows) error {
		var t transcript.Take
		var id, origin, parent any
		var created, ended *int64
		err := row.Scan(&t.N, &id, &origin, &parent, &t.Mode, &t.Edits, &t.Reason, &t.Group, &t.Arm, &created, &ended, &t.Outcome, &t.StopReason)
		t.ID, t.Origin, t.Parent, t.CreatedAt, t.EndedAt = unpackID(id), unpackID(origin), unpackID(parent), unpackTime(created), unpackTime(ended)
		byN[t.N] = len(takes)
		takes = append(takes, t)
		return err
	})
	if err != nil || len(takes) == 0 {
		return nil, err
	}
	err = r.st.rows(ctx, "SELECT take, exchange, step, attempt FROM take_step WHERE take IN (SELECT n FROM take "+where+") ORDER BY take, exchange", args, func(row *sql.Rows) error {
		var n int64
		var exchange any
		var s transcript.TakeStep
		if err := row.Scan(&n, &exchange, &s.Step, &s.Attempt); err != nil {
			return err
		}
		if i, ok := byN[n]; ok {
			s.Exchange = unpackID(exchange)
			takes[i].Steps = append(takes[i].Steps, s)
		}
		return nil
	})
	return takes, err
}

func (r *reader) takeResults(ctx context.Context, t *transcript.Take) error {
	return r.st.rows(ctx, "SELECT call_id, name, source, exchange, taken_from, coalesce(text, ''), failed FROM take_result WHERE take = ? ORDER BY n", []any{t.N}, func(row *sql.Rows) error {
		var res transcript.TakeResult
		var exchange, from any
		err := row.Scan(&res.CallID, &res.Name, &res.Source, &exchange, &from, &res.Text, &res.IsError)
		res.Exchange, res.From = unpackID(exchange), unpackID(from)
		t.Results = append(t.Results, res)
		return err
	})
}

// TakePlace returns the place of an exchange that a take sent.
func (p *past) TakePlace(exchange string) (*transcript.TakePlace, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	place := &transcript.TakePlace{TakeStep: transcript.TakeStep{Exchange: exchange}}
	var origin, parent any
	err := p.st.row(context.Background(), "SELECT s.step, s.attempt, t.n, t.origin, t.parent FROM take_step s JOIN take t ON t.n = s.take WHERE s.exchange = ?",
		[]any{packID(exchange)}, &place.Step, &place.Attempt, &place.N, &origin, &parent)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("take of %s: %w", exchange, transcript.ErrNotFound)
	}
	if err == nil {
		place.Origin = unpackID(origin)
		place.Before, err = p.stepBefore(place, parent)
	}
	if err != nil {
		return nil, fmt.Errorf("read take: %w", err)
	}
	return place, nil
}

// TakePlace asks nothing where no take was ever made.
func (t *tx) TakePlace(exchange string) (*transcript.TakePlace, error) {
	if t.w.state.take == 0 {
		return nil, errNoTakes
	}
	return t.past.TakePlace(exchange)
}

var errNoTakes = fmt.Errorf("no take was made: %w", transcript.ErrNotFound)

// stepBefore returns the last attempt at the step before one of a take; of its
// first step the last one of the take that it goes on from.
func (p *past) stepBefore(at *transcript.TakePlace, parent any) (string, error) {
	const last = " AND step > 0 ORDER BY step DESC, attempt DESC LIMIT 1"
	query, args := "SELECT exchange FROM take_step WHERE take = ? AND step < ?"+last, []any{at.N, at.Step}
	if at.Step == 0 {
		return "", nil
	}
	if at.Step == 1 {
		if parent == nil {
			return "", nil
		}
		query, args = "SELECT exchange FROM take_step WHERE take = (SELECT n FROM take WHERE id = ?)"+last, []any{parent}
	}
	var before any
	err := p.st.row(context.Background(), query, args, &before)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return unpackID(before), err
}

// PutTake stores a take, or what has come to it.
func (t *tx) PutTake(take *transcript.Take) error {
	if err := t.open(); err != nil {
		return err
	}
	err := t.putTakeRow(take)
	if err == nil {
		err = t.putTakeSteps(take)
	}
	if err != nil {
		return fmt.Errorf("store take: %w", err)
	}
	return nil
}

func (t *tx) putTakeRow(take *transcript.Take) error {
	if take.N > 0 && take.EndedAt.IsZero() {
		return nil // nothing of it has changed
	}
	if take.N > 0 {
		_, err := t.st.exec("UPDATE take SET ended = ?, outcome = ?, stop_reason = ? WHERE n = ?", packTime(take.EndedAt), string(take.Outcome), string(take.StopReason), take.N)
		return err
	}
	take.N = t.w.state.next(&t.w.state.take)
	_, err := t.st.exec("INSERT INTO take (n, id, origin, parent, mode, edits, reason, sample, arm, created, ended, outcome, stop_reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		take.N, packID(take.ID), idOrEmpty(take.Origin), packID(take.Parent), string(take.Mode), take.Edits, take.Reason, take.Group, take.Arm,
		packTime(take.CreatedAt), packTime(take.EndedAt), string(take.Outcome), string(take.StopReason))
	return err
}

// putTakeSteps stores the steps and results that are not stored yet, and which
// exchanges introduced results that waited.
func (t *tx) putTakeSteps(take *transcript.Take) error {
	stored, err := t.storedTake(take.N)
	if err != nil {
		return err
	}
	for _, s := range take.Steps[min(stored.steps, len(take.Steps)):] {
		if _, err := t.st.exec("INSERT OR IGNORE INTO take_step (exchange, take, step, attempt) VALUES (?, ?, ?, ?)", packID(s.Exchange), take.N, s.Step, s.Attempt); err != nil {
			return err
		}
	}
	now := storedTake{len(take.Steps), len(take.Results), len(take.Results)}
	for i := stored.settled; i < len(take.Results); i++ {
		r := &take.Results[i]
		switch {
		case i >= stored.results:
			err = t.putTakeResult(take.N, i+1, r)
		case !r.Waits():
			_, err = t.st.exec("UPDATE take_result SET exchange = ?, text = NULL, failed = 0 WHERE take = ? AND n = ? AND exchange = ''", packID(r.Exchange), take.N, i+1)
		}
		if err != nil {
			return err
		}
		if r.Waits() {
			now.settled = min(now.settled, i)
		}
	}
	if delete(t.w.takes, take.N); take.EndedAt.IsZero() && len(t.w.takes) < maxTakes {
		t.w.takes[take.N] = now
	}
	return nil
}

func (t *tx) putTakeResult(take int64, n int, r *transcript.TakeResult) error {
	var text any
	failed := false
	if r.Waits() {
		text, failed = r.Text, r.IsError
	}
	_, err := t.st.exec("INSERT INTO take_result (take, n, call_id, name, source, exchange, taken_from, text, failed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		take, n, r.CallID, r.Name, string(r.Source), idOrEmpty(r.Exchange), packID(r.From), text, failed)
	return err
}

// storedTake is how much of a take is stored.
type storedTake struct{ steps, results, settled int } // settled: so many results wait no more

// maxTakes bounds of how many takes the writer remembers that.
const maxTakes = 1024

func (t *tx) storedTake(n int64) (s storedTake, err error) {
	if s, ok := t.w.takes[n]; ok {
		return s, nil
	}
	err = t.st.row(context.Background(), `SELECT (SELECT count(*) FROM take_step WHERE take = ?1), count(*), coalesce(min(n) FILTER (WHERE exchange = '') - 1, count(*))
		FROM take_result WHERE take = ?1`, []any{n}, &s.steps, &s.results, &s.settled)
	return s, err
}

// removeTakeStep forgets that a take sent an exchange, and the take with its last
// one; with the last take of a group the report about it, which quotes them.
func (t *tx) removeTakeStep(exchange any) error {
	var take int64
	var group string
	err := t.st.row(context.Background(), "SELECT s.take, coalesce(t.sample, '') FROM take_step s LEFT JOIN take t ON t.n = s.take WHERE s.exchange = ?", []any{exchange}, &take, &group)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	delete(t.w.takes, take)
	if _, err := t.st.exec("DELETE FROM take_step WHERE exchange = ?", exchange); err != nil {
		return err
	}
	for _, query := range []string{
		"DELETE FROM take_result WHERE take = ?1 AND NOT EXISTS (SELECT 1 FROM take_step WHERE take = ?1)",
		"DELETE FROM take WHERE n = ?1 AND NOT EXISTS (SELECT 1 FROM take_step WHERE take = ?1)",
	} {
		if _, err := t.st.exec(query, take); err != nil {
			return err
		}
	}
	if group == "" {
		return nil
	}
	_, err = t.st.exec("DELETE FROM note WHERE name = ? AND NOT EXISTS (SELECT 1 FROM take WHERE sample = ?)", transcript.SampleNote(group), group)
	return err
}

// idOrEmpty is packID for a column that may be empty but not NULL.
func idOrEmpty(id string) any {
	if id == "" {
		return ""
	}
	return packID(id)
}
