package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// ?1 of these is a JSON list of the numbers of exchanges.
const (
	gone    = "(SELECT value FROM json_each(?1))"
	goneIDs = "(SELECT id FROM exchange WHERE n IN " + gone + ")"
)

// inJSON writes numbers, or lists of them, for json_each.
func inJSON[T int64 | [3]int64](numbers []T) string {
	if len(numbers) == 0 {
		return "[]" // and not null
	}
	list, _ := json.Marshal(numbers) // of numbers it cannot fail
	return string(list)
}

// removeExchanges deletes exchanges with their calls, their results, what the
// search index holds of them, the steps of the takes that sent them, and the runs
// and agents of which nothing is left. It says how many there were. What they held
// is left to sweep. It reads only what it needs, so that damaged exchanges can be
// removed too.
func (t *tx) removeExchanges(numbers []int64) (removed int64, err error) {
	list := inJSON(numbers)
	runs, agents, err := t.membersOf(list)
	if err == nil {
		err = t.st.row(context.Background(), "SELECT count(*) FROM exchange WHERE n IN "+gone, []any{list}, &removed)
	}
	if err != nil {
		return 0, err
	}
	if err := errors.Join(t.forgetExchanges(list), t.index().Drop(numbers), t.removeTakeSteps(list)); err != nil {
		return 0, err
	}
	if err := t.deletePairs(list, deleteResultsBy, deleteBroughtFor, "DELETE FROM pair WHERE n IN "+gone); err != nil {
		return 0, err
	}
	for _, s := range []struct{ query, list string }{
		{"DELETE FROM exchange WHERE n IN " + gone, list},
		{"DELETE FROM agent WHERE n IN " + gone + " AND NOT EXISTS (SELECT 1 FROM exchange WHERE agent = agent.id)", agents},
		{"DELETE FROM run WHERE n IN " + gone + " AND NOT EXISTS (SELECT 1 FROM exchange WHERE run = run.id)", runs}, // with all its agents
	} {
		if _, err := t.st.exec(s.query, s.list); err != nil {
			return 0, err
		}
	}
	return removed, nil
}

// What the other exchange of a result has of it. Of a damaged exchange some may be
// left; nothing is found by it.
const (
	deleteResultsBy  = "DELETE FROM pair WHERE (n, kind, call, other, at) IN (SELECT call >> 24, 1, call, n, at FROM pair WHERE kind = 2 AND n IN " + gone + ")"
	deleteBroughtFor = "DELETE FROM pair WHERE (n, kind, call, other, at) IN (SELECT other, 2, call, 0, at FROM pair WHERE kind = 1 AND n IN " + gone + ")"
)

func (t *tx) deletePairs(list string, queries ...string) error {
	for _, query := range queries {
		if _, err := t.st.exec(query, list); err != nil {
			return err
		}
	}
	return nil
}

// membersOf returns the numbers of the runs and agents that exchanges are of.
func (t *tx) membersOf(list string) (runs, agents string, err error) {
	const query = `SELECT (SELECT json_group_array(n) FROM run WHERE id IN (SELECT run FROM exchange WHERE n IN ` + gone + `)),
		(SELECT json_group_array(n) FROM agent WHERE id IN (SELECT agent FROM exchange WHERE n IN ` + gone + `))`
	err = t.st.row(context.Background(), query, []any{list}, &runs, &agents)
	return runs, agents, err
}

// forgetExchanges drops what is remembered of exchanges, and notes the lookups that
// lead to them. These are deleted together later, in order: each lies on a page of
// its own.
func (t *tx) forgetExchanges(list string) error {
	var lookups [][3]int64
	note := func(kind byte, value []byte, target int64) {
		if value != nil {
			lookups = append(lookups, [3]int64{int64(kind), t.w.lookup.key(kind, value), target})
		}
	}
	query := "SELECT n, id, in_node, out_node, node_without_ids, response_id FROM exchange WHERE n IN " + gone
	err := t.st.rows(context.Background(), query, []any{list}, func(row *sql.Rows) error {
		var n int64
		var id any
		var in, out, withoutIDs, response sql.RawBytes
		err := row.Scan(&n, &id, &in, &out, &withoutIDs, &response)
		note(findInNode, in, n)
		note(findOutNode, out, n)
		note(findNodeWithoutIDs, withoutIDs, n)
		note(findResponseID, response, n)
		t.w.last.drop(n)
		t.w.open.drop(unpackID(id))
		return err
	})
	if err != nil {
		return err
	}
	err = t.st.rows(context.Background(), "SELECT call, key FROM pair WHERE kind = 0 AND n IN "+gone, []any{list}, func(row *sql.Rows) error {
		var id int64
		var key sql.RawBytes
		err := row.Scan(&id, &key)
		note(findCall, key, id)
		return err
	})
	if err != nil {
		return err
	}
	_, err = t.st.exec("INSERT INTO lookup_gone (kind, key, target) SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)", inJSON(lookups))
	return err
}

