package store

import (
	"context"
	"database/sql"
)

// Number runs a query that gives one number, past the interfaces.
func (db *DB) Number(ctx context.Context, query string, args ...any) (int64, error) {
	var n sql.NullInt64
	err := db.pool.QueryRowContext(ctx, query, args...).Scan(&n)
	return n.Int64, err
}

// Exec changes the database past the interfaces, to damage it or to set limits.
func (db *DB) Exec(query string) error {
	if err := db.w.lock(context.Background()); err != nil {
		return err
	}
	defer db.w.unlock()
	_, err := db.w.conn.ExecContext(context.Background(), query)
	return err
}
