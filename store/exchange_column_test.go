package store

import (
	"database/sql"
	"path/filepath"
	"slices"
	"testing"
)

// The list of columns and the table agree.
func TestExchangeColumns_AreThoseOfTheTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var want []string
	err = db.st.rows(t.Context(), "SELECT name FROM pragma_table_info('exchange') ORDER BY cid", nil, func(row *sql.Rows) error {
		var name string
		err := row.Scan(&name)
		want = append(want, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(exchangeColumns); !slices.Equal(got, want) {
		t.Errorf("columns\n%q, want\n%q", got, want)
	}
}
