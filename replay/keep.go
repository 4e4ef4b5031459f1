package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
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
	return keepReport(ctx, s, sample.Group, &kept)
}

// ReadSample gives the report that was kept of a group, nil if there is none or that of
// a minimisation.
func ReadSample(ctx context.Context, r transcript.Reader, group string) (*Sample, error) {
	var sample Sample
	if err := readReport(ctx, r, group, &sample); err != nil || sample.Arms == nil {
		return nil, err
	}
	return &sample, nil
}

// KeepSmallest keeps what was found beside its takes, so that it can be read again. What
// its edits replaced is left out: the recorded request has it.
func KeepSmallest(ctx context.Context, s transcript.Store, found *Smallest) error {
	kept := *found
	kept.Edits = slices.Clone(found.Edits)
	for i := range kept.Edits {
		kept.Edits[i].Was = ""
	}
	return keepReport(ctx, s, found.Group, &kept)
}

// ReadSmallest gives what was found by the takes of a group, nil if that was not kept or
// is a sample.
func ReadSmallest(ctx context.Context, r transcript.Reader, group string) (*Smallest, error) {
	var found Smallest
	if err := readReport(ctx, r, group, &found); err != nil || found.Candidates == nil {
		return nil, err
	}
	return &found, nil
}

func keepReport(ctx context.Context, s transcript.Store, group string, report any) error {
	text, err := json.Marshal(report)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if err := s.Update(ctx, func(tx transcript.Tx) error { return tx.SetNote(transcript.SampleNote(group), string(text)) }); err != nil {
		return fmt.Errorf("keep report: %w", err)
	}
	return nil
}

// readReport reads the report of a group, if there is one.
func readReport(ctx context.Context, r transcript.Reader, group string, report any) error {
	text, err := r.Note(ctx, transcript.SampleNote(group))
	if err != nil || text == "" {
		return err
	}
	if err := json.NewDecoder(strings.NewReader(text)).Decode(report); err != nil {
		return fmt.Errorf("read report: %w", err)
	}
	return nil
}
