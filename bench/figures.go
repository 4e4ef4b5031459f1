package main

import "slices"

// result is what a scenario yielded.
type result struct {
	Scenario scenario   `json:"scenario"`
	Targets  []*summary `json:"targets"`
	Verdicts []verdict  `json:"verdicts"`
}

// summary is what a scenario yielded for one target: medians over the rounds.
type summary struct {
	Target   string  `json:"target"`
	Requests int     `json:"requests"` // in all rounds
	Failed   int     `json:"failed"`
	Failure  string  `json:"failure,omitempty"`
	PerSec   float64 `json:"requests_per_s"`
	P50      float64 `json:"p50_us"`
	P99      float64 `json:"p99_us"`
	// Added is over direct in the same round.
	AddedP50   float64 `json:"added_p50_us"`
	AddedP99   float64 `json:"added_p99_us"`
	AddedFirst float64 `json:"added_first_p50_us"`
	CPU        float64 `json:"cpu_s_per_1000"` // what it takes to store and to index included
	Drain      float64 `json:"drain_s"`        // longest wait after a cell until all was stored
	Index      float64 `json:"index_s"`        // and until all was indexed
	IdleMB     float64 `json:"idle_mb"`
	PeakMB     float64 `json:"peak_mb"`
	RestMB     float64 `json:"rest_mb"` // resident after the last cell
	// Ratios are to reverseproxy in the same round.
	Throughput      ratio `json:"throughput_ratio"`
	AddedP50Ratio   ratio `json:"added_p50_ratio"`
	AddedP99Ratio   ratio `json:"added_p99_ratio"`
	AddedFirstRatio ratio `json:"added_first_ratio"`
	CPURatio        ratio `json:"cpu_ratio"`

	cells []*cell
}

// ratio is the median of a ratio over rounds, with its quartiles. Rounds in which
// noise reduced the divisor to nothing do not count.
type ratio struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Rounds int     `json:"rounds"`
}

// verdict compares a figure with its bar.
type verdict struct {
	Scenario string  `json:"scenario"`
	Figure   string  `json:"figure"`
	Value    float64 `json:"value"`
	Bound    float64 `json:"bound"`
	AtMost   bool    `json:"at_most"` // else at least
	OK       bool    `json:"ok"`
	Spread   *ratio  `json:"spread,omitempty"` // where the figure is a ratio
}

func (r *result) find(name string) *summary {
	for _, s := range r.Targets {
		if s.Target == name {
			return s
		}
	}
	return nil
}

// summarise makes figures out of the cells.
func (r *result) summarise() {
	straight, bare := r.find(direct), r.find(reverseproxy)
	for _, s := range r.Targets {
		s.summarise()
		if straight != nil {
			s.AddedP50 = median(s.each(added(straight, p50)))
			s.AddedP99 = median(s.each(added(straight, p99)))
			s.AddedFirst = median(s.each(added(straight, firstP50)))
		}
		if bare == nil || s == straight {
			continue
		}
		s.Throughput = ratios(s.each(perSecond), bare.each(perSecond))
		s.CPURatio = ratios(s.each(cpu), bare.each(cpu))
		if straight == nil {
			continue
		}
		s.AddedP50Ratio = ratios(s.each(added(straight, p50)), bare.each(added(straight, p50)))
		s.AddedP99Ratio = ratios(s.each(added(straight, p99)), bare.each(added(straight, p99)))
		s.AddedFirstRatio = ratios(s.each(added(straight, firstP50)), bare.each(added(straight, firstP50)))
	}
	if judged := r.find(recording); judged != nil {
		for _, b := range r.Scenario.Bars {
			r.Verdicts = append(r.Verdicts, b.hold(r.Scenario.Name, judged)...)
		}
	}
}

// hold compares a target with the bar. A figure that could not be measured has no
// verdict.
func (b bar) hold(scenario string, s *summary) []verdict {
	value, spread := b.what.of(s)
	if spread != nil && spread.Rounds == 0 || spread == nil && value == 0 {
		return nil
	}
	ok := value >= b.bound
	if b.what.atMost {
		ok = value <= b.bound
	}
	return []verdict{{scenario, b.what.name, value, b.bound, b.what.atMost, ok, spread}}
}

func (s *summary) summarise() {
	for _, c := range s.cells {
		s.Requests += c.Requests
		s.Failed += c.Failed
		if s.Failure == "" {
			s.Failure = c.Failure
		}
		s.Drain, s.Index, s.RestMB = max(s.Drain, c.Drain), max(s.Index, c.Index), c.RSS
	}
	s.PerSec, s.CPU = median(s.each(perSecond)), median(s.each(cpu))
	s.P50, s.P99 = median(s.each(p50)), median(s.each(p99))
}

// reading takes a figure from the cell of a round.
type reading func(round int, c *cell) float64

func p50(_ int, c *cell) float64       { return c.P50 }
func p99(_ int, c *cell) float64       { return c.P99 }
func firstP50(_ int, c *cell) float64  { return c.First50 }
func perSecond(_ int, c *cell) float64 { return float64(c.Requests) / c.Seconds }
func cpu(_ int, c *cell) float64       { return 1000 * c.CPU / float64(max(1, c.Requests)) }

// added is a figure less that of base in the same round.
func added(base *summary, f reading) reading {
	return func(round int, c *cell) float64 { return f(round, c) - f(round, base.cells[round]) }
}

func (s *summary) each(f reading) []float64 {
	all := make([]float64, len(s.cells))
	for n, c := range s.cells {
		all[n] = f(n, c)
	}
	return all
}

func ratios(over, under []float64) ratio {
	var all []float64
	for n := range over {
		if under[n] > 0 {
			all = append(all, over[n]/under[n])
		}
	}
	return ratio{Median: median(all), Low: quantile(all, 0.25), High: quantile(all, 0.75), Rounds: len(all)}
}

func median(all []float64) float64 { return quantile(all, 0.5) }

// quantile returns the value below which this share lies, interpolated.
func quantile(all []float64, share float64) float64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	at := share * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
