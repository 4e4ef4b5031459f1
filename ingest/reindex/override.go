package reindex

import (
	"context"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// Override keeps a user's word on what an exchange continues, and links again whatever it
// concerns.
func Override(ctx context.Context, s transcript.Store, word *transcript.Override) error {
	if err := s.Update(ctx, func(tx transcript.Tx) error { return tx.PutOverride(word) }); err != nil {
		return fmt.Errorf("keep what was said: %w", err)
	}
	_, err := Relink(ctx, s, word.Exchange)
	return err
}

// DropOverride takes back what a user said of an exchange, and links it again as it is
// inferred. ErrNotFound if nothing was said.
func DropOverride(ctx context.Context, s transcript.Store, exchange string) error {
	err := s.Update(ctx, func(tx transcript.Tx) error {
		had, err := tx.DropOverride(exchange)
		if err == nil && !had {
			err = transcript.ErrNotFound
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("take back what was said: %w", err)
	}
	_, err = Relink(ctx, s, exchange)
	return err
}
