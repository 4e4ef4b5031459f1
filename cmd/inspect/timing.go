package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/view"
)

func newTiming(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "timing [RUN]",
		Short: "Show where the time of a run went",
		Long: `timing draws a waterfall of a run: how long the model took, to its first token and
in all; how long tools took, which is the time from the end of an answer with calls
to the request with their results; and time that nothing is known to have used, such
as waiting for the user. Sub-agents stand where they started; the time that an agent
waited for them is shown apart from tools and waiting. A retried step is shown with
all its attempts. Times that an imported file does not have are unknown (—, in JSON
null) and in no sum.

  ▒ until the first token   █ the answer   ▬ tools   ┄ sub-agents   · waiting

The times of the model are those of all agents together. In a pipe all times are
milliseconds.

Exit status: 0 fine, 2 wrong usage, 3 not found.`,
		Example: `  inspect timing
  inspect timing r12
  inspect timing r12 --json | jq '[.bars[] | select(.kind=="tools")] | max_by(.duration_ms)'`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return a.timing(c.Context(), first(args, "last")) },
	}
}

func (a *app) timing(ctx context.Context, ref string) error {
	db, run, err := a.openRun(ctx, ref)
	if err != nil {
		return err
	}
	defer db.Close()
	w := run.Waterfall()
	switch {
	case a.json:
		return a.printJSON(w)
	case a.terminal():
		return a.showWaterfall(w)
	}
	t := a.table("kind", "step", "start_ms", "duration_ms", "ttft_ms", "what")
	for i := range w.Bars {
		b := &w.Bars[i]
		ttft := ""
		if b.TTFTms != nil {
			ttft = millis(*b.TTFTms)
		}
		what := visible(b.What)
		if b.Partial {
			what += " (partial)"
		}
		t.row(b.Kind, b.Step, known(b.StartMS), known(b.DurationMS), ttft, what)
	}
	return t.print()
}

// known formats milliseconds; "" if they are unknown.
func known(ms *float64) string {
	if ms == nil {
		return ""
	}
	return millis(*ms)
}

// millis formats milliseconds for programs, to the microsecond.
func millis(ms float64) string {
	return strconv.FormatFloat(math.Round(ms*1000)/1000, 'f', -1, 64)
}

func (a *app) showWaterfall(w *view.Waterfall) error {
	p := a.printer(false)
	facts := []string{orDash(duration(w.DurationMS)), "model " + nonzero(w.ModelMS), "tools " + nonzero(w.ToolsMS)}
	if w.SubMS > 0 {
		facts = append(facts, "sub-agents "+duration(&w.SubMS))
	}
	facts = append(facts, "waiting "+nonzero(w.WaitMS))
	p.line("%s  %s", p.style(w.Run, bold), join(facts))
	switch {
	case w.StartedAt == nil:
		p.dimly("nobody knows when its steps were, or how long they took: what it was imported from does not say")
		return p.failed
	case w.Untimed > 0:
		p.dimly(fmt.Sprintf("nobody knows how long %d of these steps and waits for tools took: the sums leave them out", w.Untimed))
	}
	p.line("")
	refs, what := 4, 8
	for i := range w.Bars {
		refs, what = max(refs, len(w.Bars[i].Step)), max(what, displaywidth.String(barName(&w.Bars[i])))
	}
	what = min(what, 22, max(8, p.columns/5))
	room := max(12, p.columns-refs-2-what-2-9-2-8-2)
	for i := range w.Bars {
		b := &w.Bars[i]
		ref := b.Step
		name := barName(b)
		if b.Kind == view.BarTools || b.Kind == view.BarWait || b.Kind == view.BarSub {
			ref = ""
		}
		ttft := ""
		if b.TTFTms != nil {
			ttft = duration(b.TTFTms)
		}
		style := map[string]string{view.BarTools: cyan, view.BarSub: cyan, view.BarWait: dim, view.BarSide: dim}[b.Kind]
		if b.Failed {
			style = red
		} else if b.Partial {
			style = yellow
		}
		p.line("%-*s  %s  %s  %s  %s", refs, ref, p.style(pad(cut(name, what), what), style), padLeft(orDash(duration(b.DurationMS)), 9), p.style(padLeft(ttft, 8), dim), p.stretch(b, w.DurationMS, room))
	}
	p.line("")
	p.dimly("▒ until the first token (4th column)  █ answer  ▬ tools  ┄ sub-agents  · waiting")
	return p.failed
}

// barName describes in a few words what a bar is about.
func barName(b *view.Bar) string {
	name := word(b.What)
	switch {
	case b.Kind == view.BarWait:
		name = "waiting"
	case b.Kind == view.BarSub:
		name = "⤷ " + name
	case b.Attempts > 1:
		name = fmt.Sprintf("%d× %s", b.Attempts, name)
	}
	if b.Partial {
		name += " (partial)"
	}
	return name
}

func nonzero(ms *float64) string {
	if ms != nil && *ms <= 0 {
		return "0"
	}
	return orDash(duration(ms))
}

// stretch draws a bar on a scale of that many columns.
func (p *printer) stretch(b *view.Bar, whole *float64, room int) string {
	if b.StartMS == nil || b.DurationMS == nil {
		return ""
	}
	total := 1.0
	if whole != nil && *whole > 0 {
		total = *whole
	}
	column := func(ms float64) int { return min(room-1, max(0, int(ms/total*float64(room)))) }
	start, end := column(*b.StartMS), column(*b.StartMS+*b.DurationMS)
	width := max(1, end-start)
	lead := strings.Repeat(" ", start)
	switch b.Kind {
	case view.BarTools:
		return lead + p.style(strings.Repeat("▬", width), cyan)
	case view.BarSub:
		return lead + p.style(strings.Repeat("┄", width), cyan)
	case view.BarWait:
		return lead + p.style(strings.Repeat("·", width), dim)
	}
	first := 0
	if b.TTFTms != nil {
		first = min(width-1, max(0, column(*b.StartMS+*b.TTFTms)-start))
	}
	style := green
	if b.Failed {
		style = red
	}
	return lead + p.style(strings.Repeat("▒", first), dim) + p.style(strings.Repeat("█", width-first), style)
}
