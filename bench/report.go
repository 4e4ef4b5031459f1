package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// report is all that was measured.
type report struct {
	Rounds    int       `json:"rounds"`
	Seconds   float64   `json:"seconds"`
	Scenarios []*result `json:"scenarios"`
}

// describe describes a scenario.
func (s *scenario) describe() string {
	answers := fmt.Sprintf("answers of %d bytes", s.Answer)
	switch {
	case s.Pace > 0:
		answers = fmt.Sprintf("streams of %d events, one in %s", s.Events, s.Pace)
	case s.Events > 0:
		answers = fmt.Sprintf("streams of %d events at full speed", s.Events)
	}
	return fmt.Sprintf("%s: %d connections, requests of %s, %s", s.Name, s.Connections, s.Prompts, answers)
}

// print prints a scenario as a table.
func (r *result) print(out io.Writer) {
	fmt.Fprintln(out, r.Scenario.describe())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "target\treq/s\t+p50 µs\t+p99 µs\t+first µs\tcpu s/1000\tdrain s\tindex s\tidle MB\tpeak MB\tfailed\t× req/s\t× +p50\t× +p99\t× +first\t× cpu\t")
	for _, s := range r.Targets {
		added, cost := [3]string{"-", "-", "-"}, [5]string{"-", "-", "-", "-", "-"}
		if s.Target != direct {
			added = [3]string{fmt.Sprintf("%.0f", s.AddedP50), fmt.Sprintf("%.0f", s.AddedP99), fmt.Sprintf("%.0f", s.AddedFirst)}
			cost = [5]string{fmt.Sprintf("%.3f", s.CPU), fmt.Sprintf("%.2f", s.Drain), fmt.Sprintf("%.2f", s.Index), fmt.Sprintf("%.0f", s.IdleMB), fmt.Sprintf("%.0f", s.PeakMB)}
		}
		fmt.Fprintf(w, "%s\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t\n", s.Target, s.PerSec,
			added[0], added[1], added[2], cost[0], cost[1], cost[2], cost[3], cost[4], s.Failed,
			s.Throughput, s.AddedP50Ratio, s.AddedP99Ratio, s.AddedFirstRatio, s.CPURatio)
	}
	_ = w.Flush()
	for _, s := range r.Targets {
		if s.Failed > 0 {
			fmt.Fprintf(out, "  %s failed first with: %s\n", s.Target, s.Failure)
		}
	}
	for _, v := range r.Verdicts {
		fmt.Fprintln(out, "  "+v.String())
	}
	fmt.Fprintln(out)
}

func (r ratio) String() string {
	if r.Rounds == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", r.Median)
}

func (v verdict) String() string {
	is, word := "ok   ", "at least"
	if v.AtMost {
		word = "at most"
	}
	if !v.OK {
		is = "below"
		if v.AtMost {
			is = "above"
		}
	}
	spread := ""
	if v.Spread != nil {
		spread = fmt.Sprintf(" (quartiles %.2f to %.2f)", v.Spread.Low, v.Spread.High)
	}
	return fmt.Sprintf("%s  %-12s %-34s %6.2f, to be %s %g%s", is, v.Scenario, v.Figure, v.Value, word, v.Bound, spread)
}

// print prints all verdicts together.
func (r *report) print(out io.Writer) {
	fmt.Fprintf(out, "Medians of %d rounds; × is the ratio to reverseproxy in the same round, + what is added to direct;\ndrain and index: the longest time after a cell until all of it was stored, and in the search index.\n", r.Rounds)
	for _, s := range r.Scenarios {
		for _, v := range s.Verdicts {
			fmt.Fprintln(out, v.String())
		}
	}
}
