package search

import (
	"context"
	"database/sql"
	"fmt"
)

const (
	mergePages = 16 // are merged at once
	dropRows   = 32
)

// Tidy removes the terms of rows that are gone and takes a step in merging the segments
// of the index. It reports whether more is to be done.
func (x *Index) Tidy() (more bool, err error) {
	ctx := context.Background()
	ok, err := available(ctx, x.DB)
	if ok && err == nil {
		ok, err = made(ctx, x.DB)
	}
	for more = ok; more && err == nil; {
		more, err = x.dropTerms()
		for _, t := range tables {
			if !more && err == nil {
				more, err = x.merge(t[0])
			}
		}
		if x.Enough() {
			break
		}
	}
	if err != nil {
		return false, fmt.Errorf("tidy search index: %w", err)
	}
	return more, nil
}

// dropTerms removes the terms of a few rows that are gone.
func (x *Index) dropTerms() (bool, error) {
	var gone []int64
	err := x.DB.Rows(context.Background(), "SELECT id FROM search_gone LIMIT ?", []any{dropRows}, func(row *sql.Rows) error {
		var id int64
		err := row.Scan(&id)
		gone = append(gone, id)
		return err
	})
	if err != nil || len(gone) == 0 {
		return false, err
	}
	for _, query := range []string{"DELETE FROM search_terms WHERE rowid IN " + listed, "DELETE FROM search_words WHERE rowid IN " + listed, "DELETE FROM search_gone WHERE id IN " + listed} {
		if err == nil {
			_, err = x.DB.Exec(query, inJSON(gone))
		}
	}
	return true, err
}

// merge merges a few pages of a table, if there are enough segments of about one size, or one
// with enough rows that are gone.
func (x *Index) merge(table string) (bool, error) {
	before, err := x.changes()
	if err == nil {
		_, err = x.DB.Exec("INSERT INTO "+table+" ("+table+", rank) VALUES ('merge', ?)", mergePages)
	}
	after, err2 := x.changes()
	if err == nil {
		err = err2
	}
	return after-before >= 2, err // as the documentation of FTS5 says
}

func (x *Index) changes() (n int64, err error) {
	err = x.DB.Row(context.Background(), "SELECT total_changes()", nil, &n)
	return n, err
}

// DropAll empties the index.
func (x *Index) DropAll() error {
	queries := []string{"DROP TABLE IF EXISTS search_terms", "DROP TABLE IF EXISTS search_words", "DELETE FROM search_gone"}
	ok, err := available(context.Background(), x.DB)
	if !ok {
		queries = []string{"INSERT OR IGNORE INTO search_gone SELECT id FROM search_text"}
	}
	for _, query := range append(queries, "DELETE FROM search_text", "DELETE FROM search_place", "DELETE FROM search_tool", "DELETE FROM search_again",
		"UPDATE search_state SET done = 0, part_of = 0, part = 0") {
		if err == nil {
			_, err = x.DB.Exec(query)
		}
	}
	if err != nil {
		return fmt.Errorf("empty search index: %w", err)
	}
	return nil
}
