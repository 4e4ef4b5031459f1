package minimise

import (
	"context"
	"slices"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// Keep keeps what was found beside its takes, so that it can be read again. What
// its edits replaced is left out: the recorded request has it.
func Keep(ctx context.Context, s transcript.Store, found *Smallest) error {
	kept := *found
	kept.Edits = slices.Clone(found.Edits)
	for i := range kept.Edits {
		kept.Edits[i].Was = ""
	}
	return replay.KeepReport(ctx, s, found.Group, &kept)
}

// Read returns what was found by the takes of a group, nil if that was not kept or
// is a sample.
func Read(ctx context.Context, r transcript.Reader, group string) (*Smallest, error) {
	var found Smallest
	if err := replay.ReadReport(ctx, r, group, &found); err != nil || found.Candidates == nil {
		return nil, err
	}
	return &found, nil
}
