package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// KeepReport keeps the report of a group of takes beside them, so that it can be read
// again. It goes with the last of them.
func KeepReport(ctx context.Context, s transcript.Store, group string, report any) error {
	text, err := json.Marshal(report)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if err := s.Update(ctx, func(tx transcript.Tx) error { return tx.SetNote(transcript.SampleNote(group), string(text)) }); err != nil {
		return fmt.Errorf("keep report: %w", err)
	}
	return nil
}

// ReadReport reads the report of a group into report, if there is one.
func ReadReport(ctx context.Context, r transcript.Reader, group string, report any) error {
	text, err := r.Note(ctx, transcript.SampleNote(group))
	if err != nil || text == "" {
		return err
	}
	if err := json.NewDecoder(strings.NewReader(text)).Decode(report); err != nil {
		return fmt.Errorf("read report: %w", err)
	}
	return nil
}

// Shorten returns the beginning of a text, with a mark if it is longer than most bytes.
func Shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + " …"
}
