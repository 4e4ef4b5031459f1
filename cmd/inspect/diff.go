package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

type diffOptions struct {
	view.DiffOptions
	requests, full bool
}

func newDiff(a *app) *cobra.Command {
	var o diffOptions
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "Show how two runs, steps or exchanges differ",
		Long: `diff compares two conversations, also across models and APIs. A run stands for all
that it did, r12/a2 for one of its agents; a step, an exchange or a take for what
the model saw there, from the first message on, and what it answered. The last
exchange of a branch stands for the whole branch.

Messages and calls are aligned by tool, arguments and text, not by position, so
that an extra step leaves the others aligned. Texts are compared word by word,
arguments and JSON results value by value, numbers by all their digits.
Differences without meaning (call ids, the order of members, timestamps in results,
another notation of the same conversation) are left out and listed below.

With --requests, diff shows how the request of one step differs from the exchange
before it: what its client added, dropped or rewrote.

Exit status: 0 nothing differs, 1 something does, 2 wrong usage, 3 not found.`,
		Example: `  inspect diff r12 r14
  inspect diff t31 r12
  inspect diff r12.4 r14.4 --full
  inspect diff --requests r12.5
  inspect diff r12 r14 --json | jq '.acts[] | select(.fate!="same")'`,
		Args: arguments(cobra.RangeArgs(1, 2)),
		RunE: func(c *cobra.Command, args []string) error { return a.diff(c.Context(), &o, args) },
	}
	f := c.Flags()
	f.BoolVar(&o.requests, "requests", false, "compare the request of a step with the exchange before it")
	f.BoolVar(&o.Exact, "exact", false, "also compare timestamps and generated ids in results and system prompts")
	f.BoolVar(&o.Reasoning, "reasoning", false, "also compare reasoning")
	f.BoolVar(&o.full, "full", false, "also print what is the same")
	return c
}

func (a *app) diff(ctx context.Context, o *diffOptions, args []string) error {
	if o.requests != (len(args) == 1) {
		return usageError{errors.New("give two references, or one and --requests")}
	}
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
	d, err := a.makeDiff(ctx, db, o, args)
	if err != nil {
		return err
	}
	switch {
	case a.json:
		err = a.printJSON(d)
	case a.terminal():
		err = a.showDiff(d, o)
	default:
		err = a.printDiff(d)
	}
	if err == nil && d.Differs() {
		return errFindings
	}
	return err
}

func (a *app) makeDiff(ctx context.Context, r transcript.Reader, o *diffOptions, args []string) (*view.Diff, error) {
	if o.requests {
		e, err := a.resolve(ctx, r, args[0])
		if err != nil {
			return nil, err
		}
		d, err := view.NewRequestDiff(ctx, r, e, o.DiffOptions)
		if errors.Is(err, transcript.ErrNotFound) {
			return nil, notFound(fmt.Sprintf("%s continues no exchange that is recorded", view.Ref(e.N)))
		}
		return d, err
	}
	x, err := a.locate(ctx, r, args[0])
	if err != nil {
		return nil, err
	}
	y, err := a.locate(ctx, r, args[1])
	if err != nil {
		return nil, err
	}
	return view.NewDiff(ctx, r, x, y, o.DiffOptions, time.Now())
}

// fact is one figure of both sides.
type fact struct {
	name, was, now, delta string
	unit                  string // added to its name for programs
}

func (a *app) diffFacts(d *view.Diff) []fact {
	x, y := &d.A, &d.B
	facts := []fact{
		{"model", word(strings.Join(x.Models, ", ")), word(strings.Join(y.Models, ", ")), "", ""},
		{"dialect", dialectsOf(x), dialectsOf(y), "", ""},
		a.counts("steps", x.Steps, y.Steps), a.counts("calls", x.Calls, y.Calls), a.counts("errors", x.Errors, y.Errors),
	}
	if x.Usage != nil || y.Usage != nil {
		u, v := usageOf(x.Usage), usageOf(y.Usage)
		facts = append(facts, a.counts("tokens in", int(u.InputTotal), int(v.InputTotal)), a.counts("cached", int(u.CacheRead), int(v.CacheRead)), a.counts("tokens out", int(u.Output), int(v.Output)))
	}
	delta := view.Delta(x.CostUSD, y.CostUSD)
	if strings.Trim(delta, "0.-") == "" {
		delta = ""
	} else if !strings.HasPrefix(delta, "-") {
		delta = "+" + delta
	}
	facts = append(facts, fact{"cost", a.dollars(x.CostUSD, x.LowerBound), a.dollars(y.CostUSD, y.LowerBound), delta, "_usd"},
		fact{"time", a.took(x.DurationMS), a.took(y.DurationMS), "", "_ms"}, fact{"end", word(x.End), word(y.End), "", ""})
	return facts
}

func usageOf(u *transcript.Usage) transcript.Usage {
	if u == nil {
		return transcript.Usage{}
	}
	return *u
}

