package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
)

// NewTakeDiff compares a take with the recording from its fork on. recorded is the
// exchange that was sent again, and those that continue it. The figures cover these
// and everything the take sent, including the takes that it continues. What both
// share from the first request is only counted (Before).
func NewTakeDiff(ctx context.Context, r transcript.Reader, recorded []*transcript.Exchange, t *transcript.Take, o DiffOptions) (*Diff, error) {
	taken, err := sentInLine(ctx, r, t)
	if err != nil {
		return nil, err
	}
	if len(taken) == 0 || len(recorded) == 0 {
		return nil, fmt.Errorf("exchanges of %s: %w", TakeRef(t.N), transcript.ErrNotFound)
	}
	d := &Diff{}
	d.Sides = [2]*Side{&d.A, &d.B}
	if err := d.A.readLine(ctx, r, recorded, o); err != nil {
		return nil, err
	}
	if err := d.B.readLine(ctx, r, taken, o); err != nil {
		return nil, err
	}
	d.A.Name, d.B.Ref, d.B.Name = "recorded from here on", TakeRef(t.N), "replayed"
	d.compare(o)
	d.leaveOutBefore(recorded[0])
	return d, nil
}

// leaveOutBefore removes the unchanged acts before the fork.
func (d *Diff) leaveOutBefore(first *transcript.Exchange) {
	before := map[string]bool{} // places in the request
	for i := range d.A.acts {
		if a := &d.A.acts[i]; a.sent && a.from == first.ID {
			before[a.at] = true
		}
	}
	d.Acts = slices.DeleteFunc(d.Acts, func(a DiffAct) bool {
		if a.Fate != analysis.Same || a.A.Exchange != first.ID || !before[a.A.At] {
			return false
		}
		d.Before++
		d.Same--
		return true
	})
	d.Divergence = nil
	if i := slices.IndexFunc(d.Acts, func(a DiffAct) bool { return a.Fate != analysis.Same }); i >= 0 {
		d.Divergence = &i
	}
}

// sentInLine returns the steps that a take sent, the last attempt of each, and
// before them those of the takes that it continues. A step that failed and was sent
// again is left out.
func sentInLine(ctx context.Context, r transcript.Reader, t *transcript.Take) ([]*transcript.Exchange, error) {
	takes, err := takeLine(ctx, r, t)
	if err != nil {
		return nil, err
	}
	var list []*transcript.Exchange
	for _, take := range slices.Backward(takes) {
		for _, s := range take.Steps {
			if s.Step == 0 {
				continue
			}
			e, err := r.Exchange(ctx, s.Exchange)
			if lost(err) != "" {
				continue
			}
			if err != nil {
				return nil, err
			}
			if n := len(list); n > 0 && list[n-1].Outcome != transcript.OK {
				list = list[:n-1]
			}
			list = append(list, e)
		}
	}
	return list, nil
}

// readLine reads the acts of a line of exchanges, each continuing the one before
// it, and their sums.
func (s *Side) readLine(ctx context.Context, r transcript.Reader, line []*transcript.Exchange, o DiffOptions) error {
	first, last := line[0], line[len(line)-1]
	s.Ref, s.Steps, s.End, s.DurationMS = Ref(first.N), len(line), endOf(last), between(first.StartedAt, last.EndedAt)
	s.sum(line, o.Prices)
	run := &Run{exchanges: map[string]*transcript.Exchange{}}
	steps := make([]*Step, len(line))
	for i, e := range line {
		run.exchanges[e.ID] = e
		steps[i] = &Step{Ref: Ref(e.N), Exchange: e.ID, exchange: e}
	}
	h, err := readHistory(ctx, r, first)
	if err != nil {
		return err
	}
	a := acting{run: run, ctx: ctx, reader: r, reasoning: o.Reasoning, opening: settingsFirst(withoutReasoning(h.plain()[:h.output]))}
	a.sees(h.turn.Input)
	if err := a.line(nil, steps, 0); err != nil {
		return err
	}
	s.acts, s.thought = a.acts, a.thought
	for i := range s.acts {
		if a := &s.acts[i]; a.Result != nil && a.Result.IsError && !(a.sent && a.from == first.ID) {
			s.Errors++
		}
	}
	s.setSettings(h.turn.Input, h.turn.Parameters)
	return nil
}

// sum adds up the usage of exchanges.
func (s *Side) sum(line []*transcript.Exchange, prices *pricing.Table) {
	var cost pricing.Total
	for _, e := range line {
		row := NewRow(e)
		if model := cmp.Or(row.ResponseModel, row.Model); !slices.Contains(s.Models, model) {
			s.Models = append(s.Models, model)
		}
		if !slices.Contains(s.Dialects, e.Dialect) {
			s.Dialects = append(s.Dialects, e.Dialect)
		}
		s.Calls += row.Calls
		if row.Failed() {
			s.Errors++
		}
		if prices != nil {
			cost.Add(row.use(), prices.Cost(row.use()))
		}
		if u := row.Usage; u != nil {
			if s.Usage == nil {
				s.Usage = &transcript.Usage{Complete: true}
			}
			s.Usage.InputTotal, s.Usage.InputUncached, s.Usage.CacheRead, s.Usage.CacheWrite = s.Usage.InputTotal+u.InputTotal, s.Usage.InputUncached+u.InputUncached, s.Usage.CacheRead+u.CacheRead, s.Usage.CacheWrite+u.CacheWrite
			s.Usage.Output, s.Usage.Reasoning, s.Usage.Total, s.Usage.Complete = s.Usage.Output+u.Output, s.Usage.Reasoning+u.Reasoning, s.Usage.Total+u.Total, s.Usage.Complete && u.Complete
		}
	}
	if s.LowerBound = cost.LowerBound; cost.USD() != nil {
		usd := pricing.Dollars(cost.USD())
		s.CostUSD = &usd
	}
}
