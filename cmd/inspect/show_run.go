package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// runPrinter prints a run step by step.
type runPrinter struct {
	*printer
	run    *view.Run
	teller *view.StepReader
	only   showOptions     // what is requested
	open   bool            // sub-agents and branches are printed in place
	margin string          // left margin of nested output
	inside map[string]bool // agents being printed: a recording may contain cycles
	// foundHere counts the printed findings.
	foundHere int
}

// showRun prints a run, one of its agents or one of its steps.
func (a *app) showRun(ctx context.Context, r transcript.Reader, t *view.Target, o showOptions) error {
	run, err := t.View(ctx, r, time.Now())
	if err != nil {
		return err
	}
	table, err := a.prices()
	if err != nil {
		return err
	}
	var pricing sync.WaitGroup
	pricing.Go(func() { run.Price(table) }) // concurrently with the judge, which does not read prices
	p := &runPrinter{printer: a.printer(o.full), run: run, only: o, open: o.agents || o.full, inside: map[string]bool{}}
	agent := t.Agent
	if t.Step > 0 {
		p.only.from, p.only.to = t.Step, t.Step
	}
	if o.ranged() {
		agent = max(agent, 1)
		err = run.JudgePart(ctx, r, view.InputCost(table), o.part(run.Agents[agent-1].Steps))
	} else {
		err = run.Judge(ctx, r, view.InputCost(table))
	}
	pricing.Wait()
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(jsonOf(run, t))
	}
	buffered := bufio.NewWriterSize(a.out, 32<<10)
	p.to, p.teller = buffered, view.NewStepReader(ctx, r, run)
	switch {
	case t.Step > 0:
		err = p.step(t)
	case agent > 0:
		p.runHeading()
		err = p.agent(run.Agents[agent-1])
	default:
		err = p.whole()
	}
	return errors.Join(err, buffered.Flush(), p.failed)
}

func jsonOf(run *view.Run, t *view.Target) any {
	if t.Agent > 0 {
		return run.Agents[t.Agent-1]
	}
	return run
}

// step prints one step.
func (p *runPrinter) step(t *view.Target) error {
	for _, s := range p.only.part(p.run.Agents[max(t.Agent, 1)-1].Steps) {
		told, err := p.teller.Read(s)
		if err != nil {
			return err
		}
		p.runHeading()
		p.told(told)
		p.line("")
		p.line("%s", p.style(fmt.Sprintf("all that the model saw: inspect show x%d", s.ExchangeN), dim))
	}
	return nil
}

// whole prints the main agents, with their branches and the rest of the run.
func (p *runPrinter) whole() error {
	p.runHeading()
	for i, a := range p.run.Main() {
		if i > 0 {
			p.rule("agent " + a.Ref + ", " + a.Evidence)
		}
		if err := p.agent(a); err != nil {
			return err
		}
	}
	if err := p.loose(); err != nil {
		return err
	}
	p.sideCalls()
	p.foundElsewhere()
	if n := p.run.Unreadable; n > 0 {
		p.line("")
		p.line("%s", p.style(fmt.Sprintf("! %d exchange%s of this run cannot be read: the database is damaged there (inspect doctor)", n, plural(n)), red))
	}
	return nil
}

func (p *runPrinter) runHeading() {
	r := p.run
	facts := []string{word(strings.Join(r.Models, ", "))}
	facts = append(facts, counted(r.Counts.Agents, "agent"), counted(r.Counts.Steps, "step"), counted(r.Counts.Calls, "call"))
	errs := ""
	if r.Counts.Errors > 0 {
		errs = " · " + p.style(counted(r.Counts.Errors, "error"), red)
	}
	head := p.style(r.Ref(), bold)
	name := cut(visible(oneLine(r.Name)), p.room(len(r.Ref())+2))
	p.line("%s  %s", head, p.style(name, bold))
	p.line("     %s%s%s%s", p.style(join(facts), dim), errs, p.foundCount(p.judged()), p.statusWord())
	facts = []string{p.moment(r.StartedAt), duration(r.DurationMS)}
	p.facts(5, append(append(facts, tokenFacts(r.Usage)...), runCost(&r.RunRow)))
	marks := r.Tags
	if r.Pinned {
		marks = append([]string{"pinned"}, marks...)
	}
	if r.Imported != "" {
		marks = append([]string{"imported, " + string(r.Imported)}, marks...)
	}
	if len(marks) > 0 {
		p.line("     %s", p.style(word(strings.Join(marks, " · ")), cyan))
	}
	if r.Note != "" {
		p.labelled("     ", "note", cyan, r.Note, linesSaid)
	}
}

// judged prints the findings of the whole run; nothing if only a part was judged.
func (p *runPrinter) judged() []lint.Finding {
	if p.only.ranged() {
		return nil
	}
	return p.run.Lint
}

func (p *runPrinter) statusWord() string {
	switch s := p.run.Status; s {
	case view.Finished:
		return ""
	case view.Broken:
		return " · " + p.style(string(s), red)
	default:
		return " · " + p.style(string(s), yellow)
	}
}

func counted(n int, noun string) string {
	return fmt.Sprintf("%s %s%s", number(int64(n)), noun, plural(n))
}

