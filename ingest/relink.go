package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// Relink links again what a user's word on exchanges concerns: those exchanges
// and what came after them in their runs, oldest first, all in one transaction.
// It tells how many are otherwise now.
func Relink(ctx context.Context, s transcript.Store, exchanges ...string) (changed int64, err error) {
	r := &reindexer{ctx: ctx, store: s}
	err = s.Update(ctx, func(tx transcript.Tx) error {
		list, err := concerned(ctx, tx, exchanges)
		if err != nil {
			return err
		}
		allow, err := allowed(ctx, tx)
		if err != nil {
			return err
		}
		var did Reindexed
		for _, id := range list {
			d, err := r.decoder.reread(ctx, tx, id)
			if errors.Is(err, transcript.ErrDamaged) || errors.Is(err, transcript.ErrNotFound) || errors.Is(err, errOmitted) {
				continue
			}
			if err == nil {
				err = r.one(tx, d, allow, &did)
			}
			if err != nil {
				return err
			}
		}
		changed = did.Changed
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("link again: %w", err)
	}
	return changed, nil
}

// concerned lists the exchanges and what came after them in their runs, by
// number.
func concerned(ctx context.Context, tx transcript.Tx, exchanges []string) ([]string, error) {
	from := map[string]int64{} // run → number of the first exchange that it concerns
	for _, id := range exchanges {
		e, err := tx.Exchange(ctx, id)
		if err != nil {
			return nil, err
		}
		if n, ok := from[e.Link.Run]; !ok || e.N < n {
			from[e.Link.Run] = e.N
		}
	}
	ids := map[int64]string{}
	for run, n := range from {
		for e, err := range tx.Exchanges(ctx, transcript.Filter{Run: run, After: n - 1, Oldest: true}) {
			if errors.Is(err, transcript.ErrDamaged) {
				continue
			}
			if err != nil {
				return nil, err
			}
			ids[e.N] = e.ID
		}
	}
	var numbers []int64
	for n := range ids {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	list := make([]string, len(numbers))
	for i, n := range numbers {
		list[i] = ids[n]
	}
	return list, nil
}
