package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
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
	db.limits = searchLimits{veryFew: veryFew, few: few, some: some}
}

// SetFewOfRuns sets up to how many exchanges a list of runs is made from them.
func (db *DB) SetFewOfRuns(n int) { db.limits.fewOfRuns = n }

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

// Versions is how many versions the schema has had.
func Versions() int {
	all, err := allMigrations()
	if err != nil {
		panic(err)
	}
	return len(all)
}

// newLookups is the version that first had lookup_new.
const newLookups = 10

// callsBefore gives calls the tables and the ids that they had.
const callsBefore = `CREATE TEMP TABLE renamed AS SELECT call, row_number() OVER (ORDER BY call) AS id FROM new.pair WHERE kind = 0;
	INSERT INTO main.call SELECT m.id, e.id, p.at, p.key, p.call_id, p.name FROM new.pair p JOIN renamed m USING (call) JOIN new.exchange e ON e.n = p.n WHERE p.kind = 0;
	INSERT INTO main.result SELECT m.id, e.id, p.at, p.found_by, p.latency, p.is_error FROM new.pair p JOIN renamed m USING (call) JOIN new.exchange e ON e.n = p.other WHERE p.kind = 1;
	UPDATE main.lookup_recent SET target = (SELECT id FROM renamed WHERE call = target) WHERE target IN (SELECT call FROM renamed);
	UPDATE main.lookup SET target = (SELECT id FROM renamed WHERE call = target) WHERE target IN (SELECT call FROM renamed)`

// MakeOld makes a file as that version would have written it: with the rows of
// the file at from, and of them the columns that there were.
func MakeOld(ctx context.Context, path, from string, version int) error {
	if err := create(path); err != nil {
		return err
	}
	all, err := allMigrations()
	if err != nil {
		return err
	}
	return withConn(ctx, path, forWriting, func(conn *sql.Conn) error {
		if err := migrate(ctx, conn, all[:version]); err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, "ATTACH DATABASE ? AS new", from); err != nil {
			return err
		}
		rows, err := conn.QueryContext(ctx, `SELECT t.name, group_concat('"' || c.name || '"') FROM main.sqlite_schema t, pragma_table_info(t.name) c
			WHERE t.type = 'table' AND c.name IN (SELECT name FROM pragma_table_info(t.name, 'new')) GROUP BY t.name`)
		if err != nil {
			return err
		}
		defer rows.Close()
		var copies []string
		for rows.Next() {
			var table, columns string
			if err := rows.Scan(&table, &columns); err != nil {
				return err
			}
			copies = append(copies, fmt.Sprintf("DELETE FROM main.%[1]s; INSERT INTO main.%[1]s (%[2]s) SELECT %[2]s FROM new.%[1]s", table, columns))
		}
		if version < newLookups {
			copies = append(copies, "INSERT INTO main.lookup_recent SELECT * FROM new.lookup_new; UPDATE main.state SET lookups = (SELECT count(*) FROM main.lookup_recent)")
		}
		if version < pairVersion {
			copies = append(copies, callsBefore)
			if version >= newLookups {
				copies = append(copies, "UPDATE main.lookup_new SET target = (SELECT id FROM renamed WHERE call = target) WHERE target IN (SELECT call FROM renamed)")
			}
		}
		_, err = conn.ExecContext(ctx, strings.Join(copies, ";"))
		return err
	})
}
