package ingest_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/retake-debugger/retake/ingest/reindex"
	"github.com/retake-debugger/retake/store"
)

// agree tells that what is stored, what verify derives and what reindex derives are
// the same.
func agree(t *testing.T, db *store.DB) {
	t.Helper()
	verified(t, db)
	if did := reindexAll(t, db); did.Changed != 0 {
		t.Errorf("reindex changed %d exchanges of which verify said nothing", did.Changed)
	}
	verified(t, db)
}

// olderBuild opens a database of which a build that knew less has stored something
// otherwise.
func olderBuild(t *testing.T, statement string) *store.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	variety(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if did, err := raw.Exec(statement); err != nil {
		t.Fatal(err)
	} else if n, err := did.RowsAffected(); n == 0 || err != nil {
		t.Fatalf("%s: %d rows, %v", statement, n, err)
	}
	if db, err = store.Open(path, store.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// A build that noted less of an exchange may have linked all that came with it as this
// one does: what is missing decides about others, when they come or are derived again.
func TestRederive_NamesWhatReindexWouldChangeOfAnOlderBuild(t *testing.T) {
	for name, statement := range map[string]string{
		"no hints":                "DELETE FROM hint",
		"one hint":                "DELETE FROM hint WHERE (value, n) = (SELECT value, n FROM hint ORDER BY n LIMIT 1)",
		"an agent without a call": "UPDATE agent SET call_exchange = NULL, call_at = NULL WHERE call_at IS NOT NULL",
	} {
		t.Run(name, func(t *testing.T) {
			db := olderBuild(t, statement)
			found, err := reindex.Compare(t.Context(), db, nil)
			if err != nil || len(found) == 0 {
				t.Errorf("verify: %v, %v", found, err)
			}
			if did := reindexAll(t, db); did.Changed == 0 {
				t.Error("reindex changed nothing")
			}
			agree(t, db)
		})
	}
}

func TestRederive_AgreesWithWhatWasRecorded(t *testing.T) {
	db := mustOpen(t)
	variety(t, db)
	agree(t, db)
}
