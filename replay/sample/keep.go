package sample

import (
	"context"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// longestLabel bounds the arguments of calls in a kept report, in bytes.
const longestLabel = 1000

// Keep keeps a report beside its takes, so that it can be read again. Long labels
// are cut in it.
func Keep(ctx context.Context, s transcript.Store, report *Report) error {
	kept := *report
	kept.Arms = append([]ArmResult{}, report.Arms...)
	for i := range kept.Arms {
		a := &kept.Arms[i]
		a.Outcomes = append([]OutcomeCount{}, a.Outcomes...)
		for k := range a.Outcomes {
			a.Outcomes[k].Label = replay.Shorten(a.Outcomes[k].Label, longestLabel)
		}
	}
	kept.Secondary = append([]Comparison{}, report.Secondary...)
	for i := range kept.Secondary {
		kept.Secondary[i].Name = replay.Shorten(kept.Secondary[i].Name, longestLabel)
	}
	return replay.KeepReport(ctx, s, report.Group, &kept)
}

// Read returns the report that was kept of a group, nil if there is none or that of
// a minimisation.
func Read(ctx context.Context, r transcript.Reader, group string) (*Report, error) {
	var report Report
	if err := replay.ReadReport(ctx, r, group, &report); err != nil || report.Arms == nil {
		return nil, err
	}
	return &report, nil
}
