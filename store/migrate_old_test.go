package store_test

import (
	"bufio"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// migrateFile opens a file, which brings it up to date, and says when it begins
// and when it is done.
func migrateFile(path string) error {
	fmt.Println("begin")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	fmt.Println("done")
	return db.Close()
}

// oldFile gives the bytes of a file that an older version wrote.
func oldFile(t *testing.T, version, agents, steps int) []byte {
	t.Helper()
	dir := t.TempDir()
	db, err := store.Open(filepath.Join(dir, "new.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	conversations(t, db, 1, agents, steps, 1500)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(dir, fmt.Sprintf("old%d.db", version))
	if err := store.MakeOld(t.Context(), old, db.Path(), version); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// A file of any earlier version is brought up to date with all that it holds,
// by whoever opens it first, and can be written to.
func TestMigrate_FromEveryVersion(t *testing.T) {
	for version := 1; version < store.Versions(); version++ {
		whole := oldFile(t, version, 3, 20)
		for _, writer := range []bool{true, false} {
			path := filepath.Join(t.TempDir(), "retake.db")
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			if !writer {
				reader, err := store.OpenReader(path)
				if err != nil {
					t.Fatalf("version %d: %v", version, err)
				}
				if n := number(t, reader, "SELECT count(*) FROM exchange"); n != 60 {
					t.Errorf("version %d: %d exchanges, want 60", version, n)
				}
				reader.Close()
			}
			db, err := store.Open(path, store.Options{})
			if err != nil {
				t.Fatalf("version %d: %v", version, err)
			}
			conversations(t, db, 1000, 1, 5, 1500)
			if n := number(t, db, "SELECT count(*) FROM exchange"); n != 65 {
				t.Errorf("version %d: %d exchanges, want 65", version, n)
			}
			if calls, err := db.Calls(t.Context(), []string{example(1).ID}); err != nil || len(calls) != 1 || len(calls[0].Results) != 1 {
				t.Errorf("version %d: calls %+v, %v", version, calls, err)
			}
			wholeFile(t, db)
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// The search index was in FTS5 once: what is left of that goes, and what is stored
// is indexed anew.
func TestMigrate_FormerSearchIndexGoes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	if err := os.WriteFile(path, oldFile(t, 15, 1, 5), 0o600); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec(`CREATE VIRTUAL TABLE search_term USING fts5(terms, content = '', contentless_delete = 1, detail = none)`); err != nil {
		t.Skip("this build has no FTS5: ", err)
	}
	if _, err := raw.Exec(`INSERT INTO search_term VALUES ('some terms'); UPDATE search_state SET done = 5`); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if n := number(t, db, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'search_term%'"); n != 0 {
		t.Errorf("%d tables of the former index are left", n)
	}
	if s, err := db.SearchState(t.Context()); err != nil || s.Lag != 5 {
		t.Errorf("%d exchanges are not indexed (%v), want 5", s.Lag, err)
	}
	wholeFile(t, db)
}

// Killed at any moment of a migration, a file is whole, and who opens it next
// brings it up to date.
func TestMigrate_SurvivesKill(t *testing.T) {
	whole := oldFile(t, 1, 6, 60)
	path := filepath.Join(t.TempDir(), "retake.db")
	migrate := func(after time.Duration) (took time.Duration, finished bool) {
		cmd := job(t, "migrate", path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var began time.Time
		for lines := bufio.NewScanner(out); lines.Scan(); {
			switch lines.Text() {
			case "begin":
				began = time.Now()
				if after > 0 {
					time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
				}
			case "done":
				took = time.Since(began)
			}
		}
		return took, cmd.Wait() == nil
	}
	fresh := func() {
		for _, name := range []string{path + "-wal", path + "-shm"} {
			_ = os.Remove(name)
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fresh()
	took, finished := migrate(0)
	if !finished {
		t.Fatal("the migration fails")
	}
	const rounds = 12
	killed := 0
	for round := range rounds {
		fresh()
		if _, finished := migrate(took*time.Duration(round+1)/rounds + time.Microsecond); !finished {
			killed++
		}
		db, err := store.Open(path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		wholeFile(t, db)
		n := 0
		for _, err := range db.Exchanges(t.Context(), transcript.Filter{}) {
			if n++; err != nil {
				t.Error(err)
			}
		}
		if n != 360 {
			t.Errorf("%d exchanges, want 360", n)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	if killed == 0 {
		t.Error("never killed")
	}
	t.Logf("a migration takes %v; killed %d times", took, killed)
}

// Earlier imports invented a second for each answer, and when requests began: what
// they did not know is unknown, and what was recorded stays.
func TestMigrate_InventedTimesAreUnknown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	if err := os.WriteFile(path, oldFile(t, 17, 1, 4), 0o600); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	const second = 1_000_000_000
	for n, imported := range []string{"view only", "rebuilt", "exact", ""} { // one after the other, a second each
		if _, err := raw.Exec("UPDATE exchange SET imported = ?, url = 'https://api.openai.com/v1/chat/completions', started = ?, ended = ?, duration = ?, results = 1 WHERE n = ?",
			imported, (n+1)*second, (n+2)*second, second, n+1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := raw.Exec("UPDATE result SET latency = 7"); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for n := int64(1); n <= 4; n++ {
		e, err := db.ExchangeN(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		if known := n > 2; e.StartedAt.IsZero() == known || e.EndedAt.IsZero() == known || (e.Timing.Duration == 0) == known {
			t.Errorf("%q: from %v to %v, %v", e.Imported, e.StartedAt, e.EndedAt, e.Timing.Duration)
		}
		calls, err := db.Calls(t.Context(), []string{e.ID})
		if err != nil || len(calls) != 1 {
			t.Fatalf("%d calls, %v", len(calls), err)
		}
		for _, r := range calls[0].Results {
			if known := n > 2; (r.LatencyMS == nil) == known {
				t.Errorf("%q: latency %v", e.Imported, r.LatencyMS)
			}
		}
	}
}