// agent prints the steps of an agent.
func (p *runPrinter) agent(a *view.Agent) error {
	if p.inside[a.ID] {
		return nil
	}
	p.inside[a.ID] = true
	defer delete(p.inside, a.ID)
	if a.Role == "sub" {
		p.put("")
		p.put(p.style(fmt.Sprintf("sub-agent %s%s · %s", a.Ref, named(a), word(a.FoundBy())), cyan))
	}
	steps := a.Steps
	if len(p.inside) == 1 { // the agent whose steps are requested
		steps = p.only.part(steps)
	}
	if len(steps) > 0 && steps[0] == a.Steps[0] {
		if err := p.branches(a, 0); err != nil {
			return err
		}
	}
	for told, err := range p.teller.All(steps) {
		if err != nil {
			return err
		}
		if err := p.tell(told); err != nil {
			return err
		}
		if err := p.branches(a, told.Step.N); err != nil {
			return err
		}
	}
	return nil
}

// tell prints a step and the agents that its calls started.
func (p *runPrinter) tell(told *view.StepView) error {
	p.told(told)
	return p.under(told)
}

// named returns the client's name of an agent, after a space.
func named(a *view.Agent) string {
	if name := word(a.ShortName()); name != "" {
		return " " + name
	}
	return ""
}

// under prints the agents that a step's calls started.
func (p *runPrinter) under(t *view.StepView) error {
	if !p.open {
		return nil
	}
	for i := range t.Entries {
		for _, a := range p.run.Under(t.Entries[i].Place) {
			if err := p.nested(func() error { return p.agent(a) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// nested prints nested output.
func (p *runPrinter) nested(f func() error) error {
	margin := p.margin
	if len(margin) < 8*4 { // deeper levels would have no width left
		p.margin += p.style("│", dim) + "   "
		p.columns -= 4
		defer func() { p.columns += 4 }()
	}
	err := f()
	p.margin = margin
	return err
}

// replaysShown bounds the replays of a step that are listed.
const replaysShown = 3

// branches prints the branches that leave an agent after a step. Many replays share
// one line, unless they are printed in place.
func (p *runPrinter) branches(a *view.Agent, after int) error {
	var takes []string
	for _, b := range a.Branches {
		if b.From == after && b.Take != "" {
			takes = append(takes, b.TakeRef)
		}
	}
	fold := !p.open && len(takes) > replaysShown
	if fold {
		slices.SortFunc(takes, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }) // t2 before t10
		p.put(p.style(fmt.Sprintf("      ↱ replayed %d times, as %s … %s; inspect takes %s lists them", len(takes), takes[0], takes[len(takes)-1], p.run.Ref()), cyan))
	}
	for _, b := range a.Branches {
		if b.From != after || fold && b.Take != "" {
			continue
		}
		first := b.Steps[0]
		what := fmt.Sprintf("↱ also went on with x%d", first.ExchangeN)
		if after == 0 {
			what = fmt.Sprintf("↱ also began with x%d", first.ExchangeN)
		}
		if b.Take != "" {
			what = fmt.Sprintf("↱ replayed as x%d, of %s, take %s", first.ExchangeN, b.Take, b.TakeRef)
		}
		what += ", " + counted(len(b.Steps), "step")
		p.put(p.style("      "+what, cyan))
		if !p.open {
			continue
		}
		err := p.nested(func() error {
			for told, err := range p.teller.All(b.Steps) {
				if err != nil {
					return err
				}
				if err := p.tell(told); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// loose prints the sub-agents without a known call.
func (p *runPrinter) loose() error {
	for _, a := range p.run.Unattached() {
		p.line("")
		p.put(p.style(fmt.Sprintf("⤷ sub-agent %s%s, %s, %s; the call that started it is not known", a.Ref, named(a), counted(len(a.Steps), "step"), word(a.FoundBy())), cyan))
		if p.open {
			if err := p.nested(func() error { return p.agent(a) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// sidesShown bounds the side calls that are listed.
const sidesShown = 5

func (p *runPrinter) sideCalls() {
	sides := p.run.Side
	if len(sides) == 0 {
		return
	}
	p.line("")
	p.put(p.style(counted(len(sides), "side call")+": what the client asked beside the conversation", dim))
	for _, c := range sides[:min(len(sides), sidesShown)] {
		p.put(p.style(cut(sideLine(&c), p.columns-2), dim))
	}
	if more := len(sides) - sidesShown; more > 0 {
		p.put(p.style(fmt.Sprintf("  … %d more; inspect tree %s lists all", more, p.run.Ref()), dim))
	}
}

func sideLine(c *view.SideCall) string {
	_, path, _ := strings.Cut(c.URL, "://")
	if i := strings.IndexByte(path, '/'); i >= 0 {
		path = path[i:]
	}
	facts := []string{word(c.Method + " " + path), word(c.Model)}
	if c.Outcome != transcript.OK {
		facts = append(facts, fmt.Sprintf("%s %d", c.Outcome, c.Status))
	}
	return fmt.Sprintf("  x%-5d %s", c.ExchangeN, join(append(facts, word(c.Preview))))
}

// put prints a line after the margin.
func (p *runPrinter) put(s string) { p.print(p.margin + s) }

// told prints a step.
func (p *runPrinter) told(t *view.StepView) {
	p.put("")
	s := p.stepPrinter(t)
	s.context()
	s.found(t.Findings)
	if x := t.Examples; x != nil {
		s.note(examplesLine(x), dim)
	}
	for i := range t.Entries {
		if e := &t.Entries[i]; p.only.shows(e) {
			s.entry(e)
			s.found(e.Findings)
		}
	}
	s.ending()
}

// widest returns the widest name of the tools that a step called.
func widest(entries []view.Entry) int {
	width := 0
	for i := range entries {
		if entries[i].Item.Kind == transcript.ToolCall {
			width = max(width, len(word(entries[i].Item.Name)))
		}
	}
	return min(width, 24)
}

// output returns the writer of a printer.
func (p *printer) output() io.Writer {
	if p.to != nil {
		return p.to
	}
	return p.out
}
