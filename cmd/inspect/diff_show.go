package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// roundedDollars rounds an exact amount for people.
func roundedDollars(exact string) string {
	r, ok := new(big.Rat).SetString(exact)
	if !ok {
		return exact
	}
	if r.Sign() < 0 {
		return "−" + pricing.Rounded(r.Neg(r))
	}
	return pricing.Rounded(r)
}

// diffPrinter prints a diff for people.
type diffPrinter struct {
	*printer
	d          *view.Diff
	refA, refB int // widths of the step columns
	name       int
}

func (a *app) showDiff(d *view.Diff, o *diffOptions) error {
	buffered := bufio.NewWriterSize(a.out, 32<<10)
	p := &diffPrinter{printer: a.printer(o.full), d: d, refA: len(d.A.Ref), refB: len(d.B.Ref), name: 6}
	p.to = buffered
	for i := range d.Acts {
		act := &d.Acts[i]
		p.refA, p.refB = max(p.refA, len(stepOf(act.A))), max(p.refB, len(stepOf(act.B)))
		if act.Fate != analysis.Same || o.full {
			p.name = min(24, max(p.name, displaywidth.String(p.nameOf(act))))
		}
	}
	p.heading()
	p.settings()
	p.divergence()
	p.acts()
	p.ignored()
	return errors.Join(buffered.Flush(), p.failed)
}

func (p *diffPrinter) heading() {
	facts := p.diffFacts(p.d)
	width := displaywidth.String(p.d.A.Ref)
	for _, f := range facts {
		width = max(width, displaywidth.String(f.was))
	}
	width = min(max(width, 28), p.room(12)/2)
	p.line("%-11s%s  %s", "", p.style(pad(p.d.A.Ref, width), bold), p.style(p.d.B.Ref, bold))
	name := func(s *view.Side) string { return word(transcript.Head(s.Name, 200)) }
	p.line("%-11s%s  %s", "", pad(cut(name(&p.d.A), width), width), cut(name(&p.d.B), p.room(13+width)))
	for _, f := range facts {
		if f.was == "" && f.now == "" {
			continue
		}
		style, delta := "", ""
		if f.was != f.now {
			style = yellow
		}
		if f.delta != "" {
			delta = "  " + strings.Replace(f.delta, "-", "−", 1)
		}
		p.line("%s%s  %s%s", p.style(fmt.Sprintf("%-11s", f.name), dim), pad(cut(f.was, width), width), p.style(cut(f.now, p.room(13+width+len(delta))), style), p.style(delta, dim))
	}
}

func (p *diffPrinter) settings() {
	for _, v := range p.d.Parameters {
		p.line("%s%s", p.style(fmt.Sprintf("%-11s", "parameter"), dim), p.change(strings.TrimPrefix(v.At, "/"), v, 11))
	}
	names := map[analysis.Fate][]string{}
	for _, t := range p.d.Tools {
		names[t.Fate] = append(names[t.Fate], word(t.Name))
	}
	for _, f := range []analysis.Fate{analysis.Removed, analysis.Added} {
		if len(names[f]) > 0 {
			for i, line := range wrap(strings.Join(names[f], ", "), p.room(21)) {
				label := [2]string{"tools", string(f)}
				if i > 0 {
					label = [2]string{}
				}
				p.line("%s%s%s", p.style(fmt.Sprintf("%-11s", label[0]), dim), p.style(fmt.Sprintf("%-9s", label[1]), fateStyle(f)), line)
			}
		}
	}
	for _, t := range p.d.Tools {
		if t.Fate != analysis.Changed {
			continue
		}
		p.line("%s%s", p.style(fmt.Sprintf("%-11s", "tool"), dim), p.style(word(t.Name), cyan))
		for i, v := range t.Values {
			if i == shortList && !p.full {
				p.line("%13s%s", "", p.style(fmt.Sprintf("… %d more", len(t.Values)-i), dim))
				break
			}
			p.line("%13s%s", "", p.change(v.At, v, 13))
		}
	}
}

const shortList = 4

// change prints a changed value.
func (p *diffPrinter) change(at string, v analysis.Difference, indent int) string {
	room := p.room(indent + displaywidth.String(word(at)) + 6)
	was, now := word(string(v.Was)), word(string(v.Now))
	half := room / 2
	if !p.full {
		was = cut(was, max(half, room-displaywidth.String(now)))
		now = cut(now, max(half, room-displaywidth.String(was)))
	}
	switch {
	case v.Was == nil:
		return fmt.Sprintf("%s: %s", word(at), p.style("+ "+now, green))
	case v.Now == nil:
		return fmt.Sprintf("%s: %s", word(at), p.style("− "+was, red))
	}
	return fmt.Sprintf("%s: %s → %s", word(at), p.style(was, red), p.style(now, green))
}

func fateStyle(f analysis.Fate) string {
	return map[analysis.Fate]string{analysis.Added: green, analysis.Removed: red, analysis.Changed: yellow}[f]
}

func (p *diffPrinter) divergence() {
	d := p.d
	p.line("")
	counts := fmt.Sprintf("%d same, %d changed, %d added, %d removed", d.Same, d.Changed, d.Added, d.Removed)
	if d.Divergence == nil {
		p.line("%s · %s", p.style("nothing diverges", green), counts)
		return
	}
	first := &d.Acts[*d.Divergence]
	var at []string
	for _, s := range []string{stepOf(first.A), stepOf(first.B)} {
		if s != "" {
			at = append(at, s)
		}
	}
	p.line("first divergence at %s · %s", p.style(strings.Join(at, " / "), bold), counts)
}

// around is how many unchanged acts are shown next to a difference.
const around = 1

