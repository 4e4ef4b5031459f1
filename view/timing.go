package view

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// Waterfall shows how a run spent its time. Sums leave out bars of unknown duration
// (Untimed). A sum is nil if all bars of its kind are unknown.
type Waterfall struct {
	Run        string     `json:"run"`
	StartedAt  *time.Time `json:"started_at"`  // nil if unknown, as for imports without times
	DurationMS *float64   `json:"duration_ms"` // nil if unknown
	ModelMS    *float64   `json:"model_ms"`    // sum over all agents, so parallel calls count several times
	ToolsMS    *float64   `json:"tools_ms"`
	SubMS      float64    `json:"sub_agents_ms"` // in which agents waited for the agents they started
	WaitMS     *float64   `json:"wait_ms"`
	Untimed    int        `json:"untimed"` // bars of unknown duration
	Bars       []Bar      `json:"bars"`    // in order of their start
}

// Kinds of bars.
const (
	BarModel = "model" // from the request to the end of the answer, failed attempts included
	BarTools = "tools" // from the end of an answer with calls to the request with their results
	BarWait  = "wait"  // from an answer without calls to the next request: the user, or the client
	BarSub   = "agent" // the part of tools and waits in which sub-agents worked
	BarSide  = "side"  // a side call
)

// Bar is one stretch of time.
type Bar struct {
	Kind       string   `json:"kind"`
	Step       string   `json:"step"` // for tools and waits the step before
	Agent      string   `json:"agent"`
	What       string   `json:"what"`        // the model, the tools, or references of sub-agents
	StartMS    *float64 `json:"start_ms"`    // nil if unknown
	DurationMS *float64 `json:"duration_ms"` // nil if unknown
	TTFTms     *float64 `json:"ttft_ms"`     // for streams: until the first content
	Attempts   int      `json:"attempts"`    // attempts of the step
	Failed     bool     `json:"failed"`
	Partial    bool     `json:"partial"` // the answer is incomplete

	place float64 // sort key
}

// span is a stretch of time with known ends, in ms since the start of the run.
type span struct {
	from, to float64
	what     string
}

// falling puts a waterfall together.
type falling struct {
	*Waterfall
	run     *Run
	place   float64 // place of the bar before
	sums    map[string]float64
	unknown map[string]bool // kinds with bars of unknown duration
}

// Waterfall returns the times of the run without its branches.
func (r *Run) Waterfall() *Waterfall {
	f := falling{Waterfall: &Waterfall{Run: r.Ref(), StartedAt: r.StartedAt, DurationMS: r.DurationMS, Bars: []Bar{}}, run: r, sums: map[string]float64{}, unknown: map[string]bool{}}
	for _, a := range r.Agents {
		f.place = 0
		subs := r.spansUnder(a)
		for i, s := range a.Steps {
			f.add(f.modelBar(a, s))
			if i+1 < len(a.Steps) {
				f.gap(a, s, a.Steps[i+1], subs)
			}
		}
	}
	for i := range r.Side {
		c := &r.Side[i]
		if e := r.exchanges[c.Exchange]; e != nil && r.takes[e.ID] == nil {
			f.add(Bar{Kind: BarSide, Step: Ref(c.ExchangeN), What: c.Model, StartMS: r.since(e.StartedAt), DurationMS: ms(e.Timing.Duration), Attempts: 1})
		}
	}
	return f.finish()
}

// since returns the time since the start of the run.
func (r *Run) since(t time.Time) *float64 {
	if r.StartedAt == nil || t.IsZero() {
		return nil
	}
	v := float64(t.Sub(*r.StartedAt).Microseconds()) / 1000
	return &v
}

func (r *Run) sinceKnown(t *time.Time) *float64 {
	if t == nil {
		return nil
	}
	return r.since(*t)
}

func (f *falling) add(b Bar) {
	if b.StartMS != nil {
		f.place = *b.StartMS
	}
	b.place = f.place
	if b.StartMS, b.DurationMS = toMicro(b.StartMS), toMicro(b.DurationMS); b.DurationMS == nil {
		f.Untimed++
		f.unknown[b.Kind] = true
	} else {
		f.sums[b.Kind] += *b.DurationMS
	}
	if b.StartMS != nil && b.DurationMS != nil && f.DurationMS != nil {
		whole := max(*f.DurationMS, *b.StartMS+*b.DurationMS)
		f.DurationMS = &whole
	}
	f.Bars = append(f.Bars, b)
}

