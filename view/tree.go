package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// NewRun reads a run in full. The only bodies it reads are requests with results
// that answer no call.
func NewRun(ctx context.Context, r transcript.Reader, run *transcript.Run, now time.Time) (*Run, error) {
	v := &Run{Agents: []*Agent{}, Side: []SideCall{}, Pairs: []transcript.Pair{}, Lint: []lint.Finding{},
		exchanges: map[string]*transcript.Exchange{}, calls: map[transcript.Place]*transcript.CallRow{}, takes: map[string]*transcript.Take{}, tools: map[string][]string{}, byExchange: map[string][]transcript.Pair{}, continued: map[string]bool{}}
	var list []*transcript.Exchange
	var rows []transcript.CallRow
	var readErr error
	reading := make(chan struct{})
	go func() { // concurrently with the sums, which take about a third of the time
		defer close(reading)
		list, rows, readErr = v.read(ctx, r, run.ID)
	}()
	sums, err := Runs(ctx, r, transcript.RunFilter{IDs: []string{run.ID}}, now)
	<-reading
	if err != nil && !errors.Is(err, transcript.ErrDamaged) {
		return nil, err
	}
	if readErr != nil {
		return nil, readErr
	}
	if len(sums) == 0 {
		return nil, fmt.Errorf("exchanges of %s: %w", RunRef(run.N), transcript.ErrNotFound)
	}
	v.RunRow = sums[0]
	if err := v.readTakes(ctx, r); err != nil {
		return nil, err
	}
	agents, err := r.Agents(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	if err := v.pair(ctx, r, list, rows); err != nil {
		return nil, err
	}
	v.grow(list, agents)
	return v, nil
}

// read returns the exchanges of a run, oldest first, and the calls of their
// answers. It reads both concurrently.
func (r *Run) read(ctx context.Context, reader transcript.Reader, run string) (list []*transcript.Exchange, rows []transcript.CallRow, err error) {
	const atOnce = 512
	callers := make(chan []string, 1)
	var callErr error
	var reading sync.WaitGroup
	reading.Go(func() {
		for ids := range callers {
			more, err := reader.Calls(ctx, ids)
			if err != nil && lost(err) == "" && callErr == nil {
				callErr = err
			}
			rows = append(rows, more...)
		}
	})
	var damaged unreadable
	var ids []string
	for e, err := range reader.Exchanges(ctx, transcript.Filter{Run: run, Oldest: true}) {
		if err != nil && damaged.take(err) {
			continue
		}
		if err != nil {
			close(callers)
			reading.Wait()
			return nil, nil, err
		}
		list = append(list, e)
		r.exchanges[e.ID] = e
		if e.Calls > 0 {
			ids = append(ids, e.ID)
		}
		if len(ids) == atOnce {
			callers <- ids
			ids = nil
		}
	}
	callers <- ids
	close(callers)
	reading.Wait()
	r.Unreadable = damaged.count
	return list, rows, callErr
}

// readTakes finds which of the exchanges are replays.
func (r *Run) readTakes(ctx context.Context, reader transcript.Reader) error {
	if r.Takes == 0 {
		return nil
	}
	takes, err := reader.Takes(ctx, "")
	if err != nil && !errors.Is(err, transcript.ErrDamaged) {
		return err
	}
	for i := range takes {
		for _, s := range takes[i].Steps {
			if r.exchanges[s.Exchange] != nil {
				r.takes[s.Exchange] = &takes[i]
			}
		}
	}
	return nil
}

// grow builds the agents from the run's exchanges.
func (r *Run) grow(list []*transcript.Exchange, agents []transcript.Agent) {
	byAgent := map[string][]*transcript.Exchange{}
	var order []string
	for _, e := range list {
		if e.Link.Agent == "" {
			r.Side = append(r.Side, newSideCall(e))
			continue
		}
		if byAgent[e.Link.Agent] == nil {
			order = append(order, e.Link.Agent)
		}
		byAgent[e.Link.Agent] = append(byAgent[e.Link.Agent], e)
	}
	known := map[string]*transcript.Agent{}
	for i := range agents {
		known[agents[i].ID] = &agents[i]
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(rank(known[a]), rank(known[b])) })
	for n, id := range order {
		r.Agents = append(r.Agents, r.agent(n+1, id, known[id], byAgent[id]))
	}
	for _, a := range r.Agents {
		if a.Parent != nil {
			if e := r.exchanges[a.Parent.Exchange]; e != nil {
				a.ParentOf = e.Link.Agent
			}
			if row := r.calls[transcript.Place{Exchange: a.Parent.Exchange, Body: "response", At: a.Parent.At}]; row != nil {
				a.ParentCall = &row.CallID
			}
		}
	}
}

