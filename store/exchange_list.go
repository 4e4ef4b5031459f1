package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// listPage is how many exchanges are read at once: between two pages no
// connection is held, so the caller may ask other things while it lists.
const listPage = 200

// Exchanges lists exchanges, newest first unless the filter says otherwise,
// without their chunks. One that is damaged is an error in its place.
func (r *reader) Exchanges(ctx context.Context, f transcript.Filter) iter.Seq2[*transcript.Exchange, error] {
	return func(yield func(*transcript.Exchange, error) bool) {
		left := f.Limit
		if left <= 0 {
			left = math.MaxInt
		}
		for left > 0 {
			page := min(left, listPage)
			list, err := r.exchangePage(ctx, f, page)
			if errors.Is(err, transcript.ErrDamaged) {
				if !r.exchangesSingly(ctx, &f, &left, yield) {
					return
				}
				continue
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, e := range list {
				if !yield(e, nil) {
					return
				}
			}
			left -= len(list)
			switch n := len(list); {
			case n > 0 && f.Oldest:
				f.After = list[n-1].N
			case n > 0:
				f.Before = list[n-1].N
			}
			if len(list) == page {
				continue
			}
			for r.cut && left > 0 && r.exchangesSingly(ctx, &f, &left, yield) {
			}
			return
		}
	}
}

// exchangesSingly lists the exchanges of the next listPage numbers one by one,
// since they cannot be read together. It returns false at the end of the listing.
func (r *reader) exchangesSingly(ctx context.Context, f *transcript.Filter, left *int, yield func(*transcript.Exchange, error) bool) bool {
	var newest int64
	if err := r.st.row(ctx, "SELECT exchange FROM state", nil, &newest); err != nil {
		yield(nil, fmt.Errorf("read state: %w", err))
		return false
	}
	first, last := f.After+1, newest // of what is left to list
	if f.Before > 0 {
		last = min(last, f.Before-1)
	}
	for range listPage {
		if first > last || *left == 0 {
			return false
		}
		one := *f
		n := last
		if f.Oldest {
			n, first, f.After = first, first+1, first
		} else {
			last, f.Before = last-1, last
		}
		one.After, one.Before, one.Oldest = n-1, n+1, true // from the other side SQLite would look at a damaged neighbour
		list, err := r.exchangePage(ctx, one, 1)
		switch {
		case err != nil && !yield(nil, fmt.Errorf("x%d: %w", n, err)), err != nil && !errors.Is(err, transcript.ErrDamaged):
			return false
		case len(list) == 1:
			if *left--; !yield(list[0], nil) {
				return false
			}
		}
	}
	return true
}

// exchangePage reads the next exchanges of a listing. The inner query finds
// their numbers from indexes where it can, so that wide rows are read only for
// what is shown.
func (r *reader) exchangePage(ctx context.Context, f transcript.Filter, page int) ([]*transcript.Exchange, error) {
	where, args := []string{"n > ?"}, []any{f.After}
	add := func(condition string, values ...any) {
		where = append(where, condition)
		args = append(args, values...)
	}
	if f.Before > 0 {
		add("n < ?", f.Before)
	}
	if f.Run != "" {
		add("run = ?", packID(f.Run))
	}
	if !f.Since.IsZero() {
		add("started >= ?", f.Since.UnixNano())
	}
	switch f.Outcome {
	case "":
	case transcript.OK:
		add("outcome = 'ok'")
	default:
		add("outcome <> 'ok' AND outcome = ?", string(f.Outcome)) // the first half names the partial index
	}
	if f.Dialect != "" || f.Model != "" {
		add(`model IN (SELECT id FROM model WHERE (?1 = '' OR dialect = ?1)
			AND (?2 = '' OR instr(lower(asked), lower(?2)) OR instr(lower(answered), lower(?2))))`)
	}
	order := "DESC"
	if f.Oldest {
		order = "ASC"
	}
	// ?1 and ?2 come first whether they are used or not.
	query := fmt.Sprintf(`%s WHERE ?1 = ?1 AND ?2 = ?2 AND e.n IN (SELECT n FROM exchange WHERE %s ORDER BY n %s LIMIT ?) ORDER BY e.n %s`,
		selectListed, strings.Join(where, " AND "), order, order)
	args = append([]any{string(f.Dialect), f.Model}, append(args, page)...)
	return r.exchanges(ctx, query, args...)
}
