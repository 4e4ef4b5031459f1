package store

import (
	"context"
	"database/sql"

	"github.com/retake-debugger/retake/store/search"
)

// Number runs a query that gives one number, past the interfaces.
func (db *DB) Number(ctx context.Context, query string, args ...any) (int64, error) {
	var n sql.NullInt64
	err := db.pool.QueryRowContext(ctx, query, args...).Scan(&n)
	return n.Int64, err
}

// Path is where the file is.
func (db *DB) Path() string { return db.path }

// Exec changes the database past the interfaces, to damage it or to set limits.
func (db *DB) Exec(query string) error {
	if err := db.w.lock(context.Background()); err != nil {
		return err
	}
	defer db.w.unlock()
	db.w.stale = true
	_, err := db.w.conn.ExecContext(context.Background(), query)
	return err
}

// SetSearchLimits sets how many exchanges are looked through one by one, and how
// many are listed, at most.
func (db *DB) SetSearchLimits(veryFew, few, some int) {
	db.limits = search.Limits{VeryFew: veryFew, Few: few, Some: some}
}

// SetFewOfRuns sets up to how many exchanges a list of runs is made from them.
func (db *DB) SetFewOfRuns(n int) { db.fewOfRuns = n }

// Hold begins a transaction that reads and keeps it open until release. count
// gives how many exchanges it sees.
func (db *DB) Hold(ctx context.Context) (release func(), count func() (int64, error), err error) {
	tx, err := db.pool.BeginTx(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	count = func() (n int64, err error) {
		err = tx.QueryRowContext(ctx, "SELECT count(*) FROM exchange").Scan(&n)
		return n, err
	}
	_, err = count()
	return func() { _ = tx.Rollback() }, count, err
}

// BeforeFirstSchema is the application id of files that cannot be migrated.
const BeforeFirstSchema = beforeFirstSchema
