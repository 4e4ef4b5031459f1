package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// Calls lists the recorded calls of these exchanges: exchanges in the order
// given, calls in the order they were stored, results by the number of the
// exchange that brought them.
func (r *reader) Calls(ctx context.Context, exchanges []string) ([]transcript.CallRow, error) {
	var calls []transcript.CallRow
	seen := map[string]bool{}
	for _, id := range exchanges {
		if seen[id] {
			continue
		}
		seen[id] = true
		var err error
		if calls, err = r.callsOf(ctx, calls, id); err != nil {
			return nil, fmt.Errorf("read calls: %w", damaged(err))
		}
	}
	return calls, nil
}

func (r *reader) callsOf(ctx context.Context, calls []transcript.CallRow, exchange string) ([]transcript.CallRow, error) {
	const query = `SELECT c.id, c.at, c.key, c.call_id, c.name, r.exchange, r.at, r.found_by, r.latency, r.is_error
		FROM call c LEFT JOIN result r ON r.call = c.id
		WHERE c.exchange = ? ORDER BY c.id, r.exchange, r.at`
	first, last := len(calls), int64(0)
	err := r.st.rows(ctx, query, []any{packID(exchange)}, func(row *sql.Rows) error {
		var id int64
		var key []byte
		var brought any
		c := transcript.CallRow{Exchange: exchange}
		var at, by *string
		var latency *float64
		var isError *bool
		if err := row.Scan(&id, &c.At, &key, &c.CallID, &c.Name, &brought, &at, &by, &latency, &isError); err != nil {
			return err
		}
		copy(c.Key[:], key)
		if id != last {
			calls = append(calls, c)
			last = id
		}
		if at != nil && by != nil && latency != nil && isError != nil {
			call := &calls[len(calls)-1]
			call.Results = append(call.Results, transcript.ResultRow{
				Exchange: unpackID(brought), At: *at, By: *by, LatencyMS: *latency, IsError: *isError})
		}
		return nil
	})
	for i := first; i < len(calls) && err == nil; i++ {
		err = r.inOrder(ctx, calls[i].Results)
	}
	return calls, err
}

// inOrder sorts the results of a call by the numbers of their exchanges. Few
// calls have more than one, so that is cheaper than to have all of them sorted
// when they are read.
func (r *reader) inOrder(ctx context.Context, results []transcript.ResultRow) error {
	if len(results) < 2 {
		return nil
	}
	numbers := map[string]int64{}
	for i := range results {
		id := results[i].Exchange
		if _, ok := numbers[id]; ok {
			continue
		}
		var n int64 // stays 0 if the exchange was removed
		err := r.st.row(ctx, "SELECT n FROM exchange WHERE id = ?", []any{packID(id)}, &n)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		numbers[id] = n
	}
	slices.SortStableFunc(results, func(a, b transcript.ResultRow) int {
		return cmp.Or(cmp.Compare(numbers[a.Exchange], numbers[b.Exchange]), cmp.Compare(a.At, b.At))
	})
	return nil
}

// PutCall stores one call of an answer, and the results that it holds.
func (t *tx) PutCall(c transcript.CallRow) error {
	if err := t.open(); err != nil {
		return err
	}
	res, err := t.st.exec("INSERT INTO call (exchange, at, key, call_id, name) VALUES (?, ?, ?, ?, ?)",
		idOrEmpty(c.Exchange), c.At, c.Key[:], c.CallID, c.Name)
	if err != nil {
		return fmt.Errorf("store call: %w", err)
	}
	id, err := res.LastInsertId()
	if err != nil {
		return fmt.Errorf("store call: %w", err)
	}
	t.w.lookup.add(t.w.lookup.key(findCall, c.Key[:]), id)
	for _, r := range c.Results {
		if err := t.PutResult(c.Exchange, c.At, r); err != nil {
			return err
		}
	}
	return nil
}

// PutResult stores a result for the call at that place in that exchange;
// ErrNotFound if there is no such call. The same result stored twice is kept
// once.
func (t *tx) PutResult(exchange, at string, r transcript.ResultRow) error {
	if err := t.open(); err != nil {
		return err
	}
	var call int64
	err := t.st.row(context.Background(), "SELECT id FROM call WHERE exchange = ? AND at = ?", []any{idOrEmpty(exchange), at}, &call)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("call %s of exchange %s: %w", at, exchange, transcript.ErrNotFound)
	}
	if err == nil {
		_, err = t.st.exec("INSERT OR REPLACE INTO result (call, exchange, at, found_by, latency, is_error) VALUES (?, ?, ?, ?, ?, ?)",
			call, idOrEmpty(r.Exchange), r.At, r.By, r.LatencyMS, r.IsError)
	}
	if err != nil {
		return fmt.Errorf("store result: %w", err)
	}
	return nil
}
