package ingest

import (
	"context"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// Commit decodes captures and stores them in one transaction, in the order
// given. What is stored already is left as it is. It returns the exchanges that
// are new.
func Commit(ctx context.Context, store transcript.Store, captures []*transcript.Capture) ([]*transcript.Exchange, error) {
	batch := make([]*decoded, 0, len(captures))
	for _, c := range captures {
		batch = append(batch, decode(c))
	}
	var stored []*transcript.Exchange
	err := store.Update(ctx, func(tx transcript.Tx) error {
		stored = stored[:0]
		for _, d := range batch {
			known, err := tx.HasExchange(d.exchange.ID)
			if err != nil {
				return err
			}
			if known {
				continue
			}
			if err := put(ctx, tx, d); err != nil {
				return fmt.Errorf("store exchange %s: %w", d.exchange.ID, err)
			}
			stored = append(stored, d.exchange)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return stored, nil
}

func put(ctx context.Context, tx transcript.Tx, d *decoded) error {
	e := d.exchange
	var err error
	if e.Request.Body, err = tx.PutBody(d.request.segments()); err != nil {
		return err
	}
	if e.Response.Body, err = tx.PutBody(d.response.segments()); err != nil {
		return err
	}
	parent, err := link(tx, d)
	if err != nil {
		return err
	}
	e.Results = len(newResults(d))
	if err := tx.PutExchange(e); err != nil {
		return err
	}
	return putCalls(ctx, tx, d, parent)
}
