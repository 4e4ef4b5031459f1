package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// showOptions are the flags of show.
type showOptions struct{ full, agents, chunks bool }

func newShow(a *app) *cobra.Command {
	var o showOptions
	c := &cobra.Command{
		Use:   "show [REF]",
		Short: "Show a run step by step, or an exchange with all that the model saw",
		Long: `show prints the transcript of a run, the latest one if none is named: step by
step what is new in each, every tool call with its result. Agents that a call
started are folded under it; --agents prints them in place, and branches too.

Of an exchange it prints everything that the model saw, what it answered, and
for each tool call the result with the same call id, also when a later request
brought it. Calls without a result and results without a call are marked.`,
		Example: `  inspect show
  inspect show r12 --agents
  inspect show r12.3 --full
  inspect show x12
  inspect show --json r12 | jq '.agents[0].steps[].outcome'
  inspect show --json x12 | jq '.pairs'`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			ref := "last"
			if len(args) > 0 {
				ref = args[0]
			}
			return a.show(c.Context(), ref, o)
		},
	}
	c.Flags().BoolVar(&o.full, "full", false, "print long texts whole, and all agents and branches")
	c.Flags().BoolVarP(&o.agents, "agents", "a", false, "print sub-agents and branches in place")
	c.Flags().BoolVar(&o.chunks, "chunks", false, "with --json, of an exchange: the arrival time of each piece of the answer")
	return c
}

func (a *app) show(ctx context.Context, ref string, o showOptions) error {
	db, err := a.open()
	if err != nil {
		return err
	}
	defer db.Close()
	t, err := a.locate(ctx, db, ref)
	if err != nil {
		return err
	}
	if t.Run != nil && (t.Step == 0 || !a.json) {
		return a.showRun(ctx, db, t, o.full, o.agents)
	}
	return a.showExchange(ctx, db, t.Exchange, o)
}

func (a *app) showExchange(ctx context.Context, r transcript.Reader, e *transcript.Exchange, o showOptions) error {
	if a.json {
		v, err := view.NewExchange(ctx, r, e)
		if err != nil {
			return err
		}
		table, err := a.prices()
		if err != nil {
			return err
		}
		v.Price(table)
		if o.chunks {
			v.AddChunks(e)
		}
		return a.printJSON(v)
	}
	t, err := view.NewTranscript(ctx, r, e)
	if err != nil {
		return err
	}
	table, err := a.prices()
	if err != nil {
		return err
	}
	t.Exchange.Price(table)
	p := a.printer(o.full)
	p.transcript(t)
	if e.Dialect == transcript.Unknown {
		return errors.Join(p.raw(ctx, r, e), p.failed)
	}
	return p.failed
}

// How many lines of a text are shown without --full.
const (
	linesSaid   = 12 // of what a user or the model says
	linesResult = 4  // of a tool's result
	linesQuiet  = 1  // of system prompts and reasoning
)

func (p *printer) transcript(t *view.Transcript) {
	p.shown, p.cutOff = t.Exchange.Ref(), !t.Exchange.Complete
	p.heading(t)
	source := ""
	output := false
	for i := range t.Entries {
		e := &t.Entries[i]
		if e.Output && !output {
			p.rule("answer of " + t.Exchange.Ref())
			output = true
		} else if source != "" && e.Source != source && !e.Output {
			p.line("")
		}
		source = e.Source
		p.entry(e, i > 0 && t.Entries[i-1].Batch > 1)
	}
	if !output && t.Exchange.Dialect != transcript.Unknown {
		p.rule("no answer")
	}
	p.ending(t)
}

