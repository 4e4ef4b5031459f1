package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// PutDerived stores anew what was derived of a stored exchange.
func (t *tx) PutDerived(e *transcript.Exchange, calls, brought []transcript.CallRow) error {
	if err := t.open(); err != nil {
		return err
	}
	old, err := t.one(context.Background(), e.ID, selectListed+"WHERE e.id = ?", packID(e.ID))
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return t.updateDerived(old.N, e) },
		func() error { return t.moveLookups(old, e) },
		func() error { return t.dropEmptyRun(old.Link.Run, e.Link.Run) },
		func() error { return t.replaceCalls(e.ID, calls) },
		func() error { return t.replaceBrought(e.ID, brought) },
	} {
		if err := step(); err != nil {
			return fmt.Errorf("store what was derived of x%d: %w", old.N, err)
		}
	}
	return nil
}

func (t *tx) updateDerived(n int64, e *transcript.Exchange) error {
	model, err := t.model(e)
	if err != nil {
		return err
	}
	row := exchangeRow{Exchange: e, model: model}
	values, err := row.pack(derivedColumns)
	if err != nil {
		return err
	}
	t.w.last.drop(n)
	_, err = t.st.exec(updateDerived, append(values, n)...)
	return err
}

// moveLookups makes the exchange findable by what it is now.
func (t *tx) moveLookups(old, e *transcript.Exchange) error {
	before, now := t.w.lookup.ofExchange(old), t.w.lookup.ofExchange(e)
	for _, k := range before {
		if !slices.Contains(now, k) {
			if err := t.removeLookup(k.key, old.N); err != nil {
				return err
			}
		}
	}
	for _, k := range now {
		if !slices.Contains(before, k) {
			t.w.lookup.add(k.key, old.N)
		}
	}
	return nil
}

func (t *tx) removeLookup(key, target int64) error {
	changed, err := t.w.lookup.remove(key, target, &t.w.state.lookups)
	t.w.state.changed = t.w.state.changed || changed
	return err
}

// dropEmptyRun removes a run that its last exchange has left. One with a label
// stays: the label will name it again.
func (t *tx) dropEmptyRun(before, now string) error {
	if before == now || before == "" {
		return nil
	}
	_, err := t.st.exec("DELETE FROM run WHERE id = ?1 AND label IS NULL AND NOT EXISTS (SELECT 1 FROM exchange WHERE run = ?1)", packID(before))
	return err
}

// replaceCalls stores the calls of an answer in their order. One that is stored
// already keeps its results.
func (t *tx) replaceCalls(exchange string, calls []transcript.CallRow) error {
	stored, err := t.callsOf(context.Background(), []string{exchange})
	if err != nil || slices.EqualFunc(stored, calls, sameCall) {
		return err
	}
	if err := t.deleteCalls(exchange); err != nil {
		return err
	}
	for _, c := range calls {
		c.Exchange, c.Results = exchange, nil
		if i := slices.IndexFunc(stored, func(s transcript.CallRow) bool { return sameCall(s, c) }); i >= 0 {
			c.Results = stored[i].Results
		}
		if err := t.PutCall(c); err != nil {
			return err
		}
	}
	return nil
}

func sameCall(a, b transcript.CallRow) bool {
	return a.At == b.At && a.Key == b.Key && a.CallID == b.CallID && a.Name == b.Name
}

// deleteCalls deletes the calls of an answer with their results.
func (t *tx) deleteCalls(exchange string) error {
	t.w.open.drop(exchange)
	n, err := t.number(exchange)
	if err != nil {
		return err
	}
	type found struct{ id, key int64 }
	var list []found
	err = t.st.rows(context.Background(), "SELECT call, key FROM pair WHERE n = ? AND kind = 0", []any{n}, func(row *sql.Rows) error {
		var id int64
		var key []byte
		err := row.Scan(&id, &key)
		list = append(list, found{id, t.w.lookup.key(findCall, key)})
		return err
	})
	if err != nil {
		return err
	}
	for _, c := range list {
		if err := t.removeLookup(c.key, c.id); err != nil {
			return err
		}
	}
	return t.deletePairs(inJSON([]int64{n}), deleteBroughtFor, "DELETE FROM pair WHERE kind IN (0, 1) AND n IN "+gone)
}

func (t *tx) replaceBrought(exchange string, brought []transcript.CallRow) error {
	n, err := t.number(exchange)
	if err == nil {
		err = t.deletePairs(inJSON([]int64{n}), deleteResultsBy, "DELETE FROM pair WHERE kind = 2 AND n IN "+gone)
	}
	if err != nil {
		return err
	}
	for _, c := range brought {
		for _, r := range c.Results {
			r.Exchange = exchange
			if err := t.PutResult(c.Exchange, c.At, r); err != nil && !errors.Is(err, transcript.ErrNotFound) {
				return err
			}
		}
	}
	return nil
}

// IntroducedResults lists the results that the request of that exchange introduced.
func (r *reader) IntroducedResults(ctx context.Context, exchange string) ([]transcript.CallRow, error) {
	const query = `SELECT c.call, (SELECT id FROM exchange WHERE n = c.n), c.at, c.key, c.call_id, c.name, r.at, r.found_by, r.latency, r.is_error
		FROM exchange e CROSS JOIN pair b ON b.n = e.n AND b.kind = 2
		CROSS JOIN pair c ON c.n = b.call >> 24 AND c.kind = 0 AND c.call = b.call
		CROSS JOIN pair r ON r.n = c.n AND r.kind = 1 AND r.call = c.call AND r.other = b.n AND r.at = b.at
		WHERE e.id = ? ORDER BY c.call, r.at`
	var calls []transcript.CallRow
	var last int64
	err := r.st.rows(ctx, query, []any{packID(exchange)}, func(row *sql.Rows) error {
		var id int64
		var asked any
		var key []byte
		var c transcript.CallRow
		brought := transcript.ResultRow{Exchange: exchange}
		if err := row.Scan(&id, &asked, &c.At, &key, &c.CallID, &c.Name, &brought.At, &brought.By, &brought.LatencyMS, &brought.IsError); err != nil {
			return err
		}
		copy(c.Key[:], key)
		c.Exchange = unpackID(asked)
		if id != last {
			calls, last = append(calls, c), id
		}
		call := &calls[len(calls)-1]
		call.Results = append(call.Results, brought)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read results of %s: %w", exchange, damaged(err))
	}
	return calls, nil
}

// Pruned reports whether exchanges were ever removed.
func (r *reader) Pruned(ctx context.Context) (bool, error) {
	var removals int64
	if err := r.st.row(ctx, "SELECT removals FROM state", nil, &removals); err != nil {
		return false, fmt.Errorf("read state: %w", err)
	}
	return removals > 0, nil
}

// Note returns what SetNote kept under that name.
func (r *reader) Note(ctx context.Context, name string) (string, error) {
	var text string
	err := r.st.row(ctx, "SELECT text FROM note WHERE name = ?", []any{name}, &text)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read note: %w", err)
	}
	return text, nil
}

// SetNote keeps a small text under a name.
func (t *tx) SetNote(name, text string) error {
	if err := t.open(); err != nil {
		return err
	}
	var err error
	if text == "" {
		_, err = t.st.exec("DELETE FROM note WHERE name = ?", name)
	} else {
		_, err = t.st.exec("INSERT OR REPLACE INTO note (name, text) VALUES (?, ?)", name, text)
	}
	if err != nil {
		return fmt.Errorf("store note: %w", err)
	}
	return nil
}
