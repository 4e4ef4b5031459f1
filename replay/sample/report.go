package sample

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/effect"
	"github.com/retake-debugger/retake/transcript"
)

// Report is what the takes of several arms show.
type Report struct {
	Group    string      `json:"group"`
	Origin   string      `json:"origin"` // id of the exchange that was replayed
	Arms     []ArmResult `json:"arms"`
	Primary  string      `json:"primary"`  // what was looked at
	Effect   *float64    `json:"effect"`   // how much more often it happened in the first arm than in the last; null with one arm, or more than two
	Interval *[2]float64 `json:"interval"` // of the effect, 95 %
	PValue   *float64    `json:"p_value"`
	Verdict  string      `json:"verdict"`
	Needed   int         `json:"needed,omitempty"` // takes an arm that would tell, if it is open
	// Secondary are further things, of two arms; of more, each arm beside the
	// first. Their p is corrected for how many they are.
	Secondary []Comparison `json:"secondary"`
	Takes     []string     `json:"takes"`
	Stopped   string       `json:"stopped,omitempty"` // why not all takes were played
}

// ArmResult is what came of the takes of one arm.
type ArmResult struct {
	Name       string            `json:"name"`
	N          int               `json:"n"` // takes that count
	Yes        int               `json:"yes"`
	Failed     int               `json:"failed"` // takes that do not
	Outcomes   []OutcomeCount    `json:"outcomes"`
	Model      string            `json:"model"`
	Dialect    string            `json:"dialect"`
	Steps      float64           `json:"steps"` // of a take, on average
	Usage      *transcript.Usage `json:"usage"`
	CostUSD    *string           `json:"cost_usd"`
	LowerBound bool              `json:"cost_is_lower_bound"`
	Losses     []dialect.Loss    `json:"losses"`
	Takes      []string          `json:"takes"`

	tools map[string]int // how often the next answer called these tools
}

// OutcomeCount is how often the next answer did something: see Label.
type OutcomeCount struct {
	Label string `json:"label"`
	Count int    `json:"count"`
}

// Comparison is one thing in two arms.
type Comparison struct {
	Name     string     `json:"name"`
	Arms     [2]string  `json:"arms"`
	Counts   [2]int     `json:"counts"`
	Effect   float64    `json:"effect"`
	Interval [2]float64 `json:"interval"`
	PValue   float64    `json:"p_value"` // corrected (Holm)
	Verdict  string     `json:"verdict"`
}

// mostSecondary bounds how many labels are compared besides.
const mostSecondary = 12

func (s *sampling) compare() *Report {
	out := &Report{Group: s.Group, Origin: s.Arms[0].Request.Origin.ID, Primary: s.Predicate.Name, Secondary: []Comparison{}, Takes: []string{}, Stopped: s.stopped}
	slices.SortFunc(s.played, func(a, b Played) int { return cmp.Compare(a.Take.N, b.Take.N) })
	for i := range s.Arms {
		out.Arms = append(out.Arms, s.arm(i))
	}
	for _, p := range s.played {
		out.Takes = append(out.Takes, p.Take.Ref)
	}
	switch len(out.Arms) {
	case 1:
		out.Verdict = "one arm alone: nothing to compare it with"
	case 2:
		a, b := &out.Arms[0], &out.Arms[1]
		r := effect.Compare(a.count(a.Yes), b.count(b.Yes))
		out.Effect, out.Interval, out.PValue = &r.Difference, &[2]float64{r.Low, r.High}, &r.P
		out.Verdict, out.Needed = s.says(r), r.Needed
		out.Secondary = s.secondary(a, b)
	default:
		out.Secondary = s.againstFirst(out.Arms)
		out.Verdict = fmt.Sprintf("%d arms: each is compared with %s", len(out.Arms), out.Arms[0].Name)
	}
	return out
}

// says returns a verdict in words: an edit did something, models differ.
func (s *sampling) says(r effect.Result) string {
	if s.Arms[0].Request.Speaks() == s.Arms[1].Request.Speaks() && s.Arms[0].Request.Model() == s.Arms[1].Request.Model() {
		return r.String()
	}
	return r.Words("they differ", "no sign that they differ")
}

