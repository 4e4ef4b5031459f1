package view

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
)

// Stats are the sums of exchanges: in total, and by model, tool, run and day.
// Replays count, because they cost too.
type Stats struct {
	Models []ModelStats `json:"models"`
	Tools  []ToolStats  `json:"tools"`
	Runs   []ModelStats `json:"runs"`
	Days   []ModelStats `json:"days"` // by start day in UTC, oldest first; "unknown" comes last
	Over   *StatsOver   `json:"over"`
	Total  ModelStats   `json:"total"`
	// Damaged is the number of unreadable exchanges, which are left out.
	Damaged int `json:"damaged"`
}

// ModelStats are the sums of a model, a run or a day.
type ModelStats struct {
	Name        string   `json:"name"` // the model, r12 for a run, 2026-03-01 for a day
	Exchanges   int      `json:"exchanges"`
	Counted     int      `json:"counted"` // exchanges with known tokens
	Failed      int      `json:"failed"`
	Calls       int      `json:"calls"`
	InputTotal  int64    `json:"input_total"`
	CacheRead   int64    `json:"cache_read"`
	CacheWrite  int64    `json:"cache_write"`
	Output      int64    `json:"output"`
	CachedShare *float64 `json:"cached_share"` // of the input, 0 to 1; nil without input
	CostUSD     *string  `json:"cost_usd"`
	LowerBound  bool     `json:"cost_is_lower_bound"`
	P50         *float64 `json:"p50_ms"` // of the duration
	P95         *float64 `json:"p95_ms"`
	TTFT50      *float64 `json:"ttft_p50_ms"` // until the first content of streams

	durations, ttft []float64
	total           pricing.Total
}

// ToolStats are the sums of a tool's calls. Latency is from the end of the answer
// with the call to the request with the result.
type ToolStats struct {
	Name       string   `json:"name"`
	Calls      int      `json:"calls"`
	Errors     int      `json:"errors"`
	Unanswered int      `json:"unanswered"`
	P50        *float64 `json:"p50_ms"`
	P95        *float64 `json:"p95_ms"`

	latencies []float64
}

