package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
			if err := oneOf("--dialect", dialect, dialects); err != nil {
				return err
			}
			if err := oneOf("--outcome", outcome, outcomes); err != nil {
				return err
			}
			f.Dialect, f.Outcome = transcript.Dialect(dialect), transcript.Outcome(outcome)
			limit := f.Limit
			if limit > 0 {
				f.Limit++ // to know whether there are more
			}
			db, err := a.open()
			if err != nil {
				return err
			}
			defer db.Close()
			a.tellWaiting()
			rows, damaged := view.Rows(c.Context(), db, f)
			if damaged != nil && !errors.Is(damaged, transcript.ErrDamaged) {
				return damaged
			}
			more := limit > 0 && len(rows) > limit
			if more {
				rows = rows[:limit]
			}
			slices.Reverse(rows)
			if more {
				fmt.Fprintf(a.err, "inspect: the newest %d; --limit 0 lists all\n", limit)
			}
			if a.json {
				err = a.printJSON(rows)
			} else if len(rows) > 0 || damaged == nil {
				err = a.printRows(c.Context(), db, rows)
			}
			return errors.Join(err, damaged)
		},
	}
	c.Flags().IntVar(&f.Limit, "limit", 50, "how many at most, 0 for all")
	c.Flags().StringVar(&f.Model, "model", "", "only models whose name holds this")
	c.Flags().StringVar(&dialect, "dialect", "", "only this dialect: "+strings.Join(dialects, ", "))
	c.Flags().StringVar(&outcome, "outcome", "", "only this outcome:\n"+strings.Join(outcomes, ", "))
	return c
}

var (
	dialects = []string{string(transcript.Chat), string(transcript.Responses), string(transcript.Messages), string(transcript.Unknown)}
	outcomes = []string{string(transcript.OK), string(transcript.HTTPError), string(transcript.StreamError), string(transcript.UpstreamReset),
		string(transcript.ClientDisconnect), string(transcript.RecorderCrashed), string(transcript.RecorderStopped)}
)

// oneOf refuses a value that can never fit.
func oneOf(flag, value string, known []string) error {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	return usageError{fmt.Errorf("%s %q: want one of %s", flag, value, strings.Join(known, ", "))}
}

func (a *app) printRows(ctx context.Context, r transcript.Reader, rows []view.Row) error {
	if len(rows) == 0 {
		return a.nothing(ctx, r)
	}
	p := a.printer(false)
	t := a.table("ref", "time", "dialect", "model", "outcome", "calls", "results", "in", "out", "ms", "user")
	t.narrow = []string{"results", "calls", "dialect", "ms", "in", "out", "time"}
	for i := range rows {
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

// nothing says why a list is empty.
func (a *app) nothing(ctx context.Context, r transcript.Reader) error {
	all, err := view.Rows(ctx, r, transcript.Filter{Limit: 1})
	switch {
	case err != nil:
		return err
	case len(all) > 0:
		fmt.Fprintln(a.err, "inspect: no exchange fits the filter")
	default:
		fmt.Fprintln(a.err, "inspect: no exchanges; point an agent's base URL at the recorder (see recorder --help)")
	}
	return nil
}

// what is the text that best tells one exchange from another.
func what(r *view.Row) string {
	text := r.Preview
	if r.Dialect == transcript.Unknown {
		text = r.Method + " " + r.URL
	}
	if r.TakeOf != "" {
		text = "replay: " + text
	}
	return text
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
