package store

import (
	"context"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// runCondition asks of a run that one of its exchanges x, perhaps with a call c,
// is so.
type runCondition struct {
	sql  string
	args []any
	call bool
}

// exchangesOf makes the conditions of a filter that are about exchanges.
func exchangesOf(f *transcript.RunFilter) []runCondition {
	var list []runCondition
	add := func(sql string, args ...any) { list = append(list, runCondition{sql: sql, args: args}) }
	if !f.Since.IsZero() {
		add("x.started >= ?", f.Since.UnixNano())
	}
	if f.Model != "" {
		add("x.model IN (SELECT id FROM model WHERE instr(lower(asked), lower(?)) OR instr(lower(answered), lower(?)))", f.Model, f.Model)
	}
	if f.Dialect != "" {
		add("x.model IN (SELECT id FROM model WHERE dialect = ?)", string(f.Dialect))
	}
	switch f.Outcome {
	case "":
	case transcript.OK:
		add("x.outcome = 'ok'")
	default:
		add("x.outcome = ? AND x.outcome <> 'ok'", string(f.Outcome)) // the second half names the partial index
	}
	if f.Tool != "" {
		list = append(list, runCondition{"instr(lower(c.name), lower(?))", []any{f.Tool}, true})
	}
	return list
}

// ofRun gives the condition on run r. Where few exchanges fulfil it, their runs
// are listed; where many do, the newest runs are looked through, among which are
// enough soon, unless all are wanted.
func (r *reader) ofRun(ctx context.Context, c *runCondition, all bool) (string, error) {
	from, listed, walked := "exchange x", "exchange x", "exchange x INDEXED BY exchange_run"
	if c.call {
		from, listed = "call c", "call c CROSS JOIN exchange x ON x.id = c.exchange"
		walked += " CROSS JOIN call c ON c.exchange = x.id"
	}
	n := 0
	if !all && c.sql != "x.outcome = 'ok'" { // those are most
		query := "SELECT count(*) FROM (SELECT 1 FROM " + from + " WHERE " + c.sql + " LIMIT ?)"
		if err := r.st.row(ctx, query, append(slices.Clone(c.args), r.limits.fewOfRuns+1), &n); err != nil {
			return "", err
		}
	} else if !all {
		n = r.limits.fewOfRuns + 1
	}
	if n <= r.limits.fewOfRuns {
		return "r.id IN (SELECT x.run FROM " + listed + " WHERE " + c.sql + ")", nil
	}
	return "EXISTS (SELECT 1 FROM " + walked + " WHERE x.run = r.id AND " + c.sql + ")", nil
}
