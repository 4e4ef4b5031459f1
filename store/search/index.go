// Package search is the full-text index of a store. Which trigrams and which words are in
// which row is in two tables of SQLite's FTS5, which keep no text; which items a row
// stands for, and where they are in the bodies, is in search_text. So what the index finds is a
// candidate: whoever shows an item reads it first.
package search

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// A DB is the SQLite database that holds the index: a transaction, or what reads.
type DB interface {
	Exec(query string, args ...any) (sql.Result, error)
	// Row scans the only row of a query; sql.ErrNoRows if there is none.
	Row(ctx context.Context, query string, args []any, dest ...any) error
	// Rows calls each for every row. It must not ask the database anything.
	Rows(ctx context.Context, query string, args []any, each func(*sql.Rows) error) error
}

// Index writes the index, within a transaction.
type Index struct {
	DB     DB
	Key    func(transcript.Key) int64 // the key in the file of a text that is kept once
	Enough func() bool                // reports whether the transaction has taken long enough
}

// The rows of exchanges that are indexed once more have ids of their own, so that a
// search can put both kinds in the order of exchanges. No id is used twice.
const againFrom = 1 << 40

// tables are the tables of FTS5 and how they cut a text into terms.
var tables = [2][2]string{{"search_terms", "trigram case_sensitive 1"}, {"search_words", "ascii tokenchars _"}}

// createTables creates the tables with the first row, since empty ones take several
// pages. Segments are merged in small steps (Tidy): a merge that FTS5 begins by itself
// may hold the lock for a second.
func createTables(db DB) error {
	for _, t := range tables {
		for _, query := range []string{
			"CREATE VIRTUAL TABLE " + t[0] + " USING fts5(text, tokenize = '" + t[1] + "', detail = none, content = '', contentless_delete = 1)",
			"INSERT INTO " + t[0] + " (" + t[0] + ", rank) VALUES ('automerge', 0)",
			"INSERT INTO " + t[0] + " (" + t[0] + ", rank) VALUES ('crisismerge', 1000)",
		} {
			if _, err := db.Exec(query); err != nil {
				return err
			}
		}
	}
	return nil
}

// available reports whether this build has FTS5.
func available(ctx context.Context, db DB) (ok bool, err error) {
	err = db.Row(ctx, "SELECT EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'fts5')", nil, &ok)
	return ok, err
}

// made reports whether the tables of FTS5 are there.
func made(ctx context.Context, db DB) (ok bool, err error) {
	err = db.Row(ctx, "SELECT EXISTS (SELECT 1 FROM pragma_table_list WHERE name = 'search_terms')", nil, &ok)
	return ok, err
}

// lagCounted is up to how many exchanges are counted one by one.
const lagCounted = 1000

// State reports how far the index is.
func State(ctx context.Context, db DB) (transcript.SearchState, error) {
	var s transcript.SearchState
	var last int64
	var err error
	if s.Index, err = available(ctx, db); err == nil {
		err = db.Row(ctx, `SELECT done, coalesce((SELECT max(n) FROM exchange), 0), CASE done WHEN 0 THEN
			(SELECT coalesce(sum(bytes), 0) FROM (SELECT request_bytes + response_bytes AS bytes FROM exchange LIMIT ?)) ELSE 0 END
			FROM search_state`, []any{lagCounted}, &s.Done, &last, &s.Bytes)
	}
	if err != nil {
		return s, fmt.Errorf("read search index: %w", err)
	}
	list, err := Unindexed(ctx, db, lagCounted)
	if s.Lag = int64(len(list)); s.Lag == lagCounted {
		s.Lag = max(s.Lag, last-s.Done)
	}
	return s, err
}

// Unindexed lists exchanges that the index does not hold: first those to be indexed
// once more.
func Unindexed(ctx context.Context, db DB, limit int) ([]transcript.Unindexed, error) {
	const query = `SELECT a.exchange, 1 FROM search_again a, search_state s WHERE a.exchange <= s.done
		UNION ALL
		SELECT * FROM (SELECT n, n IN (SELECT exchange FROM search_again) FROM exchange WHERE n > (SELECT done FROM search_state) ORDER BY n LIMIT ?1)
		LIMIT ?1`
	var list []transcript.Unindexed
	err := db.Rows(ctx, query, []any{limit}, func(row *sql.Rows) error {
		var u transcript.Unindexed
		err := row.Scan(&u.N, &u.Whole)
		list = append(list, u)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list what is not indexed: %w", err)
	}
	return list, nil
}

// listed is the set of numbers in a JSON array, the first argument of a query.
const listed = "(SELECT value FROM json_each(?1))"

func inJSON(numbers []int64) string {
	b, _ := json.Marshal(numbers) // of numbers always succeeds
	return string(b)
}