// NewStats adds up the exchanges of a filter.
func NewStats(ctx context.Context, r transcript.Reader, f transcript.Filter, prices *pricing.Table) (*Stats, error) {
	g := gathering{prices: prices, models: map[string]*ModelStats{}, days: map[string]*ModelStats{}, over: overTime{}, runs: map[string]*ModelStats{}, tools: map[string]*ToolStats{}, again: map[string]bool{}, counted: map[string][]*ModelStats{}}
	taken, err := takenBy(ctx, r)
	if err != nil {
		return nil, err
	}
	var damaged unreadable
	var ids []string
	seen := attempts{}
	const atOnce = 1000
	for e, err := range r.Exchanges(ctx, f) {
		if err != nil && damaged.take(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		g.exchange(e)
		if seen.later(e, taken[e.ID]) {
			g.again[e.ID] = true
		}
		if e.Calls > 0 {
			ids = append(ids, e.ID)
		}
		if len(ids) == atOnce {
			if err := g.calls(ctx, r, ids); err != nil {
				return nil, err
			}
			ids = ids[:0]
		}
	}
	if err := g.calls(ctx, r, ids); err != nil {
		return nil, err
	}
	s := &Stats{Models: g.list(g.models), Days: g.list(g.days), Over: g.over.finish(), Runs: []ModelStats{}, Tools: []ToolStats{}, Damaged: damaged.count}
	s.Over.Undated = g.undated
	for id, of := range g.runs {
		run, err := r.Run(ctx, id)
		if err != nil && ignoreLost(err) != nil {
			return nil, err
		}
		if err == nil {
			of.Name = RunRef(run.N)
			of.finish()
			s.Runs = append(s.Runs, *of)
		}
	}
	slices.SortFunc(s.Runs, func(a, b ModelStats) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	for _, name := range slices.Sorted(maps.Keys(g.tools)) {
		t := g.tools[name]
		t.P50, t.P95 = percentile(t.latencies, 50), percentile(t.latencies, 95)
		s.Tools = append(s.Tools, *t)
	}
	g.all.finish()
	s.Total = g.all
	return s, nil
}

type gathering struct {
	prices             *pricing.Table
	models, runs, days map[string]*ModelStats
	over               overTime
	tools              map[string]*ToolStats
	all                ModelStats
	undated            int
	again              map[string]bool          // exchanges with a further attempt
	counted            map[string][]*ModelStats // by exchange with calls, the sums that include it
}

func of[K comparable, T any](m map[K]*T, name K, make func() *T) *T {
	if m[name] == nil {
		m[name] = make()
	}
	return m[name]
}

func (g *gathering) exchange(e *transcript.Exchange) {
	name := cmp.Or(e.ResponseModel, e.Model)
	counted := []*ModelStats{&g.all}
	if name != "" {
		counted = append(counted, of(g.models, name, func() *ModelStats { return &ModelStats{Name: name} }))
	}
	day := dayOf(e.StartedAt)
	counted = append(counted, of(g.days, day, func() *ModelStats { return &ModelStats{Name: day} }))
	if e.StartedAt.IsZero() {
		g.undated++
	} else {
		counted = append(counted, g.over.at(e))
	}
	if e.Link.Run != "" {
		counted = append(counted, of(g.runs, e.Link.Run, func() *ModelStats { return &ModelStats{} }))
	}
	cost := g.prices.Cost(useOf(e))
	for _, m := range counted {
		m.add(e, cost)
	}
	if e.Calls > 0 {
		g.counted[e.ID] = counted
	}
}

// dayOf returns the day of a time.
func dayOf(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format(time.DateOnly)
}

func (m *ModelStats) add(e *transcript.Exchange, cost pricing.Cost) {
	m.Exchanges++
	m.Calls += e.Calls
	if e.Outcome != transcript.OK && e.Outcome != transcript.InProgress {
		m.Failed++
	}
	if u := e.Usage; u != nil {
		m.Counted++
		m.InputTotal += u.InputTotal
		m.CacheRead += u.CacheRead
		m.CacheWrite += u.CacheWrite
		m.Output += u.Output
	}
	if isPaid(e) {
		m.total.Add(useOf(e), cost)
	}
	if e.Outcome == transcript.OK {
		if d := ms(e.Timing.Duration); d != nil {
			m.durations = append(m.durations, *d)
		}
		if d := ms(e.Timing.FirstToken); d != nil {
			m.ttft = append(m.ttft, *d)
		}
	}
}

func (m *ModelStats) finish() {
	if m.InputTotal > 0 {
		share := float64(m.CacheRead) / float64(m.InputTotal)
		m.CachedShare = &share
	}
	m.LowerBound = m.total.LowerBound
	if usd := m.total.USD(); usd != nil {
		text := pricing.Dollars(usd)
		m.CostUSD = &text
	}
	m.P50, m.P95, m.TTFT50 = percentile(m.durations, 50), percentile(m.durations, 95), percentile(m.ttft, 50)
}

func (g *gathering) list(m map[string]*ModelStats) []ModelStats {
	list := []ModelStats{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		m[name].finish()
		list = append(list, *m[name])
	}
	return list
}

func (g *gathering) calls(ctx context.Context, r transcript.Reader, ids []string) error {
	rows, err := r.Calls(ctx, ids)
	if err != nil {
		return ignoreLost(err)
	}
	for i := range rows {
		if g.again[rows[i].Exchange] && len(rows[i].Results) == 0 { // it was not run, see triedAgain
			for _, m := range g.counted[rows[i].Exchange] {
				m.Calls--
			}
			continue
		}
		t := of(g.tools, rows[i].Name, func() *ToolStats { return &ToolStats{Name: rows[i].Name} })
		t.Calls++
		if len(rows[i].Results) == 0 {
			t.Unanswered++
			continue
		}
		first := &rows[i].Results[0]
		if first.LatencyMS != nil {
			t.latencies = append(t.latencies, *first.LatencyMS)
		}
		if first.IsError {
			t.Errors++
		}
	}
	return nil
}

// percentile returns the nearest-rank percentile; nil for an empty list.
func percentile(list []float64, p int) *float64 {
	if len(list) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(list))
	v := sorted[(len(sorted)*p+99)/100-1]
	return &v
}
