package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/retake-debugger/retake/cmd/internal/usage"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// statsOptions are the flags of stats about exchanges.
type statsOptions struct {
	by, since, model string
}

var statsBy = []string{"model", "tool", "run"}

func (a *app) usageStats(ctx context.Context, o *statsOptions, args []string) error {
	if err := usage.OneOf("--by", o.by, statsBy); err != nil {
		return usageError{err}
	}
	f := transcript.Filter{Model: o.model}
	if o.since != "" {
		var err error
		if f.Since, err = moment(o.since, time.Now()); err != nil {
			return usageError{fmt.Errorf("--since: %w", err)}
		}
	}
	table, err := a.prices()
	if err != nil {
		return err
	}
	db, err := a.open()
	if err != nil {
		return err
	}
	defer db.Close()
	if len(args) > 0 {
		run, err := a.resolveRun(ctx, db, args[0])
		if err != nil {
			return err
		}
		f.Run = run.ID
	}
	s, err := view.NewStats(ctx, db, f, table)
	switch {
	case err != nil:
		return err
	case a.json:
		return a.printJSON(s)
	case s.Total.Exchanges == 0:
		return a.nothing(ctx, db, "exchange")
	}
	return a.printStats(s, o.by)
}

func (a *app) printStats(s *view.Stats, by string) error {
	p := a.printer(false)
	gap := func() {
		if a.terminal() && by == "" {
			p.line("")
		}
	}
	if by == "" && !a.terminal() {
		by = "model" // one table with fixed columns
	}
	if by == "" || by == "model" {
		if err := a.modelTable(p, "model", append(s.Models, total(s))); err != nil {
			return err
		}
		gap()
	}
	if (by == "" || by == "tool") && (len(s.Tools) > 0 || by == "tool") {
		if err := a.toolTable(p, s.Tools); err != nil {
			return err
		}
		gap()
	}
	if by == "run" || by == "" && len(s.Runs) > 1 {
		runs := s.Runs
		if more := len(runs) - runsOfStats; by == "" && more > 0 {
			runs = runs[more:]
		}
		if err := a.modelTable(p, "run", runs); err != nil {
			return err
		}
		if more := len(s.Runs) - len(runs); more > 0 {
			p.line("%s", p.style(fmt.Sprintf("the latest of %s; --by run lists all", counted(len(s.Runs), "run")), dim))
		}
	}
	if s.Damaged > 0 {
		fmt.Fprintf(a.err, "inspect: %s cannot be read and is left out (inspect doctor)\n", counted(s.Damaged, "exchange"))
	}
	return p.failed
}

// runsOfStats is how many runs are listed without --by run.
const runsOfStats = 10

func total(s *view.Stats) view.ModelStats {
	all := s.Total
	all.Name = "all"
	return all
}

func (a *app) modelTable(p *printer, name string, list []view.ModelStats) error {
	t := a.table(name, "exchanges", "failed", "calls", "in|in_tokens", "cached|cached_share", "out|out_tokens", "cost|cost_usd", "p50|p50_ms", "p95|p95_ms", "ttft|ttft_p50_ms")
	t.right = t.header[1:11]
	t.narrow = []string{"ttft", "calls", "out", "p50"}
	for i := range list {
		m := &list[i]
		share := ""
		if m.CachedShare != nil {
			share = fmt.Sprintf("%.0f %%", *m.CachedShare*100)
			if !a.terminal() {
				share = strconv.FormatFloat(*m.CachedShare, 'f', 4, 64)
			}
		}
		failed := a.zero(m.Failed)
		t.row(cut(word(m.Name), 36), number(int64(m.Exchanges)), p.style(failed, red), a.zero(m.Calls), a.tokens(m.InputTotal), share, a.tokens(m.Output), a.dollars(m.CostUSD, m.LowerBound && m.CostUSD != nil),
			a.took(m.P50), a.took(m.P95), a.took(m.TTFT50))
	}
	t.last = figureWidth
	return t.print()
}

// figureWidth is the width of a last column of figures.
const figureWidth = 10

// zero formats a count: nothing for zero on a terminal, a figure in a pipe.
func (a *app) zero(n int) string {
	if a.terminal() {
		return count(n)
	}
	return strconv.Itoa(n)
}

func (a *app) toolTable(p *printer, list []view.ToolStats) error {
	t := a.table("tool", "calls", "errors", "unanswered", "p50|p50_ms", "p95|p95_ms")
	t.right = t.header[1:6]
	for i := range list {
		s := &list[i]
		t.row(cut(word(s.Name), 36), strconv.Itoa(s.Calls), p.style(a.zero(s.Errors), red), p.style(a.zero(s.Unanswered), red), a.took(s.P50), a.took(s.P95))
	}
	t.last = figureWidth
	return t.print()
}