// gap adds the bars between two steps of an agent.
func (f *falling) gap(a *Agent, s, next *Step, subs []span) {
	gap := Bar{Kind: BarWait, Step: s.Ref, Agent: a.Ref, StartMS: f.run.since(s.exchange.EndedAt)}
	if s.Calls > 0 {
		gap.Kind, gap.What = BarTools, strings.Join(s.Tools, ", ")
	}
	from, to := gap.StartMS, f.run.sinceKnown(next.StartedAt)
	switch {
	case from != nil && to != nil:
		for _, b := range cutOut(gap, span{*from, *to, gap.What}, subs) {
			f.add(b)
		}
	case gap.Kind == BarTools:
		f.add(gap)
	default: // there may have been none
		f.unknown[BarWait] = true
	}
}

func (f *falling) finish() *Waterfall {
	slices.SortStableFunc(f.Bars, func(a, b Bar) int { return cmp.Compare(a.place, b.place) })
	f.sums[BarModel] += f.sums[BarSide]
	f.unknown[BarModel] = f.unknown[BarModel] || f.unknown[BarSide]
	f.ModelMS, f.ToolsMS, f.WaitMS, f.SubMS = f.sum(BarModel), f.sum(BarTools), f.sum(BarWait), f.sums[BarSub]
	return f.Waterfall
}

// sum returns the known duration of all bars of a kind.
func (f *falling) sum(kind string) *float64 {
	if f.sums[kind] == 0 && f.unknown[kind] {
		return nil
	}
	v := f.sums[kind]
	return &v
}

// cutOut removes the times of its sub-agents from a gap in an agent's line.
func cutOut(gap Bar, rest span, subs []span) []Bar {
	var list []Bar
	add := func(kind, what string, from, to float64) {
		if took := to - from; took > 0 {
			list = append(list, Bar{Kind: kind, Step: gap.Step, Agent: gap.Agent, What: what, StartMS: &from, DurationMS: &took})
		}
	}
	for _, sub := range subs {
		from, to := max(sub.from, rest.from), min(sub.to, rest.to)
		if from >= to {
			continue
		}
		add(gap.Kind, gap.What, rest.from, from)
		add(BarSub, sub.what, from, to)
		rest.from = to
	}
	add(gap.Kind, gap.What, rest.from, rest.to)
	return list
}

// spansUnder returns when sub-agents of an agent worked, from their first request
// to their last answer, in order. Overlapping spans are merged.
func (r *Run) spansUnder(a *Agent) []span {
	list := []span{}
	for _, sub := range r.Agents {
		if sub.Role != "sub" || sub.ID == a.ID || sub.ParentOf != a.ID && (sub.ParentOf != "" || a.Role != "main") || len(sub.Steps) == 0 {
			continue
		}
		from, to := r.sinceKnown(sub.Steps[0].StartedAt), r.since(sub.Steps[len(sub.Steps)-1].exchange.EndedAt)
		if from != nil && to != nil {
			list = append(list, span{*from, *to, sub.Ref})
		}
	}
	slices.SortStableFunc(list, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	joined := list[:0]
	for _, b := range list {
		if n := len(joined); n > 0 && b.from <= joined[n-1].to {
			last := &joined[n-1]
			last.to = max(last.to, b.to)
			last.what += ", " + b.what
			continue
		}
		joined = append(joined, b)
	}
	return joined
}

func (f *falling) modelBar(a *Agent, s *Step) Bar {
	b := Bar{Kind: BarModel, Step: s.Ref, Agent: a.Ref, What: s.Model, DurationMS: cmp.Or(s.WholeMS, s.DurationMS), Attempts: len(s.Attempts), Failed: s.Failed(), Partial: s.Partial()}
	b.StartMS = f.run.sinceKnown(s.StartedAt)
	if t := s.exchange.Timing.FirstToken; t > 0 && b.StartMS != nil {
		first := float64((s.exchange.StartedAt.Sub(*s.StartedAt) + t).Microseconds()) / 1000
		b.TTFTms = &first
	}
	return b
}

// toMicro rounds milliseconds to the precision of clocks.
func toMicro(ms *float64) *float64 {
	if ms == nil {
		return nil
	}
	v := math.Round(*ms*1000) / 1000
	return &v
}
