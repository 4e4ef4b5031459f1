package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// Takes lists the takes that start from the exchange with that id or sent it,
// oldest first; all takes if id is "".
func (r *reader) Takes(ctx context.Context, id string) ([]transcript.Take, error) {
	query, args := "SELECT n, id, origin, exchange, edits, created FROM take ", []any(nil)
	if id != "" {
		query += "WHERE origin = ?1 OR exchange = ?1 "
		args = []any{packID(id)}
	}
	var takes []transcript.Take
	err := r.st.rows(ctx, query+"ORDER BY n", args, func(row *sql.Rows) error {
		var t transcript.Take
		var id, origin, exchange any
		var created *int64
		if err := row.Scan(&t.N, &id, &origin, &exchange, &t.Edits, &created); err != nil {
			return err
		}
		t.ID, t.Origin, t.Exchange, t.CreatedAt = unpackID(id), unpackID(origin), unpackID(exchange), unpackTime(created)
		takes = append(takes, t)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read takes: %w", damaged(err))
	}
	return takes, nil
}

// PutTake stores a take and sets its N.
func (t *tx) PutTake(take *transcript.Take) error {
	if err := t.open(); err != nil {
		return err
	}
	take.N = t.w.state.next(&t.w.state.take)
	_, err := t.st.exec("INSERT INTO take (n, id, origin, exchange, edits, created) VALUES (?, ?, ?, ?, ?, ?)",
		take.N, packID(take.ID), idOrEmpty(take.Origin), idOrEmpty(take.Exchange), take.Edits, packTime(take.CreatedAt))
	if err != nil {
		return fmt.Errorf("store take: %w", err)
	}
	return nil
}

// idOrEmpty is packID for a column that may be empty but not NULL.
func idOrEmpty(id string) any {
	if id == "" {
		return ""
	}
	return packID(id)
}
