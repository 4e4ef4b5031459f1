package store

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/retake-debugger/retake/transcript"
)

// readableRuns lists runs one by one, since they cannot be read together. Beside
// those that can be read it returns an error that says how many cannot; damage where
// not even that is known.
func (r *reader) readableRuns(ctx context.Context, f *transcript.RunFilter, damage error) ([]transcript.RunSum, error) {
	var newest int64
	if err := r.st.row(ctx, "SELECT run FROM state", nil, &newest); err != nil {
		return nil, damage
	}
	if f.Before > 0 {
		newest = min(newest, f.Before-1)
	}
	q := newRunQuery(f) // what leads from runs to their exchanges may be damaged; few have none
	for _, c := range exchangesOf(f) {
		q.add(c.walked(), c.args...)
	}
	q.where = append(q.where, "r.n = ?")
	left := f.Limit
	if left <= 0 {
		left = math.MaxInt
	}
	var list []transcript.RunSum
	var lost int
	var first error
	for n := newest; n > 0 && len(list) < left; n-- {
		one, err := q.list(ctx, r.st, n, 1)
		switch err = damaged(err); {
		case errors.Is(err, transcript.ErrDamaged):
			if lost++; lost == 1 {
				first = fmt.Errorf("r%d: %w", n, err)
			}
		case err != nil:
			return nil, fmt.Errorf("list runs: %w", err)
		default:
			list = append(list, one...)
		}
	}
	if lost > 1 {
		first = fmt.Errorf("%d runs cannot be read, the newest of them %w", lost, first)
	}
	return list, first
}
