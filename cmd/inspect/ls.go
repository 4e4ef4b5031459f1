package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/cmd/internal/usage"
	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// lsOptions are the flags of ls.
type lsOptions struct {
	exchanges, pinned, follow                 bool
	limit                                     int
	model, dialect, outcome, tool, tag, since string
}

func newLs(a *app) *cobra.Command {
	var o lsOptions
	c := &cobra.Command{
		Use:   "ls [WORD…]",
		Short: "List runs, the newest last; with --exchanges the model calls",
		Long: `Filters narrow the list, as in the viewer's filter bar: model:opus dialect:chat
outcome:http_error tool:bash tag:good since:2h is:pinned. There is a flag for each.

ls lists runs: what one task did, put together from the traffic. It counts steps
(model calls without retries), tool calls (of each step's last attempt), and
failures: tool results that are errors and steps that failed. Replays do not count.

Marks: * pinned, ~ still running, ? open calls and nothing after them, ! the last
step failed, … the last answer broke off, - no step, only side calls such as model
lists, ✗ the database is damaged there: only the run's name can be read.`,
		Example: `  inspect ls
  inspect ls model:opus since:2h
  inspect ls --tag good --json | jq '.[].name'
  inspect ls --follow
  inspect ls --exchanges --outcome stream_error --limit 0`,
		RunE: func(c *cobra.Command, words []string) error { return a.ls(c.Context(), &o, words) },
	}
	f := c.Flags()
	f.BoolVarP(&o.exchanges, "exchanges", "x", false, "list exchanges instead of runs")
	f.IntVar(&o.limit, "limit", 50, "at most this many, 0 for all")
	f.StringVar(&o.model, "model", "", "only models whose name contains this")
	f.StringVar(&o.dialect, "dialect", "", "only this API: "+strings.Join(dialects, ", "))
	f.StringVar(&o.outcome, "outcome", "", "only where an exchange ended this way:\n"+strings.Join(outcomes, ", "))
	f.StringVar(&o.tool, "tool", "", "only runs that called a tool whose name contains this")
	f.StringVar(&o.tag, "tag", "", "only runs with this tag")
	f.StringVar(&o.since, "since", "", "only since then: 2h, 7d, 2026-03-01")
	f.BoolVar(&o.pinned, "pinned", false, "only pinned runs")
	f.BoolVarP(&o.follow, "follow", "f", false, "keep running, and print each run that is new or has changed")
	return c
}

func (a *app) ls(ctx context.Context, o *lsOptions, words []string) error {
	q, err := o.query(words, time.Now())
	if err != nil {
		return usageError{err}
	}
	db, err := a.open()
	if err != nil {
		return err
	}
	defer db.Close()
	a.tellWaiting()
	a.tellUnderWay()
	switch {
	case o.follow:
		return a.followRuns(ctx, db, o, &q)
	case o.exchanges:
		err = a.lsExchanges(ctx, db, o, &q)
	default:
		err = a.lsRuns(ctx, db, o, &q)
	}
	if err == nil && db.Cut() {
		return errFindings
	}
	return err
}

func (o *lsOptions) check() error {
	if o.limit < 0 {
		return fmt.Errorf("--limit is %d, must be 0 (all) or more", o.limit)
	}
	if o.exchanges && (o.tool != "" || o.tag != "" || o.pinned) {
		return errors.New("--tool, --tag and --pinned are about runs; leave --exchanges out")
	}
	if o.follow && o.exchanges {
		return errors.New(`--follow is about runs; "inspect tail" follows exchanges`)
	}
	if err := usage.OneOf("--dialect", o.dialect, dialects); err != nil {
		return err
	}
	return usage.OneOf("--outcome", o.outcome, outcomes)
}

// query returns the filter of the list, from words and from the equivalent flags.
func (o *lsOptions) query(words []string, now time.Time) (view.ListQuery, error) {
	if err := o.check(); err != nil {
		return view.ListQuery{}, err
	}
	q, err := view.ParseListQuery(strings.Join(words, " "), now)
	if err != nil {
		return q, err
	}
	for _, f := range []struct {
		name, value string
		given       bool // given as a word
	}{
		{"model", o.model, q.Model != ""}, {"dialect", o.dialect, q.Dialect != ""}, {"outcome", o.outcome, q.Outcome != ""},
		{"tool", o.tool, q.Tool != ""}, {"tag", o.tag, q.Tag != ""}, {"since", "", o.since != "" && !q.Since.IsZero()},
	} {
		if f.given && (f.value != "" || f.name == "since") {
			return q, fmt.Errorf("--%s and %s: say the same; give one of them", f.name, f.name)
		}
		if f.value == "" {
			continue
		}
		if err := q.Set(f.name, f.value, now); err != nil {
			return q, fmt.Errorf("--%s %q: %w", f.name, f.value, err)
		}
	}
	q.Pinned = q.Pinned || o.pinned
	if o.since != "" {
		if q.Since, err = moment(o.since, now); err != nil {
			return q, fmt.Errorf("--since: %w", err)
		}
	}
	if o.exchanges {
		_, err = q.Exchanges()
	}
	return q, err
}

