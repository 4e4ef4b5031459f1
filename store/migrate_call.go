package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// pairVersion is the schema in which calls got other ids.
const pairVersion = 19

// movedCall is a call whose lookup leads to an id that it has no more.
type movedCall struct{ id, key, now int64 }

// mostMoved is how many calls are sorted at once.
const mostMoved = 1 << 20

// moveCalls makes lookups lead to the new ids of calls, in the order of the keys:
// each lies on a page of its own.
func moveCalls(ctx context.Context, conn *sql.Conn) error {
	l := lookup{}
	if err := conn.QueryRowContext(ctx, "SELECT salt FROM state").Scan(&l.salt); err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	for last := int64(-1); ; {
		moved, err := movedAfter(ctx, conn, &l, last)
		if err != nil {
			return fmt.Errorf("read moved calls: %w", err)
		}
		if len(moved) == 0 {
			break
		}
		last = moved[len(moved)-1].id
		slices.SortFunc(moved, func(a, b movedCall) int { return cmp.Compare(a.key, b.key) })
		for _, table := range lookupTables {
			if err := moveLookups(ctx, conn, table, moved); err != nil {
				return fmt.Errorf("change lookups: %w", err)
			}
		}
	}
	_, err := conn.ExecContext(ctx, "DROP TABLE call_moved")
	return err
}

func movedAfter(ctx context.Context, conn *sql.Conn, l *lookup, last int64) ([]movedCall, error) {
	const query = `SELECT m.id, m.call, p.key FROM call_moved m CROSS JOIN pair p ON p.n = m.call >> 24 AND p.kind = 0 AND p.call = m.call
		WHERE m.id > ? ORDER BY m.id LIMIT ?`
	rows, err := conn.QueryContext(ctx, query, last, mostMoved)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var moved []movedCall
	for rows.Next() {
		var m movedCall
		var key sql.RawBytes
		if err := rows.Scan(&m.id, &m.now, &key); err != nil {
			return nil, err
		}
		m.key = l.key(findCall, key)
		moved = append(moved, m)
	}
	return moved, rows.Err()
}

func moveLookups(ctx context.Context, conn *sql.Conn, table string, moved []movedCall) error {
	stmt, err := conn.PrepareContext(ctx, "UPDATE OR REPLACE "+table+" SET target = ? WHERE key = ? AND target = ?")
	if err != nil {
		return err
	}
	defer stmt.Close()
	for _, m := range moved {
		if _, err := stmt.ExecContext(ctx, m.now, m.key, m.id); err != nil {
			return err
		}
	}
	return nil
}
