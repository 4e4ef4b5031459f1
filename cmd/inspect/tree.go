package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

func newTree(a *app) *cobra.Command {
	var evidence bool
	c := &cobra.Command{
		Use:   "tree [REF]",
		Short: "Show a run as a tree: agents, steps, attempts, branches, side calls",
		Long: `tree draws a run, the latest one if none is named: each agent with its steps,
sub-agents under the call that started them, branches where they leave, and side
calls. --evidence adds the evidence for the place of each.`,
		Example: `  inspect tree
  inspect tree r12 --evidence`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			ref := "last"
			if len(args) > 0 {
				ref = args[0]
			}
			return a.tree(c.Context(), ref, evidence)
		},
	}
	c.Flags().BoolVarP(&evidence, "evidence", "e", false, "show the evidence for the place of each step and agent")
	return c
}

func (a *app) tree(ctx context.Context, ref string, evidence bool) error {
	db, err := a.open()
	if err != nil {
		return err
	}
	defer db.Close()
	target, err := a.resolveRun(ctx, db, ref)
	if err != nil {
		return err
	}
	run, err := view.NewRun(ctx, db, target, time.Now())
	if err != nil {
		return err
	}
	if err := a.weigh(ctx, db, run); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(run)
	}
	buffered := bufio.NewWriterSize(a.out, 32<<10)
	p := &treePrinter{runPrinter: &runPrinter{printer: a.printer(false), run: run}, evidence: evidence, drawn: map[string]bool{}}
	p.to = buffered
	p.tree()
	return errors.Join(buffered.Flush(), p.failed)
}

// treePrinter draws a run.
type treePrinter struct {
	*runPrinter
	evidence bool
	drawn    map[string]bool // agents: a recording may contain cycles
}

// knot is one line of a tree with its children.
type knot struct {
	text  string
	style string
	under []knot
}

func (p *treePrinter) tree() {
	p.runHeading()
	p.line("")
	var roots []knot
	for _, a := range p.run.Main() {
		roots = append(roots, p.agent(a))
	}
	for _, a := range p.run.Unattached() {
		k := p.agent(a)
		k.text += " · the call that started it is not known"
		roots = append(roots, k)
	}
	for i := range p.run.Side {
		roots = append(roots, p.side(&p.run.Side[i]))
	}
	p.draw(roots, "")
}

func (p *treePrinter) draw(list []knot, margin string) {
	for i := range list {
		k := &list[i]
		fork, down := "├─ ", "│  "
		if i == len(list)-1 {
			fork, down = "└─ ", "   "
		}
		p.line("%s%s", p.style(margin+fork, dim), p.style(cut(k.text, p.room(len([]rune(margin))+3)), k.style))
		p.draw(k.under, margin+down)
	}
}

func (p *treePrinter) agent(a *view.Agent) knot {
	calls := 0
	for _, s := range a.Steps {
		calls += s.Calls
	}
	k := knot{text: join([]string{a.Ref + " " + a.Role + named(a), counted(len(a.Steps), "step"), counted(calls, "call")}), style: bold}
	if p.evidence || a.Role == "sub" {
		k.text = join([]string{k.text, word(a.FoundBy())})
	}
	if p.drawn[a.ID] {
		return k
	}
	p.drawn[a.ID] = true
	k.under = p.steps(a.Steps)
	for _, b := range a.Branches {
		k.under = append(k.under, p.branch(b))
	}
	if a.Candidates > 0 {
		k.under = append(k.under, knot{text: "↱ " + counted(a.Candidates, "candidate") + " of minimisations (inspect takes --all)", style: dim})
	}
	return k
}

func (p *treePrinter) branch(b *view.Branch) knot {
	text := fmt.Sprintf("↱ after step %d", b.From)
	if b.From == 0 {
		text = "↱ from the start"
	}
	if b.TakeRef != "" {
		text += ", take " + b.TakeRef
	}
	if b.Take != "" {
		text += ", a replay of " + b.Take
	}
	return knot{text: text, style: cyan, under: p.steps(b.Steps)}
}

func (p *treePrinter) steps(list []*view.Step) []knot {
	var out []knot
	take := ""
	for i, s := range list {
		k := p.step(s)
		if i > 0 && s.Take != take { // a take continues another one
			k.text += " · take " + s.Take
		}
		take = s.Take
		out = append(out, k)
	}
	return out
}

// step is a step with the agents that its calls started.
func (p *treePrinter) step(s *view.Step) knot {
	what := strings.Join(s.Tools, ", ")
	if what == "" && s.FinishReason != nil {
		what = *s.FinishReason
	}
	facts := []string{fmt.Sprintf("%-3d x%-5d %s", s.N, s.ExchangeN, word(what)), stepTime(s)}
	if s.Usage != nil {
		facts = append(facts, compact(s.Usage.InputTotal)+" in")
	}
	k := knot{}
	if n := len(s.Attempts); n > 1 {
		facts = append(facts, fmt.Sprintf("%d attempts", n))
		for i := range s.Attempts[:n-1] {
			a := &s.Attempts[i]
			k.under = append(k.under, knot{text: fmt.Sprintf("attempt x%d · %s", a.ExchangeN, failure(a)), style: yellow})
		}
	}
	if s.Partial() {
		facts, k.style = append(facts, "partial"), yellow
	}
	if s.Failed() {
		facts, k.style = append(facts, failure(&s.Attempts[len(s.Attempts)-1])), red
	}
	if p.evidence && s.Link.By != "" {
		facts = append(facts, strings.ReplaceAll(s.Link.By, "_", " ")+": "+word(s.Link.Evidence))
		for _, turn := range s.Link.Turns() {
			facts = append(facts, word(turn))
		}
	}
	k.text = join(facts)
	for _, a := range p.run.Agents {
		if a.Parent != nil && a.Parent.Exchange == s.Exchange {
			under := p.agent(a)
			if a.ParentCall != nil {
				under.text = "⤷ " + shortID(*a.ParentCall) + " → " + under.text
			}
			under.style = cyan
			k.under = append(k.under, under)
		}
	}
	return k
}

func (p *treePrinter) side(c *view.SideCall) knot {
	text := "beside" + strings.Replace(sideLine(c), "  ", " ", 1)
	if p.evidence && c.Link.By != "" {
		text += " · " + c.Link.By + ": " + word(c.Link.Evidence)
	}
	style := dim
	if c.Outcome != transcript.OK {
		style = red
	}
	return knot{text: text, style: style}
}
