package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/retake-debugger/retake/transcript"
)

const selectRun = "SELECT n, id, name, started FROM run "

// Run returns the run with that id.
func (r *reader) Run(ctx context.Context, id string) (*transcript.Run, error) {
	return r.run(ctx, id, selectRun+"WHERE id = ?", packID(id))
}

// RunN returns the run with that number.
func (r *reader) RunN(ctx context.Context, n int64) (*transcript.Run, error) {
	return r.run(ctx, fmt.Sprintf("r%d", n), selectRun+"WHERE n = ?", n)
}

// FindRuns returns the ids that hold part, newest first.
func (r *reader) FindRuns(ctx context.Context, part string, limit int) ([]string, error) {
	if limit <= 0 {
		return nil, nil
	}
	part = strings.ToLower(part)
	var ids []string
	err := r.st.rows(ctx, `SELECT id FROM run WHERE CASE typeof(id) WHEN 'blob' THEN instr(hex(id), ?) ELSE instr(lower(id), ?) END ORDER BY n DESC`,
		[]any{strings.ToUpper(strings.ReplaceAll(part, "-", "")), part}, func(row *sql.Rows) error {
			var v any
			if err := row.Scan(&v); err != nil {
				return err
			}
			if id := unpackID(v); strings.Contains(id, part) { // where the dashes are
				ids = append(ids, id)
			}
			if len(ids) >= limit {
				return errEnough
			}
			return nil
		})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("find runs: %w", err)
	}
	return ids, nil
}

func (r *reader) run(ctx context.Context, what, query string, args ...any) (*transcript.Run, error) {
	var run transcript.Run
	var id any
	var started *int64
	err := r.st.row(ctx, query, args, &run.N, &id, &run.Name, &started)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("run %s: %w", what, transcript.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	run.ID, run.StartedAt = unpackID(id), unpackTime(started)
	return &run, nil
}

// RunByLabel returns the run of that label, making it if need be: one run for a
// label, for ever.
func (t *tx) RunByLabel(label string, at time.Time) (*transcript.Run, error) {
	run, err := t.run(context.Background(), label, selectRun+"WHERE label = ?", label)
	if !errors.Is(err, transcript.ErrNotFound) {
		return run, err
	}
	return t.newRun(label, label, at)
}

// NewRun makes a run.
func (t *tx) NewRun(at time.Time) (*transcript.Run, error) { return t.newRun(nil, "", at) }

func (t *tx) newRun(label any, name string, at time.Time) (*transcript.Run, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make run id: %w", err)
	}
	if err := t.open(); err != nil {
		return nil, err
	}
	run := &transcript.Run{ID: id.String(), N: t.w.state.next(&t.w.state.run), Name: name, StartedAt: at}
	_, err = t.st.exec("INSERT INTO run (n, id, label, name, started) VALUES (?, ?, ?, ?, ?)",
		run.N, packID(run.ID), label, name, packTime(at))
	if err != nil {
		return nil, fmt.Errorf("store run: %w", err)
	}
	return run, nil
}
