package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// pollEvery is the interval of database queries.
const pollEvery = 300 * time.Millisecond

// follow repeats do until the context ends. That is the normal way to stop and not
// an error.
func (a *app) follow(ctx context.Context, once bool, do func() error) error {
	for {
		err := do()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil || once {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pollEvery):
		}
	}
}

// followRuns lists runs, and then each new or changed one; with --json each on its
// own line.
func (a *app) followRuns(ctx context.Context, r transcript.Reader, o *lsOptions, q *view.ListQuery) error {
	known := map[string]string{}
	begun := false
	return a.follow(ctx, false, func() error {
		rows, err := view.Runs(ctx, r, o.runFilter(q), time.Now())
		if err != nil {
			return err
		}
		if o.limit > 0 {
			rows = rows[:min(len(rows), o.limit)]
		}
		slices.Reverse(rows)
		rows = slices.DeleteFunc(rows, func(v view.RunRow) bool {
			now := fmt.Sprint(v.Status, v.Counts, v.Name, v.Tags, v.Pinned)
			same := known[v.ID] == now
			known[v.ID] = now
			return same
		})
		if err := a.priceRuns(ctx, r, rows); err != nil {
			return err
		}
		if a.json {
			for i := range rows {
				if err := a.jsonLine(&rows[i]); err != nil {
					return err
				}
			}
			return nil
		}
		if len(rows) == 0 {
			return nil
		}
		t := a.runTable(rows)
		t.bare, begun = begun, true
		return t.print()
	})
}