func (p *printer) heading(t *view.Transcript) {
	x := t.Exchange
	model := x.Model
	if x.ResponseModel != "" && x.ResponseModel != x.Model {
		model += " → " + x.ResponseModel
	}
	parts := []string{string(x.Dialect), fmt.Sprintf("%d", x.Status), p.outcome(&x.Row)}
	if model != "" {
		parts = append([]string{word(model)}, parts...)
	}
	if x.FinishReason != nil {
		parts = append(parts, word(*x.FinishReason))
	}
	p.line("%s  %s", p.style(x.Ref(), bold), p.style(strings.Join(parts, " · "), bold))
	facts := []string{p.time(x.StartedAt), duration(x.Timing.DurationMS)}
	if x.Timing.TTFTms != nil {
		facts = append(facts, "first token after "+duration(x.Timing.TTFTms))
	}
	facts = append(append(facts, usage(x.Usage)...), exchangeCost(&x.Row))
	p.line("     %s", p.style(join(facts), dim))
	p.line("     %s", p.style(word(x.Method+" "+x.URL), dim))
	if t.Parent != nil {
		p.line("     %s", p.style(fmt.Sprintf("continues %s by %s: %s", t.Parent.Ref(), x.Link.By, word(x.Link.Evidence)), dim))
	}
	if t.TakeOf != nil {
		changed := "unchanged"
		if n := len(t.Edits); n > 0 {
			changed = fmt.Sprintf("%d result%s changed", n, plural(n))
		}
		p.line("     %s", p.style(fmt.Sprintf("replay of %s, %s", t.TakeOf.Ref(), changed), cyan))
	}
	if len(t.Tools) > 0 {
		p.line("     %s", p.style(cut("tools "+word(strings.Join(t.Tools, ", ")), p.room(5)), dim))
	}
	if what := omitted(x); what != "" {
		p.line("     %s", p.style("not stored, by choice: "+what, yellow))
	}
	p.line("")
	if t.Missing {
		p.line("%s", p.style("  ! the history before this request was not recorded", red))
	}
	if t.Lost != "" {
		p.lostHistory(t)
	}
}

// lostHistory says that what the exchange continues is not there any more. The
// request holds it all the same, unless the provider does.
func (p *printer) lostHistory(t *view.Transcript) {
	what, by := "the exchange that this one continues", "was pruned"
	if t.Lost == view.Damaged {
		by = "is damaged in the database"
	}
	if by := t.Exchange.Link.By; by == transcript.ByResponse || by == transcript.ByConversation || by == transcript.ByReference {
		p.line("%s", p.style("  ! a part of the history before this request "+by, red))
		return
	}
	p.line("%s", p.style("  "+what+" "+by, dim))
}

// omitted says what a user chose not to store.
func omitted(x *view.Exchange) string {
	for _, m := range []view.Message{x.Request, x.Response} {
		if m.Omitted != "" {
			return m.Omitted
		}
	}
	return ""
}

func usage(u *transcript.Usage) []string {
	if u == nil {
		return nil
	}
	in := number(u.InputTotal) + " in"
	if u.CacheRead > 0 && u.InputTotal > 0 {
		in += fmt.Sprintf(" (%d %% cached)", 100*u.CacheRead/u.InputTotal)
	}
	out := number(u.Output) + " out"
	if !u.Complete {
		out = "at least " + out
	}
	return []string{in, out}
}

func join(parts []string) string {
	kept := parts[:0]
	for _, s := range parts {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, " · ")
}

// labelWidth is the width of the column that says who speaks.
const labelWidth = 12

func (p *printer) entry(e *view.Entry, inBatch bool) {
	it := &e.Item
	switch it.Kind {
	case transcript.ToolCall:
		p.call(e)
	case transcript.ToolResult:
		p.loneResult(e)
	case transcript.Reasoning:
		p.said("reasoning", it, linesQuiet, dim)
	case transcript.System:
		p.said("system", it, linesQuiet, dim)
	case transcript.MessageItem:
		style := bold
		if it.Role == "assistant" {
			style = green
		}
		p.said(it.Role, it, linesSaid, style)
	default:
		p.said(string(it.Kind), it, linesQuiet, yellow)
	}
}

func (p *printer) said(label string, it *transcript.Item, most int, style string) {
	text := itemText(it)
	if it.Choice > 0 {
		label = fmt.Sprintf("%s #%d", label, it.Choice)
	}
	p.labelled("  ", label, style, text, most)
}

// itemText is what there is to read of an item.
func itemText(it *transcript.Item) string {
	text := it.Text
	if n := len(it.Parts); n > 0 {
		text += fmt.Sprintf(" [+ %d part%s that %s not text]", n, plural(n), isAre(n))
	}
	if text == "" {
		return oneLine(string(it.Raw))
	}
	return text
}

// labelled prints a text behind its label, in at most so many lines.
func (p *printer) labelled(margin, label, style, text string, most int) {
	layout := p.prose
	if most == linesQuiet {
		layout = p.lines
	}
	lines, more := layout(text, len(margin)+labelWidth, most)
	for i, line := range lines {
		who := ""
		if i == 0 {
			who = word(label)
		}
		p.line("%s%s%s", margin, p.style(fmt.Sprintf("%-*s", labelWidth, who), style), line)
	}
	if more != "" {
		p.line("%s%*s%s", margin, labelWidth, "", p.style(more, dim))
	}
}

