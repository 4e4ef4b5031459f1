package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

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
		if v.Take, err = view.SentBy(ctx, r, e); err != nil {
			return err
		}
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
	p.transcript(t, &o)
	if e.Dialect == transcript.Unknown && t.Damage == nil {
		return errors.Join(p.raw(ctx, r, e), p.failed)
	}
	return errors.Join(p.failed, t.Damage)
}

// Lines of a text that are shown without --full.
const (
	linesSaid   = 12 // of user and model texts
	linesResult = 4  // of a tool's result
	linesQuiet  = 1  // of system prompts and reasoning
)

func (p *printer) transcript(t *view.Transcript, o *showOptions) {
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
		if !o.shows(e) {
			continue
		}
		p.lead = "  "
		if t.Parent != nil && (e.New || e.ResultNew) && !e.Output {
			p.lead = "+ "
		}
		if o.raw {
			p.rawEntry(e)
		} else {
			p.entry(e)
		}
		p.found(e.Findings)
	}
	if !output && t.Exchange.Dialect != transcript.Unknown {
		p.rule("no answer")
	}
	p.ending(t)
}

// rawEntry prints the exact JSON of an item and of its result.
func (p *printer) rawEntry(e *view.Entry) {
	for _, it := range []*transcript.Item{&e.Item, e.Result} {
		if it != nil {
			p.line("%s%s", p.lead, p.style(kindOf(it), dim))
			for _, line := range split(string(it.Raw)) {
				p.line("    %s", line)
			}
		}
	}
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
	p.line("%s  %s%s", p.style(x.Ref(), bold), p.style(strings.Join(parts, " · "), bold), p.foundCount(x.Lint))
	facts := []string{p.moment(x.StartedAt), duration(x.Timing.DurationMS)}
	if x.Timing.TTFTms != nil {
		facts = append(facts, "first token after "+duration(x.Timing.TTFTms))
	}
	facts = append(append(facts, tokenFacts(x.Usage)...), exchangeCost(&x.Row))
	p.line("     %s", p.style(join(facts), dim))
	p.line("     %s", p.style(word(x.Method+" "+x.URL), dim))
	if t.Parent != nil {
		p.line("     %s", p.style(fmt.Sprintf("continues %s by %s: %s", t.Parent.Ref(), x.Link.By, word(x.Link.Evidence)), dim))
	}
	if t.TakeOf != nil {
		changed := "unchanged"
		if n := len(t.Edits); n > 0 {
			changed = counted(n, "edit")
		}
		p.line("     %s", p.style(fmt.Sprintf("replay of %s, %s", t.TakeOf.Ref(), changed), cyan))
	}
	if t.Take != nil {
		p.takeHeading(t.Take)
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
	if t.Damage != nil {
		p.line("%s", p.style("  ! the request is damaged in the database: only the answer can be read", red))
	}
	p.found(t.Findings)
	if e := x.Examples; e != nil {
		for _, line := range wrap(examplesLine(e), p.room(2)) {
			p.line("  %s", p.style(line, dim))
		}
	}
}

// lostHistory notes that the parent of the exchange is gone. The request still
// contains the history, unless it is server-side.
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

// examplesLine describes which items are examples, and on what evidence.
func examplesLine(e *view.Examples) string {
	return fmt.Sprintf("%s of the prompt %s few-shot example%s (%s): %s", counted(len(e.At), "item"), isAre(len(e.At)), plural(len(e.At)), e.By, e.Evidence)
}

// omitted describes what was not stored by choice.
func omitted(x *view.Exchange) string {
	for _, m := range []view.Message{x.Request, x.Response} {
		if m.Omitted != "" {
			return m.Omitted
		}
	}
	return ""
}

func tokenFacts(u *transcript.Usage) []string {
	if u == nil {
		return nil
	}
	in := number(u.InputTotal) + " in"
	if u.CacheRead > 0 && u.InputTotal > 0 {
		in += fmt.Sprintf(" (%d %% cached)", 100*u.CacheRead/u.InputTotal)
	}
	out := number(u.Output) + " out"
	switch {
	case !u.Complete && u.Output == 0:
		out = "output not known"
	case !u.Complete:
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
	if t.Candidates > 0 {
		p.line("  %s", p.style(counted(t.Candidates, "candidate")+" of minimisations (inspect takes --all)", dim))
	}
}

func refs(rows []view.Row) string {
	names := make([]string, len(rows))
	for i := range rows {
		names[i] = rows[i].Ref()
	}
	return strings.Join(names, ", ")
}

// takeHeading prints which take sent the exchange, how far it went, and its
// purpose.
func (p *printer) takeHeading(t *view.Take) {
	facts := []string{"take " + t.Ref}
	if t.OriginRef != "" {
		facts[0] += " of " + t.OriginRef
	}
	stop := string(t.StopReason)
	if stop == "" {
		stop = "still running, or was killed"
	}
	p.line("     %s", p.style(join(append(facts, string(t.Mode), strings.ReplaceAll(stop, "_", " "), counted(len(t.Steps), "step"), word(t.Reason))), cyan))
}
