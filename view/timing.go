package view

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// Waterfall tells where a run's time went.
type Waterfall struct {
	Run        string    `json:"run"`
	StartedAt  time.Time `json:"started_at"`
	DurationMS float64   `json:"duration_ms"`
	ModelMS    float64   `json:"model_ms"` // of all agents together: what ran at once counts for each
	ToolsMS    float64   `json:"tools_ms"`
	SubMS      float64   `json:"sub_agents_ms"` // in which agents waited for those that they started
	WaitMS     float64   `json:"wait_ms"`
	Bars       []Bar     `json:"bars"` // in the order in which they begin
}

// Kinds of bars.
const (
	BarModel = "model" // from the request to the end of the answer, failed attempts included
	BarTools = "tools" // from the end of an answer with calls to the request with their results
	BarWait  = "wait"  // from an answer without calls to the next request: the user, or the client
	BarSub   = "agent" // of tools and waits what sub-agents were at work
	BarSide  = "side"  // a side call
)

// Bar is one stretch of time.
type Bar struct {
	Kind       string   `json:"kind"`
	Step       string   `json:"step"` // of tools and waits the step before
	Agent      string   `json:"agent"`
	What       string   `json:"what"` // the model, the tools, or references of sub-agents
	StartMS    float64  `json:"start_ms"`
	DurationMS float64  `json:"duration_ms"`
	TTFTms     *float64 `json:"ttft_ms"`  // of a stream: until its first content
	Attempts   int      `json:"attempts"` // that the step took
	Failed     bool     `json:"failed"`
	Partial    bool     `json:"partial"` // the answer came without its end
}

// Waterfall tells where the time of the run went, its branches left out.
func (r *Run) Waterfall() *Waterfall {
	w := &Waterfall{Run: r.Ref(), StartedAt: r.StartedAt, Bars: []Bar{}}
	if r.DurationMS != nil {
		w.DurationMS = *r.DurationMS
	}
	since := func(t time.Time) float64 { return float64(t.Sub(r.StartedAt).Microseconds()) / 1000 }
	for _, a := range r.Agents {
		subs := r.spansUnder(a)
		for i, s := range a.Steps {
			w.add(modelBar(a, s, since(s.StartedAt)))
			if i+1 == len(a.Steps) || s.exchange.EndedAt.IsZero() {
				continue
			}
			gap := Bar{Kind: BarWait, Step: s.Ref, Agent: a.Ref, StartMS: since(s.exchange.EndedAt)}
			gap.DurationMS = since(a.Steps[i+1].StartedAt) - gap.StartMS
			if s.Calls > 0 {
				gap.Kind, gap.What = BarTools, strings.Join(s.Tools, ", ")
			}
			for _, b := range cutOut(gap, subs) {
				if b.DurationMS > 0 {
					w.add(b)
				}
			}
		}
	}
	for i := range r.Side {
		c := &r.Side[i]
		if e := r.exchanges[c.Exchange]; e != nil && r.takes[e.ID] == nil {
			w.add(Bar{Kind: BarSide, Step: Ref(c.ExchangeN), What: c.Model, StartMS: since(c.StartedAt), DurationMS: float64(e.Timing.Duration.Microseconds()) / 1000, Attempts: 1})
		}
	}
	slices.SortStableFunc(w.Bars, func(a, b Bar) int {
		switch {
		case a.StartMS < b.StartMS:
			return -1
		case a.StartMS > b.StartMS:
			return 1
		}
		return 0
	})
	return w
}

// cutOut cuts out of a gap in an agent's line when its sub-agents were at work.
func cutOut(gap Bar, subs []Bar) []Bar {
	var list []Bar
	rest := gap
	end := gap.StartMS + gap.DurationMS
	upTo := func(at float64) {
		rest.DurationMS = at - rest.StartMS
		list = append(list, rest)
	}
	for _, sub := range subs {
		from, to := max(sub.StartMS, rest.StartMS), min(sub.StartMS+sub.DurationMS, end)
		if from >= to {
			continue
		}
		upTo(from)
		list = append(list, Bar{Kind: BarSub, Step: gap.Step, Agent: gap.Agent, What: sub.What, StartMS: from, DurationMS: to - from})
		rest.StartMS = to
	}
	upTo(end)
	return list
}

// spansUnder gives when sub-agents of an agent were at work, from their first
// request to their last answer, in order; those that overlap are one span.
func (r *Run) spansUnder(a *Agent) []Bar {
	since := func(t time.Time) float64 { return float64(t.Sub(r.StartedAt).Microseconds()) / 1000 }
	list := []Bar{}
	for _, sub := range r.Agents {
		if sub.Role != "sub" || sub.ID == a.ID || sub.ParentOf != a.ID && (sub.ParentOf != "" || a.Role != "main") || len(sub.Steps) == 0 {
			continue
		}
		last := sub.Steps[len(sub.Steps)-1].exchange
		start := since(sub.Steps[0].StartedAt)
		list = append(list, Bar{What: sub.Ref, StartMS: start, DurationMS: since(last.EndedAt) - start})
	}
	slices.SortStableFunc(list, func(a, b Bar) int { return cmp.Compare(a.StartMS, b.StartMS) })
	joined := list[:0]
	for _, b := range list {
		if n := len(joined); n > 0 && b.StartMS <= joined[n-1].StartMS+joined[n-1].DurationMS {
			last := &joined[n-1]
			last.DurationMS = max(last.DurationMS, b.StartMS+b.DurationMS-last.StartMS)
			last.What += ", " + b.What
			continue
		}
		joined = append(joined, b)
	}
	return joined
}

func modelBar(a *Agent, s *Step, start float64) Bar {
	b := Bar{Kind: BarModel, Step: s.Ref, Agent: a.Ref, What: s.Model, StartMS: start, Attempts: len(s.Attempts), Failed: s.Failed(), Partial: s.Partial()}
	if d := cmp.Or(s.WholeMS, s.DurationMS); d != nil {
		b.DurationMS = *d
	}
	if t := s.exchange.Timing.FirstToken; t > 0 {
		first := float64((s.exchange.StartedAt.Sub(s.StartedAt) + t).Microseconds()) / 1000
		b.TTFTms = &first
	}
	return b
}

func (w *Waterfall) add(b Bar) {
	b.StartMS, b.DurationMS = toMicro(b.StartMS), toMicro(b.DurationMS)
	switch b.Kind {
	case BarModel, BarSide:
		w.ModelMS += b.DurationMS
	case BarTools:
		w.ToolsMS += b.DurationMS
	case BarSub:
		w.SubMS += b.DurationMS
	case BarWait:
		w.WaitMS += b.DurationMS
	}
	w.DurationMS = max(w.DurationMS, b.StartMS+b.DurationMS)
	w.Bars = append(w.Bars, b)
}

// toMicro rounds milliseconds to what clocks tell.
func toMicro(ms float64) float64 { return math.Round(ms*1000) / 1000 }
