package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/retake-debugger/retake/ingest/decode"
	"github.com/retake-debugger/retake/ingest/link"
	"github.com/retake-debugger/retake/ingest/reindex"
	"github.com/retake-debugger/retake/transcript"
)

// Committer decodes, links and stores captures. It remembers the history that they
// resend, so that a commit costs what is new. The zero Committer is ready to use; it
// may be used by several goroutines.
type Committer struct{ decode.Decoder }

// Commit does what a Committer does that remembers nothing from before.
func Commit(ctx context.Context, store transcript.Store, captures []*transcript.Capture) ([]*transcript.Exchange, error) {
	return new(Committer).Commit(ctx, store, captures)
}

// putMost is how long a transaction takes in exchanges before it ends and
// another begins: others write too.
const putMost = 15 * time.Millisecond

// Commit decodes captures and stores them in few transactions, in the order
// given. What is stored already is left as it is. It returns the exchanges that
// are new, those that were stored before an error too.
func (c *Committer) Commit(ctx context.Context, store transcript.Store, captures []*transcript.Capture) ([]*transcript.Exchange, error) {
	batch := make([]*decode.Decoded, len(captures))
	for i := range captures {
		batch[i] = c.Decode(captures[i])
	}
	defer func() {
		for _, d := range batch { // exchanges do not refer to bodies
			c.Release(d)
		}
	}()
	var stored []*transcript.Exchange
	for left := batch; len(left) > 0; {
		some, done, err := putSome(ctx, store, left)
		if err != nil {
			return stored, err
		}
		stored, left = append(stored, some...), left[done:]
	}
	return stored, nil
}

// putSome stores the first of a batch in one transaction and says how many that
// were.
func putSome(ctx context.Context, store transcript.Store, batch []*decode.Decoded) (stored []*transcript.Exchange, done int, err error) {
	err = store.Update(ctx, func(tx transcript.Tx) error {
		began := time.Now()
		for _, d := range batch {
			known, err := tx.HasExchange(d.Exchange.ID)
			if err != nil {
				return err
			}
			if !known {
				if err := put(ctx, tx, d); err != nil {
					return fmt.Errorf("store exchange %s: %w", d.Exchange.ID, err)
				}
				stored = append(stored, d.Exchange)
				if err := relinkLate(ctx, tx, d, stored); err != nil {
					return fmt.Errorf("link what continues %s: %w", d.Exchange.ID, err)
				}
			}
			if done++; time.Since(began) >= putMost {
				break
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return stored, done, nil
}

func put(ctx context.Context, tx transcript.Tx, d *decode.Decoded) error {
	e := d.Exchange
	if err := d.StoreBodies(tx); err != nil {
		return err
	}
	parent, err := link.Find(ctx, tx, &d.Subject, decode.Turn)
	if err != nil {
		return err
	}
	e.Results = len(link.NewResults(&d.Subject))
	if err := tx.PutExchange(e); err != nil {
		return err
	}
	return link.PutCalls(ctx, tx, &d.Subject, parent)
}

// relinkLate links again the exchanges, of the batch and earlier ones, that left a
// pending link to an exchange which came after them.
func relinkLate(ctx context.Context, tx transcript.Tx, d *decode.Decoded, batch []*transcript.Exchange) error {
	changed, err := reindex.RelinkPending(ctx, tx, d)
	if err != nil || len(changed) == 0 {
		return err
	}
	for _, e := range batch {
		if !slices.ContainsFunc(changed, func(c *transcript.Exchange) bool { return c.ID == e.ID }) {
			continue
		}
		now, err := tx.Exchange(ctx, e.ID)
		if err != nil {
			return err
		}
		e.Link, e.Warnings, e.Results = now.Link, now.Warnings, now.Results
	}
	return nil
}
