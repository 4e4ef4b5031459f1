package store

import (
	"bytes"
	"database/sql"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// hintSlices is how often hints are looked through, a part each time: they
// are found by their value alone.
const hintSlices = 64

// strays removes what leads to exchanges and runs and is not found by them.
func (p *pruning) strays() error {
	const stray = "NOT EXISTS (SELECT 1 FROM exchange WHERE n = hint.n)"
	for i := range hintSlices {
		const width = 256 / hintSlices
		from := []byte{byte(i * width)}
		to := append([]byte{byte(i*width + width - 1)}, bytes.Repeat([]byte{0xff}, len(transcript.Key{}))...)
		var found bool
		err := p.db.st.row(p.ctx, "SELECT EXISTS (SELECT 1 FROM hint WHERE value BETWEEN ? AND ? AND "+stray+")", []any{from, to}, &found)
		if err != nil {
			return fmt.Errorf("look for hints: %w", err)
		}
		if !found {
			continue
		}
		if err := p.change(func(t *tx) error {
			_, err := t.st.exec("DELETE FROM hint WHERE value BETWEEN ? AND ? AND "+stray, from, to)
			return err
		}); err != nil {
			return err
		}
	}
	return p.runKeys()
}

// runKeys removes the names of runs that are gone.
func (p *pruning) runKeys() error {
	const stray = "NOT EXISTS (SELECT 1 FROM run WHERE id = run_key.run)"
	var keys []string
	err := p.db.st.rows(p.ctx, "SELECT client_key FROM run_key WHERE "+stray, nil, func(row *sql.Rows) error {
		var key string
		err := row.Scan(&key)
		keys = append(keys, key)
		return err
	})
	if err != nil {
		return fmt.Errorf("look for names of runs: %w", err)
	}
	return inSteps(p.change, keys, 1, func(t *tx, some []string) error {
		_, err := t.st.exec("DELETE FROM run_key WHERE client_key = ? AND "+stray, some[0])
		return err
	})
}
