package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

func newLs(a *app) *cobra.Command {
	var f transcript.Filter
	var dialect, outcome string
	c := &cobra.Command{
		Use:   "ls",
		Short: "List exchanges, the newest last",
		Example: `  inspect ls
  inspect ls --outcome stream_error --limit 0
  inspect ls --json | jq '.[].model'`,
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if f.Limit < 0 {
				return usageError{fmt.Errorf("--limit is %d, must be 0 (all) or more", f.Limit)}
			}
			f.Dialect, f.Outcome = transcript.Dialect(dialect), transcript.Outcome(outcome)
			db, err := a.open()
			if err != nil {
				return err
			}
			defer db.Close()
			rows, err := view.Rows(c.Context(), db, f)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(rows)
			}
			return a.printRows(rows)
		},
	}
	c.Flags().IntVar(&f.Limit, "limit", 50, "how many at most, 0 for all")
	c.Flags().StringVar(&f.Model, "model", "", "only models whose name holds this")
	c.Flags().StringVar(&dialect, "dialect", "", "only this dialect: chat, responses, messages, unknown")
	c.Flags().StringVar(&outcome, "outcome", "", "only this outcome: ok, http_error, stream_error, upstream_reset, client_disconnect, recorder_crashed, recorder_stopped")
	return c
}

func (a *app) printRows(rows []view.Row) error {
	if len(rows) == 0 {
		fmt.Fprintln(a.err, "inspect: no exchanges; point an agent's base URL at the recorder (see recorder --help)")
		return nil
	}
	p := a.printer(false)
	t := a.table("ref", "time", "dialect", "model", "outcome", "calls", "results", "in", "out", "ms", "user")
	for i := len(rows) - 1; i >= 0; i-- {
		r := &rows[i]
		in, out := "", ""
		if r.Usage != nil {
			in, out = strconv.FormatInt(r.Usage.InputTotal, 10), strconv.FormatInt(r.Usage.Output, 10)
		}
		duration := ""
		if r.Timing.DurationMS != nil {
			duration = strconv.FormatFloat(*r.Timing.DurationMS, 'f', 0, 64)
		}
		model := r.ResponseModel
		if model == "" {
			model = r.Model
		}
		t.row(r.Ref(), a.time(r.StartedAt), string(r.Dialect), cut(visible(model), 28), p.outcome(r),
			count(r.Calls), count(r.Results), in, out, duration, visible(what(r)))
	}
	return t.print()
}

// what is the text that best tells one exchange from another.
func what(r *view.Row) string {
	if r.Dialect == transcript.Unknown {
		return r.Method + " " + r.URL
	}
	return r.Preview
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
