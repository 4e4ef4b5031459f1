package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// Calls lists the recorded calls of these exchanges: exchanges in the order
// given, calls in the order they were stored, results by the number of the
// exchange that brought them.
func (r *reader) Calls(ctx context.Context, exchanges []string) ([]transcript.CallRow, error) {
	read := map[string][]transcript.CallRow{}
	for group := range slices.Chunk(exchanges, callGroup) {
		calls, err := r.callsOf(ctx, group)
		if err != nil {
			return nil, fmt.Errorf("read calls: %w", damaged(err))
		}
		for _, id := range group {
			delete(read, id) // an id that is given twice counts once
		}
		for i := range calls {
			read[calls[i].Exchange] = append(read[calls[i].Exchange], calls[i])
		}
	}
	var calls []transcript.CallRow
	for _, id := range exchanges {
		calls = append(calls, read[id]...)
		delete(read, id)
	}
	return calls, nil
}

// callGroup is of how many exchanges the calls are read at once.
const callGroup = 128

const selectCalls = `SELECT c.exchange, c.id, c.at, c.key, c.call_id, c.name, r.exchange, r.at, r.found_by, r.latency, r.is_error
	FROM call c LEFT JOIN result r ON r.call = c.id WHERE c.exchange `

// callsOfOne finds the calls in the order of the index, which is the right one:
// to have it sorted costs several times what it costs to read them.
const callsOfOne = selectCalls + "= ?"

var callsOfGroup = selectCalls + "IN (?" + strings.Repeat(", ?", callGroup-1) + ") ORDER BY c.id, r.exchange, r.at"

// callsOf reads the calls of at most callGroup exchanges, in the order in which
// they were stored.
func (r *reader) callsOf(ctx context.Context, exchanges []string) ([]transcript.CallRow, error) {
	query, args := callsOfOne, make([]any, 1, callGroup)
	if len(exchanges) > 1 {
		query, args = callsOfGroup, args[:callGroup]
	}
	for i := range args {
		args[i] = packID(exchanges[min(i, len(exchanges)-1)])
	}
	var scanned struct {
		exchange, brought any
		id                int64
		key               []byte
		at, by            *string
		latency           *float64
		isError           *bool
	}
	s, last := &scanned, int64(0)
	var c transcript.CallRow
	dest := []any{&s.exchange, &s.id, &c.At, &s.key, &c.CallID, &c.Name, &s.brought, &s.at, &s.by, &s.latency, &s.isError}
	calls := make([]transcript.CallRow, 0, len(exchanges))
	err := r.st.rows(ctx, query, args, func(row *sql.Rows) error {
		if err := row.Scan(dest...); err != nil {
			return err
		}
		if s.id != last {
			c.Exchange = unpackID(s.exchange)
			copy(c.Key[:], s.key)
			calls = append(calls, c)
			last = s.id
		}
		if s.at != nil && s.by != nil && s.isError != nil {
			call := &calls[len(calls)-1]
			call.Results = append(call.Results, transcript.ResultRow{
				Exchange: unpackID(s.brought), At: *s.at, By: *s.by, LatencyMS: s.latency, IsError: *s.isError})
		}
		return nil
	})
	for i := 0; i < len(calls) && err == nil; i++ {
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
	var id int64
	err := t.st.numbers("INSERT INTO call (exchange, at, key, call_id, name) VALUES (?, ?, ?, ?, ?) RETURNING id",
		[]any{idOrEmpty(c.Exchange), c.At, c.Key[:], c.CallID, c.Name}, func(n int64) { id = n })
	if err != nil {
		return fmt.Errorf("store call: %w", err)
	}
	t.w.lookup.add(t.w.lookup.key(findCall, c.Key[:]), id)
	t.w.open.put(c, id, t.latest)
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
	const insert = "INSERT OR REPLACE INTO result (call, exchange, at, found_by, latency, is_error) VALUES (?, ?, ?, ?, ?, ?)"
	id, known := t.w.open.id(exchange, at)
	t.w.open.drop(exchange)
	if !known {
		err := t.st.numbers("SELECT id FROM call WHERE exchange = ? AND at = ? LIMIT 1", []any{idOrEmpty(exchange), at}, func(n int64) { id, known = n, true })
		if err == nil && !known {
			err = transcript.ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("call %s of exchange %s: %w", at, exchange, err)
		}
	}
	err := t.st.run(insert, id, idOrEmpty(r.Exchange), r.At, r.By, r.LatencyMS, r.IsError)
	if err != nil {
		return fmt.Errorf("store result: %w", err)
	}
	return nil
}