// more returns a limit that shows whether there are more.
func (o *lsOptions) more() int {
	if o.limit == 0 {
		return 0
	}
	return o.limit + 1
}

// runFilter returns the filter for runs.
func (o *lsOptions) runFilter(q *view.ListQuery) transcript.RunFilter {
	f := q.Runs()
	f.Limit = o.more()
	return f
}

// newest keeps the newest elements of a list that is sorted newest first, and sorts
// them for output.
func newest[T any](a *app, list []T, limit int) []T {
	if limit > 0 && len(list) > limit {
		list = list[:limit]
		fmt.Fprintf(a.err, "inspect: the newest %d; --limit 0 lists all\n", limit)
	}
	slices.Reverse(list)
	return list
}

func (a *app) lsRuns(ctx context.Context, r transcript.Reader, o *lsOptions, q *view.ListQuery) error {
	rows, damaged := view.Runs(ctx, r, o.runFilter(q), time.Now())
	if damaged != nil && !errors.Is(damaged, transcript.ErrDamaged) {
		return damaged
	}
	rows = newest(a, rows, o.limit)
	if err := a.priceRuns(ctx, r, rows); err != nil {
		return err
	}
	var err error
	switch {
	case a.json:
		err = a.printJSON(rows)
	case len(rows) > 0:
		err = a.printRuns(rows)
	case damaged == nil:
		err = a.nothing(ctx, r, "run")
	}
	return errors.Join(err, damaged)
}

func (a *app) priceRuns(ctx context.Context, r transcript.Reader, rows []view.RunRow) error {
	table, err := a.prices()
	if err != nil {
		return err
	}
	return view.PriceRuns(ctx, r, rows, table)
}

func (a *app) lsExchanges(ctx context.Context, r transcript.Reader, o *lsOptions, q *view.ListQuery) error {
	f, err := q.Exchanges()
	if err != nil {
		return usageError{err}
	}
	f.Limit = o.more()
	rows, damaged := view.Rows(ctx, r, f)
	if damaged != nil && !errors.Is(damaged, transcript.ErrDamaged) {
		return damaged
	}
	rows = newest(a, rows, o.limit)
	table, err := a.prices()
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].Price(table)
	}
	if a.json {
		err = a.printJSON(rows)
	} else if len(rows) > 0 || damaged == nil {
		err = a.printRows(ctx, r, rows)
	}
	return errors.Join(err, damaged)
}

var (
	dialects = append(dialect.Names(), string(transcript.Unknown))
	outcomes = []string{string(transcript.OK), string(transcript.HTTPError), string(transcript.StreamError), string(transcript.UpstreamReset),
		string(transcript.ClientDisconnect), string(transcript.RecorderCrashed), string(transcript.RecorderStopped)}
)

// printRuns prints a table of runs. The name comes last: it takes the width that
// the other columns leave.
func (a *app) printRuns(rows []view.RunRow) error { return a.runTable(rows).print() }

func (a *app) runTable(rows []view.RunRow) *table {
	p := a.printer(false)
	t := a.table("run", "mark", "started", "took|took_ms", "model", "agents", "steps", "calls", "errors", "in|in_tokens", "out|out_tokens", "cost|cost_usd", "tags", "name")
	t.narrow = []string{"agents", "out", "calls", "took", "in", "cost", "tags", "started"}
	t.last = 30
	t.right = []string{"took", "agents", "steps", "calls", "errors", "in", "out", "cost"}
	for i := range rows {
		r := &rows[i]
		if r.Damaged {
			t.row(p.style(r.Ref(), bold), p.sign(r), a.when(r.StartedAt), "", "", "", "", "", "", "", "", "", word(strings.Join(r.Tags, ",")), visible(r.Name))
			continue
		}
		in, out := "", ""
		if r.Usage != nil {
			in, out = a.tokens(r.Usage.InputTotal), a.tokens(r.Usage.Output)
		}
		agents := strconv.Itoa(r.Counts.Agents)
		if a.terminal() && r.Counts.Agents < 2 {
			agents = ""
		}
		calls, errs := strconv.Itoa(r.Counts.Calls), strconv.Itoa(r.Counts.Errors)
		if a.terminal() {
			calls, errs = count(r.Counts.Calls), count(r.Counts.Errors)
		}
		t.row(p.style(r.Ref(), bold), p.sign(r), a.when(r.StartedAt), a.took(r.DurationMS), modelsOf(r), agents, strconv.Itoa(r.Counts.Steps),
			calls, p.style(errs, red), in, out, a.runDollars(r), word(strings.Join(r.Tags, ",")), visible(r.Name))
	}
	return t
}