func dialectsOf(s *view.Side) string {
	var names []string
	for _, d := range s.Dialects {
		names = append(names, string(d))
	}
	return strings.Join(names, ", ")
}

// counts is a fact of two integers, printed as plain digits for programs.
func (a *app) counts(name string, was, now int) fact {
	write := func(n int) string { return number(int64(n)) }
	if !a.terminal() {
		write = strconv.Itoa
	}
	f := fact{name: name, was: write(was), now: write(now)}
	switch {
	case now > was:
		f.delta = "+" + write(now-was)
	case now < was:
		f.delta = write(now - was)
	}
	return f
}

// dollars formats a cost: exact in a pipe, "?" if it is unknown.
func (a *app) dollars(usd *string, lowerBound bool) string {
	if usd == nil {
		return "?"
	}
	s := *usd
	if a.terminal() {
		s = "$" + roundedDollars(s)
	}
	if lowerBound {
		s = "≥ " + s
	}
	return s
}

// printDiff prints a diff for programs: a row for each difference, and one for each
// unchanged act.
func (a *app) printDiff(d *view.Diff) error {
	w := bufio.NewWriterSize(a.out, 32<<10)
	row := func(fate analysis.Fate, x, y, kind, name, at, was, now string) {
		fmt.Fprintln(w, strings.Join([]string{string(fate), x, y, kind, word(name), word(at), word(was), word(now)}, "\t"))
	}
	row("fate", "a", "b", "kind", "name", "at", "was", "now")
	for _, f := range a.diffFacts(d) {
		row(sameOr(f.was == f.now), d.A.Ref, d.B.Ref, "total", f.name+f.unit, "", f.was, f.now)
	}
	for _, p := range d.Parameters {
		row(analysis.Changed, d.A.Ref, d.B.Ref, "parameter", "", p.At, string(p.Was), string(p.Now))
	}
	for _, t := range d.Tools {
		if len(t.Values) == 0 {
			row(t.Fate, d.A.Ref, d.B.Ref, "tool", t.Name, "", "", "")
		}
		for _, v := range t.Values {
			row(t.Fate, d.A.Ref, d.B.Ref, "tool", t.Name, v.At, string(v.Was), string(v.Now))
		}
	}
	for i := range d.Acts {
		act := &d.Acts[i]
		for _, l := range actLines(act) {
			row(act.Fate, stepOf(act.A), stepOf(act.B), strings.ReplaceAll(string(act.Kind), "_", " "), nameOrRole(act), l.at, l.was, l.now)
		}
	}
	for _, n := range d.Ignored {
		row("ignored", d.A.Ref, d.B.Ref, "noise", n.What, "", "", strconv.Itoa(n.Count))
	}
	return w.Flush()
}

func sameOr(same bool) analysis.Fate {
	if same {
		return analysis.Same
	}
	return analysis.Changed
}

func stepOf(r *view.ActRef) string {
	if r == nil {
		return ""
	}
	return r.Step
}

func nameOrRole(act *view.DiffAct) string {
	if act.Name != "" {
		return act.Name
	}
	return act.Role
}

type actLine struct{ at, was, now string }

// actLines returns the differences of an act, at least one line.
func actLines(act *view.DiffAct) []actLine {
	switch act.Fate {
	case analysis.Added:
		return []actLine{{moved(act), "", whole(act.B)}}
	case analysis.Removed:
		return []actLine{{moved(act), whole(act.A), ""}}
	case analysis.Same:
		return []actLine{{}}
	}
	var list []actLine
	if len(act.Text) > 0 {
		list = append(list, actLine{"text", act.A.Item.Text, act.B.Item.Text})
	}
	for _, v := range act.Arguments {
		list = append(list, actLine{"arguments" + v.At, string(v.Was), string(v.Now)})
	}
	if r := act.Result; r != nil {
		for _, v := range r.Values {
			list = append(list, actLine{"result" + v.At, string(v.Was), string(v.Now)})
		}
		if len(r.Text) > 0 || r.WasMissing || r.NowMissing {
			list = append(list, actLine{"result", textOfItem(act.A.Result), textOfItem(act.B.Result)})
		}
		if r.WasError != r.NowError {
			list = append(list, actLine{"error", strconv.FormatBool(r.WasError), strconv.FormatBool(r.NowError)})
		}
	}
	if list == nil { // parts other than text
		list = []actLine{{}}
	}
	return list
}

func moved(act *view.DiffAct) string {
	if act.Moved {
		return "moved"
	}
	return ""
}

func textOfItem(it *transcript.Item) string {
	if it == nil {
		return ""
	}
	return it.Text
}

// whole returns the full content of an act.
func whole(r *view.ActRef) string {
	s := gistOf(r.Item)
	if r.Result != nil {
		s += " → " + r.Result.Text
	}
	return s
}

func gistOf(it *transcript.Item) string {
	if it.Kind == transcript.ToolCall {
		return it.ArgumentsRaw
	}
	if it.Text == "" {
		return string(it.Raw)
	}
	return it.Text
}
