package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// RunUses adds up what is to be paid for runs. Exchanges go together only where
// usage counts alike: complete or not, reasoning in the output or beside it, cache
// writes told apart or not.
func (r *reader) RunUses(ctx context.Context, runs []int64) ([]transcript.RunUse, error) {
	numbers, err := json.Marshal(runs)
	if err != nil {
		return nil, fmt.Errorf("add up usage: %w", err)
	}
	var list []transcript.RunUse
	err = r.st.rows(ctx, `SELECT r.n, m.asked, m.answered, iif(instr(e.url, '?'), substr(e.url, 1, instr(e.url, '?') - 1), e.url), count(*),
		usage_complete, sum(input_total), sum(input_uncached), sum(cache_read), sum(cache_write), sum(cache_write_1h), sum(output), sum(reasoning), sum(total)
		FROM json_each(?) j CROSS JOIN run r ON r.n = j.value CROSS JOIN exchange e ON e.run = r.id CROSS JOIN model m ON m.id = e.model
		WHERE `+noTake+` AND (input_total IS NOT NULL OR m.dialect <> 'unknown' AND m.asked <> '' AND e.status BETWEEN 1 AND 399)
		GROUP BY 1, 2, 3, 4, usage_complete, input_total IS NULL, cache_write_1h IS NULL, reasoning > 0 AND total = input_total + output + reasoning`,
		[]any{string(numbers)}, func(row *sql.Rows) error {
			var u transcript.RunUse
			var complete *bool
			var n [8]*int64
			err := row.Scan(&u.Run, &u.Model, &u.ResponseModel, &u.URL, &u.Exchanges, &complete, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7])
			if n[0] != nil && n[1] != nil && n[2] != nil && n[3] != nil && n[5] != nil && n[6] != nil && n[7] != nil {
				u.Usage = &transcript.Usage{InputTotal: *n[0], InputUncached: *n[1], CacheRead: *n[2], CacheWrite: *n[3], CacheWrite1h: n[4],
					Output: *n[5], Reasoning: *n[6], Total: *n[7], Complete: complete != nil && *complete}
			}
			list = append(list, u)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("add up usage: %w", damaged(err))
	}
	return list, nil
}
