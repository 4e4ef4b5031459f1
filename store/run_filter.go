package store

import (
	"context"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/store/search"
	"github.com/retake-debugger/retake/transcript"
)

// runCondition asks of a run that one of its exchanges x, perhaps with a call c,
// is so.
type runCondition struct {
	sql  string
	args []any
	call bool
	most bool // of exchanges fulfil it
}

// isNoTake leaves replays out: what they asked is not what the run is.
const isNoTake = " AND NOT EXISTS (SELECT 1 FROM take_step t WHERE t.exchange = x.id)"

// exchangesOf makes the conditions of a filter that are about exchanges: of recorded
// ones, and of when something happened also of replays.
func exchangesOf(f *transcript.RunFilter) []runCondition {
	var list []runCondition
	if !f.Since.IsZero() {
		list = append(list, runCondition{sql: "x." + search.OfAnyModel + " AND x.started >= ?", args: []any{f.Since.UnixNano()}})
	}
	add := func(sql string, args ...any) {
		list = append(list, runCondition{sql: sql + isNoTake, args: args})
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
		list = append(list, runCondition{sql: "x.outcome = 'ok'" + isNoTake, most: true})
	default:
		add("x.outcome = ? AND x.outcome <> 'ok'", string(f.Outcome)) // the second half names the partial index
	}
	if f.Tool != "" {
		list = append(list, runCondition{
			sql:  "c.kind = 0 AND instr(lower(c.name), lower(?))" + strings.Replace(isNoTake, "x.id", "(SELECT id FROM exchange WHERE n = c.n)", 1),
			args: []any{f.Tool}, call: true})
	}
	return list
}

// ofRun returns the condition on run r. Where few exchanges fulfil it, their runs
// are listed; where many do, the newest runs are looked through, among which are
// enough soon, unless all are wanted.
func (r *reader) ofRun(ctx context.Context, c *runCondition, all bool) (string, error) {
	from, listed := "exchange x", "exchange x"
	if c.call {
		from, listed = "pair c", "pair c CROSS JOIN exchange x ON x.n = c.n"
	}
	n := 0
	if !all && !c.most {
		query := "SELECT count(*) FROM (SELECT 1 FROM " + from + " WHERE " + c.sql + " LIMIT ?)"
		if err := r.st.row(ctx, query, append(slices.Clone(c.args), r.fewOfRuns+1), &n); err != nil {
			return "", err
		}
	} else if !all {
		n = r.fewOfRuns + 1
	}
	if n <= r.fewOfRuns {
		return "r.id IN (SELECT x.run FROM " + listed + " WHERE " + c.sql + ")", nil
	}
	return c.walked(), nil
}

// walked returns the condition on run r that looks through its exchanges.
func (c *runCondition) walked() string {
	from := "exchange x INDEXED BY exchange_run"
	if c.call {
		from += " CROSS JOIN pair c ON c.n = x.n"
	}
	return "EXISTS (SELECT 1 FROM " + from + " WHERE x.run = r.id AND " + c.sql + ")"
}