func (p *printer) call(e *view.Entry) {
	it := &e.Item
	tool := word(it.Name)
	if it.ServerSide {
		tool += " (run by the provider)"
	}
	args := it.ArgumentsRaw
	if args == "" {
		args = "{}"
	}
	head := fmt.Sprintf("%s  %s", p.style(tool, cyan), p.style(word(it.CallID), dim))
	if e.Batch > 1 {
		head += p.style(fmt.Sprintf("  one of %d at once", e.Batch), dim)
	}
	p.line("  %s %s", p.bar(e), head)
	lines, more := p.lines(args, 6, linesResult)
	for _, line := range lines {
		p.line("  %s   %s", p.bar(e), line)
	}
	if more != "" {
		p.line("  %s   %s", p.bar(e), p.style(more, dim))
	}
	p.result(e)
}

func (p *printer) bar(e *view.Entry) string {
	if e.Pair != nil && (e.Pair.State != transcript.Paired || e.Pair.IsError) && !e.Item.ServerSide {
		return p.style("▌", red)
	}
	return p.style("▌", cyan)
}

func (p *printer) result(e *view.Entry) {
	pair := e.Pair
	if pair == nil {
		return
	}
	if pair.State == transcript.Unanswered {
		why := "no later request has brought a result yet"
		switch {
		case e.Output && p.cutOff:
			why = "the answer was cut off"
		case !e.Output:
			why = "the history goes on without its result; providers refuse such a request"
		}
		p.line("  %s %s", p.bar(e), p.style("! unanswered: "+why, red))
		return
	}
	mark, style := "✓", green
	if pair.IsError {
		mark, style = "✗ error", red
	}
	facts := []string{duration(pair.LatencyMS)}
	if e.Result != nil {
		facts = append(facts, size(len(e.Result.Text)))
	}
	if e.ResultSource != p.shown {
		facts = append(facts, "in "+e.ResultSource)
	}
	if pair.By != "id" {
		facts = append(facts, "joined by "+pair.By)
	}
	if len(e.AlsoIn) > 0 {
		facts = append(facts, "another result in "+strings.Join(e.AlsoIn, ", "))
	}
	if e.Edit != nil {
		facts = append(facts, "changed")
	}
	p.line("  %s %s %s", p.bar(e), p.style(mark, style), p.style(join(facts), dim))
	if e.Result == nil {
		return
	}
	if e.Edit != nil {
		was, _ := p.lines(e.Edit.Was, 10, 1)
		p.line("  %s   %s", p.bar(e), p.style("was: "+was[0], dim))
	}
	lines, more := p.lines(resultText(e.Result), 6, linesResult)
	for _, line := range lines {
		p.line("  %s   %s", p.bar(e), line)
	}
	if more != "" {
		p.line("  %s   %s", p.bar(e), p.style(more, dim))
	}
}

func resultText(it *transcript.Item) string {
	text := it.Text
	if n := len(it.Parts); n > 0 {
		text += fmt.Sprintf("\n[+ %d part%s that %s not text]", n, plural(n), isAre(n))
	}
	return text
}

// loneResult prints a result that stands with no call.
func (p *printer) loneResult(e *view.Entry) {
	why := "! result without a call"
	if e.Pair != nil && e.Pair.State == transcript.Duplicate {
		why = "! a second result for a call that has one"
	}
	p.line("  %s %s  %s", p.style("▌", red), p.style(word(e.Item.CallID), dim), p.style(why, red))
	lines, more := p.lines(resultText(&e.Item), 6, linesResult)
	for _, line := range lines {
		p.line("  %s   %s", p.style("▌", red), line)
	}
	if more != "" {
		p.line("  %s   %s", p.style("▌", red), p.style(more, dim))
	}
}

func (p *printer) ending(t *view.Transcript) {
	x := t.Exchange
	if x.Error != nil {
		p.line("")
		p.line("  %s", p.style("✗ "+visible(join([]string{x.Error.Type, x.Error.Code, oneLine(x.Error.Message)})), red))
	}
	if !x.Complete && x.Outcome != transcript.HTTPError {
		p.line("  %s", p.style("! the answer is not complete: "+string(x.Outcome), red))
	}
	for _, w := range x.Warnings {
		p.line("  %s", p.style("note: "+visible(oneLine(w)), yellow))
	}
	p.line("")
	if len(t.Children) > 0 {
		p.line("  %s", p.style("continued by "+refs(t.Children), dim))
	}
	if len(t.Takes) > 0 {
		p.line("  %s", p.style("replayed as "+refs(t.Takes), cyan))
	}
}

func refs(rows []view.Row) string {
	names := make([]string, len(rows))
	for i := range rows {
		names[i] = rows[i].Ref()
	}
	return strings.Join(names, ", ")
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
