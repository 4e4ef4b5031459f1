package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// longestLabel bounds what a kept report tells of the arguments of calls, in bytes.
const longestLabel = 1000

// KeepSample keeps a report beside its takes, so that it can be read again. Long labels
// are cut in it.
func KeepSample(ctx context.Context, s transcript.Store, sample *Sample) error {
	kept := *sample
	kept.Arms = append([]ArmResult{}, sample.Arms...)
	for i := range kept.Arms {
		a := &kept.Arms[i]
		a.Outcomes = append([]OutcomeCount{}, a.Outcomes...)
		for k := range a.Outcomes {
			a.Outcomes[k].Label = start(a.Outcomes[k].Label, longestLabel)
		}
	}
	kept.Secondary = append([]Comparison{}, sample.Secondary...)
	for i := range kept.Secondary {
		kept.Secondary[i].Name = start(kept.Secondary[i].Name, longestLabel)
	}
	text, err := json.Marshal(&kept)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if err := s.Update(ctx, func(tx transcript.Tx) error { return tx.SetNote(transcript.SampleNote(sample.Group), string(text)) }); err != nil {
		return fmt.Errorf("keep report: %w", err)
	}
	return nil
}

// ReadSample gives the report that was kept of a group, nil if there is none.
func ReadSample(ctx context.Context, r transcript.Reader, group string) (*Sample, error) {
	text, err := r.Note(ctx, transcript.SampleNote(group))
	if err != nil || text == "" {
		return nil, err
	}
	var sample Sample
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&sample); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	return &sample, nil
}
