package store

import (
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
// exchange that introduced them.
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

const selectCalls = `SELECT e.id, c.call, c.at, c.key, c.call_id, c.name,
		(SELECT id FROM exchange WHERE n = r.other), r.at, r.found_by, r.latency, r.is_error
	FROM exchange e CROSS JOIN pair c ON c.n = e.n AND c.kind = 0 LEFT JOIN pair r ON r.n = c.n AND r.kind = 1 AND r.call = c.call WHERE e.id `

// callsOfOne finds the calls in the order of the table, which is the right one:
// to have it sorted costs several times what it costs to read them.
const callsOfOne = selectCalls + "= ?"

var callsOfGroup = selectCalls + "IN (?" + strings.Repeat(", ?", callGroup-1) + ") ORDER BY c.call, r.other, r.at"

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
	return calls, err
}

// callBits is how many bits of a call's id tell its place among the calls of its
// answer; those above are the number of the exchange.
const callBits = 24

var errManyCalls = errors.New("an answer holds more calls than can be told apart")

// nextCall returns the id of a further call of an exchange.
func (t *tx) nextCall(exchange string) (int64, error) {
	n, err := t.number(exchange)
	if err != nil {
		return 0, err
	}
	last, known := t.w.open.last(exchange)
	if !known && (exchange != t.latest || t.w.open.knows(exchange)) {
		if err := t.st.numbers("SELECT call FROM pair WHERE n = ? AND kind = 0 ORDER BY call DESC LIMIT 1", []any{n}, func(id int64) { last = id }); err != nil {
			return 0, err
		}
	}
	if next := max(last+1, n<<callBits); next>>callBits == n {
		return next, nil
	}
	return 0, errManyCalls
}

// number returns the number of a stored exchange; ErrNotFound if there is none.
func (t *tx) number(exchange string) (int64, error) {
	if n, ok := t.stored[exchange]; ok {
		return n, nil
	}
	n, known := int64(0), false
	err := t.st.numbers("SELECT n FROM exchange WHERE id = ?", []any{packID(exchange)}, func(found int64) { n, known = found, true })
	if err == nil && !known {
		err = fmt.Errorf("exchange %s: %w", exchange, transcript.ErrNotFound)
	}
	return n, err
}

// PutCall stores one call of an answer, and the results that it holds.
func (t *tx) PutCall(c transcript.CallRow) error {
	if err := t.open(); err != nil {
		return err
	}
	id, err := t.nextCall(c.Exchange)
	if err == nil {
		err = t.st.run("INSERT INTO pair (n, kind, call, other, at, key, call_id, name) VALUES (?, 0, ?, 0, ?, ?, ?, ?)",
			id>>callBits, id, c.At, c.Key[:], c.CallID, c.Name)
	}
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
	id, known := t.w.open.id(exchange, at)
	t.w.open.drop(exchange)
	if !known {
		const query = "SELECT call FROM pair WHERE n = (SELECT n FROM exchange WHERE id = ?) AND kind = 0 AND at = ? LIMIT 1"
		err := t.st.numbers(query, []any{packID(exchange), at}, func(n int64) { id, known = n, true })
		if err == nil && !known {
			err = transcript.ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("call %s of exchange %s: %w", at, exchange, err)
		}
	}
	by, err := t.number(r.Exchange)
	if err == nil {
		err = t.st.run(`INSERT OR REPLACE INTO pair (n, kind, call, other, at, found_by, latency, is_error)
			VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?7), (?3, 2, ?2, 0, ?4, NULL, NULL, NULL)`,
			id>>callBits, id, by, r.At, r.By, r.LatencyMS, r.IsError)
	}
	if err != nil {
		return fmt.Errorf("store result: %w", err)
	}
	return nil
}
