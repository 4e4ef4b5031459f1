package store

import (
	"context"
	"database/sql"
	"fmt"
)

// deepest bounds a line of parents, which damage could close to a ring.
const deepest = 1_000_000

// Line returns the ids of the exchange and of those whose history it continues,
// oldest first.
func (r *reader) Line(ctx context.Context, id string) ([]string, error) {
	const query = `WITH RECURSIVE line(id, depth) AS (
			SELECT id, 0 FROM exchange WHERE id = ?
			UNION ALL
			SELECT p.id, depth + 1 FROM line JOIN exchange e ON e.id = line.id JOIN exchange p ON p.id = e.parent WHERE depth < ?)
		SELECT id FROM line ORDER BY depth DESC`
	var line []string
	err := r.st.rows(ctx, query, []any{packID(id), deepest}, func(row *sql.Rows) error {
		var packed any
		if err := row.Scan(&packed); err != nil {
			return err
		}
		line = append(line, unpackID(packed))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read line of %s: %w", id, damaged(err))
	}
	return line, nil
}
