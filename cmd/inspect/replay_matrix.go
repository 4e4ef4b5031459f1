package main

import (
	"fmt"
	"math"
	"strconv"

	"github.com/retake-debugger/retake/replay/sample"
)

// mostOutcomes is how many different answers are printed.
const mostOutcomes = 12

// printArms prints one or two arms side by side: the outcomes, how often the
// expected behaviour occurred, and whether the difference is significant.
func (s *sampling) printArms(report *sample.Report) error {
	header := []string{"outcome"}
	for i := range report.Arms {
		header = append(header, word(report.Arms[i].Name))
	}
	t := s.table(header...)
	t.right = header[1:]
	labels := allLabels(report.Arms)
	for i, label := range labels {
		if i == mostOutcomes {
			break
		}
		row := []string{cut(word(label), max(20, s.width()-30))}
		for k := range report.Arms {
			row = append(row, strconv.Itoa(countOf(&report.Arms[k], label)))
		}
		t.row(row...)
	}
	if err := t.print(); err != nil {
		return err
	}
	p := s.printer(false)
	if n := len(labels) - mostOutcomes; n > 0 {
		p.line("  … and %d more (--json lists them all)", n)
	}
	p.line("")
	p.line("  looked whether %s", visible(report.Primary))
	for i := range report.Arms {
		p.line("  %s", tally(&report.Arms[i]))
	}
	if report.Effect != nil {
		p.line("  %s", difference(*report.Effect, *report.Interval, *report.PValue))
	}
	p.line("  %s", p.style(report.Verdict, bold))
	for _, c := range report.Secondary {
		if c.PValue <= 0.05 {
			p.line("  besides: %s, %d and %d times; %s (corrected)", visible(cut(c.Name, 80)), c.Counts[0], c.Counts[1], difference(c.Effect, c.Interval, c.PValue))
		}
	}
	s.sampleEnd(p, report)
	return p.failed
}

// printMatrix prints a line for each arm, with its difference from the first.
func (s *sampling) printMatrix(report *sample.Report) error {
	t := s.table("arm", "dialect", "yes", "takes", "failed", "steps", "in", "out", "cost|cost_usd", "losses", "most often")
	t.right = []string{"yes", "takes", "failed", "steps", "in", "out", "cost", "losses"}
	for i := range report.Arms {
		a := &report.Arms[i]
		in, out, cost, often := "", "", "", ""
		if a.Usage != nil {
			in, out = number(a.Usage.InputTotal), number(a.Usage.Output)
		}
		if a.CostUSD != nil {
			cost = *a.CostUSD
			if a.LowerBound {
				cost = "≥ " + cost
			}
		}
		if len(a.Outcomes) > 0 {
			often = fmt.Sprintf("%d× %s", a.Outcomes[0].Count, word(a.Outcomes[0].Label))
		}
		t.row(word(a.Name), a.Dialect, strconv.Itoa(a.Yes), strconv.Itoa(a.N), strconv.Itoa(a.Failed), strconv.FormatFloat(a.Steps, 'f', -1, 64), in, out, cost,
			strconv.Itoa(len(a.Losses)), often)
	}
	if err := t.print(); err != nil {
		return err
	}
	p := s.printer(false)
	p.line("")
	p.line("  looked whether %s", visible(report.Primary))
	if report.Effect != nil {
		p.line("  %s: %s", difference(*report.Effect, *report.Interval, *report.PValue), report.Verdict)
	} else {
		for _, c := range report.Secondary {
			p.line("  %s and %s: %s; %s", word(c.Arms[0]), word(c.Arms[1]), difference(c.Effect, c.Interval, c.PValue), c.Verdict)
		}
	}
	s.sampleEnd(p, report)
	return p.failed
}

// sampleEnd prints why not all takes were played, and where they are.
func (s *sampling) sampleEnd(p *printer, report *sample.Report) {
	if report.Stopped != "" {
		p.line("  %s", p.style("not all takes were played: "+visible(report.Stopped), red))
	}
	if n := len(report.Takes); n > 0 {
		p.line("  %s", p.style(fmt.Sprintf("takes %s to %s: inspect show %s", report.Takes[0], report.Takes[n-1], report.Takes[0]), dim))
	}
}

// allLabels lists the labels of all arms, starting with those of the first.
func allLabels(arms []sample.ArmResult) []string {
	var labels []string
	seen := map[string]bool{}
	for i := range arms {
		for _, o := range arms[i].Outcomes {
			if !seen[o.Label] {
				labels = append(labels, o.Label)
			}
			seen[o.Label] = true
		}
	}
	return labels
}

func countOf(a *sample.ArmResult, label string) int {
	for _, o := range a.Outcomes {
		if o.Label == label {
			return o.Count
		}
	}
	return 0
}

// tally formats how often the expected behaviour occurred in an arm.
func tally(a *sample.ArmResult) string {
	share := ""
	if a.N > 0 {
		share = fmt.Sprintf(" (%.0f %%)", 100*float64(a.Yes)/float64(a.N))
	}
	failed := ""
	if a.Failed > 0 {
		failed = fmt.Sprintf(", %d failed and do not count", a.Failed)
	}
	return fmt.Sprintf("%s: %d of %d%s%s", word(a.Name), a.Yes, a.N, share, failed)
}

// difference formats the difference of two arms.
func difference(d float64, interval [2]float64, p float64) string {
	points := func(v float64) string { return fmt.Sprintf("%+.0f", 100*v) }
	text := fmt.Sprintf("%.2g", p)
	if p < 0.0001 {
		text = "under 0.0001"
	}
	if math.Abs(d) < 0.005 {
		return fmt.Sprintf("no difference (95 %%: %s to %s points), p %s", points(interval[0]), points(interval[1]), text)
	}
	return fmt.Sprintf("%s points (95 %%: %s to %s), p %s", points(d), points(interval[0]), points(interval[1]), text)
}
