package store

import (
	"bytes"
	"database/sql"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// member is an agent and its run, as columns hold them.
type member struct{ agent, run any }

// key makes it comparable.
func (m member) key() string { return unpackID(m.agent) + " " + unpackID(m.run) }

// dropEmpty removes the runs and agents that have no exchange any more.
func (t *tx) dropEmpty(left map[string]member) error {
	for _, m := range left {
		if _, err := t.st.exec(`DELETE FROM agent WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM exchange WHERE run = ?2 AND agent = ?1)`, m.agent, m.run); err != nil {
			return err
		}
		res, err := t.st.exec("DELETE FROM run WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM exchange WHERE run = ?1)", m.run)
		if err != nil {
			return err
		}
		if gone, err := res.RowsAffected(); err != nil || gone == 0 {
			continue
		}
		if _, err := t.st.exec("DELETE FROM agent WHERE run = ?", m.run); err != nil {
			return err
		}
	}
	return nil
}

// clueSlices is how often clues are looked through, a part each time: they
// are found by their value alone.
const clueSlices = 64

// strays removes what leads to exchanges and runs and is not found by them.
func (p *pruning) strays() error {
	const gone = "NOT EXISTS (SELECT 1 FROM exchange WHERE n = clue.n)"
	for i := range clueSlices {
		const width = 256 / clueSlices
		from := []byte{byte(i * width)}
		to := append([]byte{byte(i*width + width - 1)}, bytes.Repeat([]byte{0xff}, len(transcript.Key{}))...)
		var found bool
		err := p.db.st.row(p.ctx, "SELECT EXISTS (SELECT 1 FROM clue WHERE value BETWEEN ? AND ? AND "+gone+")", []any{from, to}, &found)
		if err != nil {
			return fmt.Errorf("look for clues: %w", err)
		}
		if !found {
			continue
		}
		if err := p.change(func(t *tx) error {
			_, err := t.st.exec("DELETE FROM clue WHERE value BETWEEN ? AND ? AND "+gone, from, to)
			return err
		}); err != nil {
			return err
		}
	}
	return p.runKeys()
}

// runKeys removes the names of runs that are gone.
func (p *pruning) runKeys() error {
	const gone = "NOT EXISTS (SELECT 1 FROM run WHERE id = run_key.run)"
	var keys []string
	err := p.db.st.rows(p.ctx, "SELECT client_key FROM run_key WHERE "+gone, nil, func(row *sql.Rows) error {
		var key string
		err := row.Scan(&key)
		keys = append(keys, key)
		return err
	})
	if err != nil {
		return fmt.Errorf("look for names of runs: %w", err)
	}
	for batch := range slices.Chunk(keys, goneBatch) {
		if err := p.change(func(t *tx) error {
			for _, key := range batch {
				if _, err := t.st.exec("DELETE FROM run_key WHERE client_key = ? AND "+gone, key); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