func (s *sampling) arm(i int) ArmResult {
	a := &s.Arms[i]
	r := ArmResult{Name: a.Name, Model: a.Request.Model(), Dialect: string(a.Request.Speaks()), Losses: append([]dialect.Loss{}, a.Losses...),
		Outcomes: []OutcomeCount{}, Takes: []string{}, tools: map[string]int{}}
	labels, steps := map[string]int{}, 0
	var usage transcript.Usage
	told, usd := 0, new(big.Rat)
	for _, p := range s.played {
		if p.Arm != i {
			continue
		}
		r.Takes = append(r.Takes, p.Take.Ref)
		if p.Take.Usage != nil {
			usage = replay.AddUsage(usage, p.Take.Usage, told == 0)
			told++
		}
		if cost, ok := p.Take.Cost(); ok {
			usd.Add(usd, cost)
			r.CostUSD = new(string)
		}
		r.LowerBound = r.LowerBound || p.Take.LowerBound || p.Take.CostUSD == nil
		if p.Failed {
			r.Failed++
			continue
		}
		r.N++
		steps += len(p.Take.Steps)
		labels[replay.Label(p.Take.First())]++
		r.tools[replay.ToolLabel(p.Take.First())]++
		if p.Yes {
			r.Yes++
		}
	}
	if told > 0 {
		r.Usage = &usage
	}
	if r.CostUSD != nil {
		*r.CostUSD = pricing.Dollars(usd)
	}
	if r.N > 0 {
		r.Steps = float64(steps) / float64(r.N)
	}
	for label, n := range labels {
		r.Outcomes = append(r.Outcomes, OutcomeCount{label, n})
	}
	slices.SortFunc(r.Outcomes, func(a, b OutcomeCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Label, b.Label))
	})
	return r
}

func (a *ArmResult) count(yes int) effect.Arm { return effect.Arm{Yes: yes, N: a.N} }

// secondary compares how often the next answer did each thing that it did, and
// which tools it called.
func (s *sampling) secondary(a, b *ArmResult) []Comparison {
	type thing struct {
		name string
		a, b int
	}
	var things []thing
	add := func(prefix string, x, y map[string]int) {
		for name := range x {
			things = append(things, thing{prefix + name, x[name], y[name]})
		}
		for name := range y {
			if x[name] == 0 {
				things = append(things, thing{prefix + name, 0, y[name]})
			}
		}
	}
	add("tools: ", a.tools, b.tools)
	add("", counts(a.Outcomes), counts(b.Outcomes))
	slices.SortFunc(things, func(x, y thing) int {
		return cmp.Or(cmp.Compare(y.a+y.b, x.a+x.b), cmp.Compare(x.name, y.name))
	})
	things = things[:min(len(things), mostSecondary)]
	results := make([]effect.Result, len(things))
	list := make([]Comparison, len(things))
	for i, t := range things {
		results[i] = effect.Compare(a.count(t.a), b.count(t.b))
		list[i] = Comparison{Name: t.name, Arms: [2]string{a.Name, b.Name}, Counts: [2]int{t.a, t.b}}
	}
	return s.corrected(list, results)
}

func counts(list []OutcomeCount) map[string]int {
	m := map[string]int{}
	for _, o := range list {
		if o.Label != replay.ByText { // it is among the tools
			m[o.Label] = o.Count
		}
	}
	return m
}

// againstFirst compares each arm with the first one.
func (s *sampling) againstFirst(arms []ArmResult) []Comparison {
	first := &arms[0]
	var list []Comparison
	var results []effect.Result
	for i := range arms[1:] {
		a := &arms[1+i]
		results = append(results, effect.Compare(a.count(a.Yes), first.count(first.Yes)))
		list = append(list, Comparison{Name: s.Predicate.Name, Arms: [2]string{a.Name, first.Name}, Counts: [2]int{a.Yes, first.Yes}})
	}
	return s.corrected(list, results)
}

func (s *sampling) corrected(list []Comparison, results []effect.Result) []Comparison {
	p := make([]float64, len(results))
	for i := range results {
		p[i] = results[i].P
	}
	for i, corrected := range effect.Holm(p) {
		r := results[i].Corrected(corrected)
		list[i].Effect, list[i].Interval, list[i].PValue = r.Difference, [2]float64{r.Low, r.High}, r.P
		list[i].Verdict = r.Words("they differ", "no sign that they differ")
	}
	return list
}
