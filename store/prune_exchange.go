package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
)

// removeExchange deletes an exchange with its calls, its results, what the
// search index holds of it and the step of the take that sent it. What it held is
// left to sweep. It reads only what it needs, so that a damaged exchange can be
// removed too. known says whether it was there,
// whose it was from.
func (t *tx) removeExchange(n int64) (from member, known bool, err error) {
	var id any
	var in, out, loose []byte
	var responseID *string
	err = t.st.row(context.Background(), "SELECT id, agent, run, in_node, out_node, loose_node, response_id FROM exchange WHERE n = ?", []any{n},
		&id, &from.agent, &from.run, &in, &out, &loose, &responseID)
	if errors.Is(err, sql.ErrNoRows) {
		return from, false, nil
	}
	if err != nil {
		return from, false, err
	}
	for kind, value := range map[byte][]byte{findInNode: in, findOutNode: out, findLooseNode: loose} {
		if value != nil {
			if err := t.lookupGone(kind, value, n); err != nil {
				return from, false, err
			}
		}
	}
	if responseID != nil {
		if err := t.lookupGone(findResponseID, []byte(*responseID), n); err != nil {
			return from, false, err
		}
	}
	if err := t.DropTexts(unpackID(id)); err != nil {
		return from, false, err
	}
	if err := errors.Join(t.removeCalls(id), t.removeTakeStep(id)); err != nil {
		return from, false, err
	}
	t.w.last.drop(n)
	for _, query := range []string{
		"DELETE FROM result WHERE exchange = ?",
		"DELETE FROM exchange WHERE id = ?",
	} {
		if _, err := t.st.exec(query, id); err != nil {
			return from, false, err
		}
	}
	return from, true, nil
}

func (t *tx) removeCalls(exchange any) error {
	t.w.open.drop(unpackID(exchange))
	keys := map[int64][]byte{}
	err := t.st.rows(context.Background(), "SELECT id, key FROM call WHERE exchange = ?", []any{exchange}, func(row *sql.Rows) error {
		var id int64
		var key []byte
		err := row.Scan(&id, &key)
		keys[id] = key
		return err
	})
	if err != nil {
		return err
	}
	for id, key := range keys {
		if err := t.lookupGone(findCall, key, id); err != nil {
			return err
		}
		if _, err := t.st.exec("DELETE FROM result WHERE call = ?", id); err != nil {
			return err
		}
	}
	_, err = t.st.exec("DELETE FROM call WHERE exchange = ?", exchange)
	return err
}

// lookupGone notes that a lookup leads nowhere. They are deleted together
// later, in order: each lies on a page of its own.
func (t *tx) lookupGone(kind byte, value []byte, target int64) error {
	_, err := t.st.exec("INSERT INTO lookup_gone (kind, key, target) VALUES (?, ?, ?)", kind, t.w.lookup.key(kind, value), target)
	return err
}

// removed tells every writer that what it remembers may be gone.
func (t *tx) removed() error {
	t.w.stale = true
	_, err := t.st.exec("UPDATE state SET removals = removals + 1")
	return err
}

const (
	goneRows  = 1 << 20 // that are sorted at once
	goneBatch = 1000    // that are deleted in one transaction
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
		last := int64(0)
		for _, g := range list {
			last = max(last, g.row)
		}
		slices.SortFunc(list, func(a, b goneLookup) int { return cmp.Compare(a.key, b.key) })
		for batch := range slices.Chunk(list, goneBatch) {
			if err := p.change(func(t *tx) error { return t.removeLookups(batch) }); err != nil {
				return err
			}
		}
		err = p.change(func(t *tx) error {
			_, err := t.st.exec("DELETE FROM lookup_gone WHERE rowid <= ?", last)
			return err
		})
		if err != nil {
			return err
		}
	}
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

func (t *tx) removeLookups(batch []goneLookup) error {
	for _, g := range batch {
		if g.kind == findCall { // ids of calls are given out again
			taken, err := t.exists("SELECT 1 FROM call WHERE id = ?", g.target)
			if err != nil {
				return err
			}
			if taken {
				continue
			}
		}
		if err := t.removeLookup(g.key, g.target); err != nil {
			return err
		}
	}
	return nil
}