// runDollars formats the cost of a run: empty if nothing is charged, "?" if no
// price is known.
func (a *app) runDollars(r *view.RunRow) string {
	if r.CostUSD == nil && r.Unpriced.Exchanges == 0 {
		return ""
	}
	return a.dollars(r.CostUSD, r.CostIsLowerBound && r.CostUSD != nil)
}

// sign describes the status of a run in one character; in a pipe in one word.
func (p *printer) sign(r *view.RunRow) string {
	sign, style, status := "", dim, string(r.Status)
	switch {
	case r.Damaged:
		sign, style, status = "✗", red, view.Damaged
	case r.Status == view.Running:
		sign, style = "~", yellow
	case r.Status == view.Unfinished:
		sign, style = "?", yellow
	case r.Status == view.Broken:
		sign, style = "!", red
	case r.Status == view.Partial:
		sign, style = "…", yellow
	case r.Status == view.Aside:
		sign = "-"
	}
	if !p.terminal() {
		sign = status
		if r.Pinned {
			sign += ",pinned"
		}
		if r.Imported != "" {
			sign += ",imported"
		}
		return sign
	}
	if r.Pinned {
		return p.style("*", cyan) + p.style(sign, style)
	}
	return p.style(sign, style)
}

// modelsOf names the models of a run, as far as they fit.
func modelsOf(r *view.RunRow) string {
	switch len(r.Models) {
	case 0:
		return ""
	case 1:
		return cut(visible(r.Models[0]), 28)
	}
	return cut(visible(r.Models[0]), 24) + fmt.Sprintf(" +%d", len(r.Models)-1)
}

// tokens formats a count: short for people, exact for programs.
func (a *app) tokens(n int64) string {
	if !a.terminal() {
		return strconv.FormatInt(n, 10)
	}
	return compact(n)
}

func compact(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 100_000:
		return fmt.Sprintf("%.1f k", float64(n)/1e3)
	case n < 1_000_000:
		return fmt.Sprintf("%.0f k", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f M", float64(n)/1e6)
}

// took formats a duration; in a pipe in milliseconds.
func (a *app) took(ms *float64) string {
	switch {
	case ms == nil:
		return a.unknown()
	case a.terminal():
		return duration(ms)
	}
	return millis(*ms)
}

func (a *app) printRows(ctx context.Context, r transcript.Reader, rows []view.Row) error {
	if len(rows) == 0 {
		return a.nothing(ctx, r, "exchange")
	}
	p := a.printer(false)
	t := a.table("ref", "time", "dialect", "model", "outcome", "calls", "results", "in|in_tokens", "out|out_tokens", "cost|cost_usd", "took|took_ms", "user")
	t.narrow = []string{"results", "calls", "dialect", "took", "cost", "in", "out", "time"}
	t.right = []string{"calls", "results", "in", "out", "cost", "took"}
	for i := range rows {
		r := &rows[i]
		in, out := "", ""
		if r.Usage != nil {
			in, out = a.tokens(r.Usage.InputTotal), a.tokens(r.Usage.Output)
		}
		model := r.ResponseModel
		if model == "" {
			model = r.Model
		}
		t.row(r.Ref(), a.when(r.StartedAt), string(r.Dialect), cut(visible(model), 28), p.outcome(r),
			count(r.Calls), count(r.Results), in, out, a.exchangeDollars(r), a.took(r.Timing.DurationMS), visible(what(r)))
	}
	return t.print()
}

func (a *app) exchangeDollars(r *view.Row) string {
	if r.CostUSD == nil && r.Usage == nil {
		return ""
	}
	return a.dollars(r.CostUSD, r.CostUSD != nil && r.Usage != nil && !r.Usage.Complete)
}

// nothing prints why a list of runs or exchanges is empty.
func (a *app) nothing(ctx context.Context, r transcript.Reader, noun string) error {
	all, err := view.Rows(ctx, r, transcript.Filter{Limit: 1})
	switch {
	case err != nil:
		return err
	case len(all) > 0:
		fmt.Fprintf(a.err, "inspect: no %s fits the filter\n", noun)
	default:
		fmt.Fprintf(a.err, "inspect: no %ss; point an agent's base URL at the recorder (see recorder --help)\n", noun)
	}
	return nil
}

// what returns the most distinctive text of an exchange.
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