// removeTakeSteps forgets that takes sent exchanges.
func (t *tx) removeTakeSteps(list string) error {
	var sent []any
	err := t.st.rows(context.Background(), "SELECT exchange FROM take_step WHERE exchange IN "+goneIDs, []any{list}, func(row *sql.Rows) error {
		var id any
		err := row.Scan(&id)
		sent = append(sent, id)
		return err
	})
	for _, id := range sent {
		err = errors.Join(err, t.removeTakeStep(id))
	}
	return err
}

// removed makes every writer forget what it remembers, since that may be gone.
func (t *tx) removed() error {
	t.w.stale = true
	_, err := t.st.exec("UPDATE state SET removals = removals + 1")
	return err
}

const (
	goneRows  = 1 << 20 // lookups that are sorted at once
	goneBatch = 256     // and deleted
)

type goneLookup struct {
	row, key, target int64
	kind             byte
}

// lookups deletes the lookups that were noted as leading nowhere.
func (p *pruning) lookups() error {
	for {
		list, err := p.goneLookups()
		if err != nil || len(list) == 0 {
			return err
		}
		first, last := list[0].row, list[len(list)-1].row
		slices.SortFunc(list, func(a, b goneLookup) int { return cmp.Compare(a.key, b.key) })
		if err := inSteps(p.change, list, goneBatch, (*tx).removeGone); err != nil {
			return err
		}
		if err := p.forgetGone(first, last); err != nil {
			return err
		}
	}
}

// forgetGone deletes the notes from one up to another.
func (p *pruning) forgetGone(from, last int64) error {
	for from <= last {
		err := p.change(func(t *tx) (err error) {
			for {
				from += goneRows >> 10
				_, err = t.st.exec("DELETE FROM lookup_gone WHERE rowid < ?", min(from, last+1))
				if err != nil || from > last || t.enough() {
					return err
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *pruning) goneLookups() ([]goneLookup, error) {
	var list []goneLookup
	query := "SELECT rowid, kind, key, target FROM lookup_gone ORDER BY rowid LIMIT ?"
	err := p.db.st.rows(p.ctx, query, []any{goneRows}, func(row *sql.Rows) error {
		var g goneLookup
		err := row.Scan(&g.row, &g.kind, &g.key, &g.target)
		list = append(list, g)
		return err
	})
	return list, err
}

// removeGone deletes lookups.
func (t *tx) removeGone(batch []goneLookup) error {
	lookups := make([][2]int64, len(batch))
	for i, g := range batch {
		lookups[i] = [2]int64{g.key, g.target}
	}
	return t.removeLookups(lookups)
}

// removeLookups deletes lookups that are not of this transaction, and counts them
// out of what the tables hold. An entry is in one of them, most likely in the last.
func (t *tx) removeLookups(lookups [][2]int64) error {
	for _, l := range lookups {
		for i := len(lookupTables) - 1; i >= 0; i-- {
			found := false
			err := t.st.numbers("DELETE FROM "+lookupTables[i]+" WHERE key = ? AND target = ? RETURNING 1", []any{l[0], l[1]}, func(int64) { found = true })
			if err != nil {
				return fmt.Errorf("delete lookup: %w", err)
			}
			if !found {
				continue
			}
			if i < len(t.w.state.lookups) {
				t.w.state.lookups[i], t.w.state.changed = t.w.state.lookups[i]-1, true
			}
			break
		}
	}
	return nil
}