// acts prints the lines of the diff. Longer unchanged stretches are summed up.
func (p *diffPrinter) acts() {
	p.line("")
	acts := p.d.Acts
	for i := 0; i < len(acts); {
		if acts[i].Fate != analysis.Same || p.full {
			p.act(&acts[i])
			i++
			continue
		}
		end := i
		for end < len(acts) && acts[end].Fate == analysis.Same {
			end++
		}
		from, to := i+around, end-around
		if i == 0 {
			from = 0
		}
		if end == len(acts) {
			to = end
		}
		if to-from < 2 {
			from, to = end, end
		}
		for ; i < from; i++ {
			p.act(&acts[i])
		}
		if to > from {
			p.line("%s", p.style(fmt.Sprintf("  ⋯ %s the same, %s to %s", counted(to-from, "line"), stepOf(acts[from].A), stepOf(acts[to-1].A)), dim))
		}
		for i = to; i < end; i++ {
			p.act(&acts[i])
		}
	}
}

func (p *diffPrinter) nameOf(act *view.DiffAct) string {
	name := nameOrRole(act)
	if act.Kind == transcript.Reasoning || name == "" {
		name = strings.ReplaceAll(string(act.Kind), "_", " ")
	}
	depth := 0
	for _, r := range []*view.ActRef{act.A, act.B} {
		if r != nil {
			depth = r.Depth
		}
	}
	return strings.Repeat("› ", min(depth, 4)) + word(name)
}

// act prints a line of the diff, and its differences below.
func (p *diffPrinter) act(act *view.DiffAct) {
	sign, style := map[analysis.Fate]string{analysis.Same: " ", analysis.Changed: "~", analysis.Added: "+", analysis.Removed: "−"}[act.Fate], fateStyle(act.Fate)
	margin := fmt.Sprintf("%s %s  %s  ", sign, pad(stepOf(act.A), p.refA), pad(stepOf(act.B), p.refB))
	indent := 2 + p.refA + 2 + p.refB + 2
	if act.Fate == analysis.Same && !act.Moved { // only the name is shown
		p.line("%s%s", p.style(margin, style), p.style(cut(p.nameOf(act), p.room(indent)), cyan))
		return
	}
	name := pad(cut(p.nameOf(act), p.name), p.name)
	room := p.room(indent + p.name + 2)
	text := ""
	switch act.Fate {
	case analysis.Added:
		text = p.sideText(act.B, room)
	case analysis.Removed:
		text = p.sideText(act.A, room)
	case analysis.Changed:
		if len(act.Text) == 0 {
			text = cut(word(transcript.Head(gistOf(act.B.Item), 600)), room)
		}
	}
	if act.Moved {
		text = "(moved) " + cut(text, room-8)
	}
	p.line("%s%s  %s", p.style(margin, style), p.style(name, cyan), p.style(text, lineStyle(act)))
	if act.Fate == analysis.Changed {
		p.changed(act, indent+2)
	}
}

// lineStyle colours what is added or removed.
func lineStyle(act *view.DiffAct) string {
	if act.Fate == analysis.Added || act.Fate == analysis.Removed {
		return fateStyle(act.Fate)
	}
	return dim
}

func (p *diffPrinter) sideText(r *view.ActRef, room int) string {
	s := word(transcript.Head(gistOf(r.Item), 600))
	if p.full {
		return s
	}
	if r.Result == nil {
		return cut(s, room)
	}
	mark := " → "
	if r.Result.IsError {
		mark = " → ✗ "
	}
	result := word(transcript.Head(r.Result.Text, 600))
	left := max(room*55/100, room-displaywidth.String(mark+result))
	s = cut(s, left)
	return cut(s+mark+result, room)
}

// changed prints the differences between two versions of an act.
func (p *diffPrinter) changed(act *view.DiffAct, indent int) {
	margin := strings.Repeat(" ", indent)
	if len(act.Text) > 0 {
		p.spans(margin, "", act.Text)
	}
	for i, v := range act.Arguments {
		if i == 2*shortList && !p.full {
			p.line("%s%s", margin, p.style(fmt.Sprintf("… %d more", len(act.Arguments)-i), dim))
			break
		}
		p.line("%s%s", margin, p.change(strings.TrimPrefix(v.At, "/"), v, indent))
	}
	r := act.Result
	if r == nil {
		return
	}
	if r.WasError != r.NowError {
		word := map[bool]string{true: "✗ error", false: "✓ no error"}
		p.line("%sresult: %s → %s", margin, word[r.WasError], word[r.NowError])
	}
	switch {
	case r.WasMissing:
		p.line("%sresult: %s", margin, p.style("+ "+cut(word(transcript.Head(act.B.Result.Text, 600)), p.room(indent+10)), green))
	case r.NowMissing:
		p.line("%sresult: %s", margin, p.style("− "+cut(word(transcript.Head(act.A.Result.Text, 600)), p.room(indent+10)), red))
	}
	for i, v := range r.Values {
		if i == 2*shortList && !p.full {
			p.line("%s%s", margin, p.style(fmt.Sprintf("… %d more", len(r.Values)-i), dim))
			break
		}
		p.line("%s%s", margin, p.change("result"+v.At, v, indent))
	}
	if len(r.Text) > 0 {
		p.spans(margin, "result: ", r.Text)
	}
}

func (p *diffPrinter) ignored() {
	if len(p.d.Ignored) == 0 {
		return
	}
	p.line("")
	var parts []string
	for _, n := range p.d.Ignored {
		what := n.What
		if n.Count > 1 {
			what += fmt.Sprintf(" (%d)", n.Count)
		}
		parts = append(parts, what)
	}
	for _, line := range wrap("not counted: "+strings.Join(parts, "; "), p.room(0)) {
		p.line("%s", p.style(line, dim))
	}
}
