package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

func newCompare(a *app) *cobra.Command {
	var o view.DiffOptions
	c := &cobra.Command{
		Use:   "compare RUN RUN…",
		Short: "Compare many runs side by side",
		Long: `compare shows runs side by side: model, steps, calls by tool, errors, tokens, cost,
time, how each ended, and where each left the path of the first one. A step, an
exchange or a take stands for what the model saw there and answered.

Exit status: 0 all took the path of the first one, 1 some left it, 2 wrong usage,
3 not found.`,
		Example: `  inspect compare r12 r13 r14
  inspect compare r12 t31 t32 t33
  inspect compare r12 r13 --json | jq '.runs[] | {ref, cost_usd, left_at}'`,
		Args: arguments(cobra.MinimumNArgs(2)),
		RunE: func(c *cobra.Command, args []string) error { return a.compare(c.Context(), o, args) },
	}
	c.Flags().BoolVar(&o.Exact, "exact", false, "also compare timestamps and generated ids in results and system prompts")
	return c
}

func (a *app) compare(ctx context.Context, o view.DiffOptions, refs []string) error {
	table, err := a.prices()
	if err != nil {
		return err
	}
	o.Prices = table
	db, err := a.open()
	if err != nil {
		return err
	}
	defer db.Close()
	var targets []*view.Target
	for _, ref := range refs {
		t, err := a.locate(ctx, db, ref)
		if err != nil {
			return err
		}
		targets = append(targets, t)
	}
	c, err := view.NewComparison(ctx, db, targets, o, time.Now())
	if err != nil {
		return err
	}
	switch {
	case a.json:
		err = a.printJSON(c)
	default:
		err = a.printComparison(c)
	}
	if err != nil {
		return err
	}
	for i := range c.Runs {
		if c.Runs[i].LeftAt != nil {
			return errFindings
		}
	}
	return nil
}

// printComparison prints a row for each run. On a terminal it adds what each
// called, where it departs from the first run, and its answer.
func (a *app) printComparison(c *view.Comparison) error {
	p := a.printer(false)
	header := []string{"run", "model", "steps", "calls", "errors", "in|in_tokens", "cached|cached_tokens", "out|out_tokens", "cost|cost_usd", "took|took_ms", "end"}
	if !a.terminal() {
		for _, name := range c.Tools {
			header = append(header, "calls:"+word(name))
		}
		header = append(header, "left_first", "left_at", "fate", "was", "now", "answer")
	}
	t := a.table(header...)
	t.right = []string{"steps", "calls", "errors", "in", "cached", "out", "cost", "took"}
	t.narrow = []string{"cached", "out", "in"}
	for i := range c.Runs {
		r := &c.Runs[i]
		u := usageOf(r.Usage)
		in, cached, out := "", "", ""
		if r.Usage != nil {
			in, cached, out = a.tokens(u.InputTotal), a.tokens(u.CacheRead), a.tokens(u.Output)
		}
		errs := strconv.Itoa(r.Errors)
		if r.Errors > 0 {
			errs = p.style(errs, red)
		}
		cells := []string{p.style(r.Ref, bold), cut(word(strings.Join(r.Models, ", ")), 28), strconv.Itoa(r.Steps), strconv.Itoa(r.Calls), errs, in, cached, out, a.dollars(r.CostUSD, r.LowerBound && r.CostUSD != nil), a.took(r.DurationMS), word(r.End)}
		if !a.terminal() {
			for _, name := range c.Tools {
				cells = append(cells, strconv.Itoa(r.CallsByTool[name]))
			}
			cells = append(cells, leavingCells(r)...)
		}
		t.row(cells...)
	}
	t.last = figureWidth
	if err := t.print(); err != nil || !a.terminal() {
		return err
	}
	for i := range c.Runs {
		p.compared(&c.Runs[i], c.Runs[0].Ref, i == 0)
	}
	return p.failed
}

func leavingCells(r *view.Compared) []string {
	cells := []string{"", "", "", "", ""}
	if l := r.LeftAt; l != nil {
		cells = []string{l.FirstStep, l.Step, string(l.Fate), visible(l.Was), visible(l.Now)}
	}
	return append(cells, visible(r.Answer))
}

// compared prints where a run departs from the first one, and its last answer.
func (p *printer) compared(r *view.Compared, first string, isFirst bool) {
	p.line("")
	p.line("%s  %s", p.style(r.Ref, bold), cut(word(transcript.Head(r.Name, 200)), p.room(len(r.Ref)+2)))
	switch l := r.LeftAt; {
	case isFirst:
	case l == nil:
		p.line("    %s", p.style("took the path of "+first, green))
	default:
		at := "at " + l.FirstStep
		if l.FirstStep == "" {
			at = "behind its end"
		}
		p.line("    left %s %s: %s", first, at, p.style(string(l.Fate), yellow))
		if l.Was != "" && l.Was != l.Now {
			p.line("    − %s", p.style(cut(word(transcript.Head(l.Was, 600)), p.room(6)), red))
		}
		if l.Now != "" && l.Was != l.Now {
			p.line("    + %s", p.style(cut(word(transcript.Head(l.Now, 600)), p.room(6)), green))
		}
		if l.Was == l.Now {
			p.line("    ~ %s %s", cut(word(transcript.Head(l.Now, 600)), p.room(24)), p.style("(another result)", dim))
		}
	}
	var calls []string
	for _, name := range slices.Sorted(maps.Keys(r.CallsByTool)) {
		calls = append(calls, fmt.Sprintf("%s ×%d", word(name), r.CallsByTool[name]))
	}
	if len(calls) > 0 {
		p.line("    %s  %s", p.style("calls", dim), cut(strings.Join(calls, ", "), p.room(11)))
	}
	if r.Answer != "" {
		p.line("    %s %s", p.style("answer", dim), cut(word(transcript.Head(r.Answer, 600)), p.room(11)))
	}
}
