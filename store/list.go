package store

import (
	"context"
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
// without their chunks.
func (r *reader) Exchanges(ctx context.Context, f transcript.Filter) iter.Seq2[*transcript.Exchange, error] {
	return func(yield func(*transcript.Exchange, error) bool) {
		left := f.Limit
		if left <= 0 {
			left = math.MaxInt
		}
		for left > 0 {
			page := min(left, listPage)
			list, err := r.exchangePage(ctx, f, page)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, e := range list {
				if !yield(e, nil) {
					return
				}
			}
			if len(list) < page {
				return
			}
			left -= page
			if last := list[page-1].N; f.Oldest {
				f.After = last
			} else {
				f.Before = last
			}
		}
	}
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