// rank puts main agents first.
func rank(a *transcript.Agent) int {
	if a == nil || a.Main {
		return 0
	}
	return 1
}

func (r *Run) agent(n int, id string, known *transcript.Agent, list []*transcript.Exchange) *Agent {
	a := &Agent{ID: id, N: n, Ref: fmt.Sprintf("%s/a%d", r.Ref(), n), Role: "main"}
	if known != nil {
		a.Key, a.Evidence, a.Parent = known.Key, known.Evidence, known.ParentCall
		if !known.Main {
			a.Role = "sub"
		}
	}
	prefix := r.Ref()
	if n > 1 {
		prefix = a.Ref
	}
	g := growth{run: r, prefix: prefix, byExchange: map[string]*twig{}}
	for _, e := range list {
		g.add(e)
	}
	a.Steps, a.Branches = g.lines()
	a.Candidates = g.candidates
	return a
}

func newSideCall(e *transcript.Exchange) SideCall {
	return SideCall{Exchange: e.ID, ExchangeN: e.N, StartedAt: known(e.StartedAt), Method: e.Method, URL: e.URL, Status: e.Status, Outcome: e.Outcome,
		Model: cmp.Or(e.ResponseModel, e.Model), Preview: e.Preview, Usage: e.Usage, Link: newLink(&e.Link)}
}

// growth groups the exchanges of an agent into steps, and the steps into a line
// with branches.
type growth struct {
	run        *Run
	prefix     string // of the references of its steps
	twigs      []*twig
	byExchange map[string]*twig
	candidates int // of minimisations
}

// twig is a step with what continues it.
type twig struct {
	attempts []*transcript.Exchange
	parent   *twig
	children []*twig
	depth    int // number of steps of the longest line from it on
	take     bool
}

func (t *twig) last() *transcript.Exchange { return t.attempts[len(t.attempts)-1] }

func (t *twig) step() int { return t.attempts[0].Link.Step }

func (g *growth) add(e *transcript.Exchange) {
	t := g.attempted(e)
	if t == nil {
		t = &twig{take: g.run.takes[e.ID] != nil}
		g.twigs = append(g.twigs, t)
	}
	t.attempts = append(t.attempts, e)
	g.byExchange[e.ID] = t
}

// attempted returns the step that the exchange retries.
func (g *growth) attempted(e *transcript.Exchange) *twig {
	if e.Link.Attempt < 2 {
		return nil
	}
	for _, t := range slices.Backward(g.twigs) {
		last := t.last()
		if last.Link.Step == e.Link.Step && last.Link.Attempt < e.Link.Attempt && last.Link.Parent == e.Link.Parent && last.Link.InNode == e.Link.InNode {
			return t
		}
	}
	return nil
}

// lines returns the agent's own line and the branches that leave it.
func (g *growth) lines() ([]*Step, []*Branch) {
	g.join()
	var roots []*twig
	for _, t := range g.twigs {
		if t.parent == nil {
			roots = append(roots, t)
		}
	}
	type start struct {
		from *twig
		at   *twig
	}
	trunk := favourite(roots)
	var waiting []start
	follow := func(t *twig, prefix string) (steps []*Step) {
		for t != nil {
			steps = append(steps, g.step(t, prefix))
			next := favourite(t.children)
			if next != nil && next.take && !t.take {
				next = nil // a replay of the end of a line is not part of the line
			}
			for _, c := range t.children {
				if c != next {
					waiting = append(waiting, start{t, c})
				}
			}
			t = next
		}
		return steps
	}
	steps := follow(trunk, g.prefix)
	for _, t := range roots {
		if t != trunk {
			waiting = append(waiting, start{nil, t})
		}
	}
	branches := []*Branch{}
	for len(waiting) > 0 {
		w := waiting[0]
		waiting = waiting[1:]
		if take := g.run.takes[w.at.last().ID]; take != nil && take.Arm == transcript.CandidateArm {
			g.candidates++
			continue
		}
		b := &Branch{Steps: follow(w.at, "")}
		if w.from != nil {
			b.From, b.After = w.from.step(), w.from.last().ID
		}
		if take := g.run.takes[w.at.last().ID]; take != nil {
			if origin := g.run.exchanges[take.Origin]; origin != nil {
				b.Take = Ref(origin.N)
			}
			b.TakeRef = TakeRef(take.N)
		}
		branches = append(branches, b)
	}
	slices.SortStableFunc(branches, func(a, b *Branch) int { return cmp.Compare(a.Steps[0].ExchangeN, b.Steps[0].ExchangeN) })
	return steps, branches
}

// join finds what each step continues, and the length of the line after it. A step
// whose history was dropped follows the one before it by number.
func (g *growth) join() {
	byStep := map[int][]*twig{}
	for _, t := range g.twigs {
		byStep[t.step()] = append(byStep[t.step()], t)
	}
	for _, t := range g.twigs {
		if p := g.byExchange[t.attempts[0].Link.Parent]; p != nil && p.step() < t.step() {
			t.parent = p
		} else if before := byStep[t.step()-1]; t.step() > 1 && len(before) > 0 {
			t.parent = before[len(before)-1]
		}
		if t.parent != nil {
			t.parent.children = append(t.parent.children, t)
		}
	}
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(byStep))) {
		for _, t := range byStep[n] {
			t.depth++
			if t.parent != nil {
				t.parent.depth = max(t.parent.depth, t.depth)
			}
		}
	}
}

// favourite returns the step that continues the line: no replay, the one with the
// longest line after it, the first of equals.
func favourite(list []*twig) *twig {
	var best *twig
	for _, t := range list {
		if best == nil || best.take && !t.take || best.take == t.take && t.depth > best.depth {
			best = t
		}
	}
	return best
}

func (g *growth) step(t *twig, prefix string) *Step {
	e := t.last()
	s := &Step{
		N: t.step(), Ref: fmt.Sprintf("%s.%d", prefix, t.step()), Exchange: e.ID, ExchangeN: e.N, Outcome: e.Outcome, Complete: e.Complete,
		StartedAt: known(t.attempts[0].StartedAt), Model: cmp.Or(e.ResponseModel, e.Model), Calls: e.Calls, Results: e.Results, Usage: e.Usage,
		Tools: g.run.tools[e.ID], Preview: e.Preview, Link: newLink(&e.Link), Parent: e.Link.Parent, exchange: e,
	}
	if s.Tools == nil {
		s.Tools = []string{}
	}
	if prefix == "" {
		s.Ref = Ref(e.N)
	}
	if e.FinishReason != "" {
		s.FinishReason = &e.FinishReason
	}
	s.DurationMS = between(e.StartedAt, e.EndedAt)
	if len(t.attempts) > 1 {
		s.WholeMS = between(t.attempts[0].StartedAt, e.EndedAt)
	}
	if take := g.run.takes[e.ID]; take != nil {
		s.TakeOf, s.Take = take.Origin, TakeRef(take.N)
	}
	for _, a := range t.attempts {
		s.AttemptIDs = append(s.AttemptIDs, a.ID)
		s.Attempts = append(s.Attempts, Attempt{a.ID, a.N, a.Status, a.Outcome, a.Error, ms(a.Timing.Duration)})
	}
	return s
}
