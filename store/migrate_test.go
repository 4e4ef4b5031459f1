package store

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
)

func TestMigrations_AreNumberedAndSayWhy(t *testing.T) {
	all, err := allMigrations()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no migrations")
	}
	for _, m := range all {
		if len(m.sql) < 3 || m.sql[:3] != "-- " {
			t.Errorf("%s does not begin with a comment", m.name)
		}
	}
}

// A later migration keeps what is stored; one that fails changes nothing.
func TestMigrate_StepByStep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all, err := allMigrations()
	if err != nil {
		t.Fatal(err)
	}
	next := len(all) + 1
	run := func(list []migration) (version int, err error) {
		t.Helper()
		e := withConn(t.Context(), path, forWriting, func(conn *sql.Conn) error {
			err = migrate(t.Context(), conn, list)
			var e error
			version, e = schemaVersion(t.Context(), conn)
			return e
		})
		if e != nil {
			t.Fatal(e)
		}
		return version, err
	}
	broken := append(all[:len(all):len(all)], migration{version: next, name: "broken", sql: "-- why\nCREATE TABLE extra (a); INSERT INTO nowhere VALUES (1);"})
	if version, err := run(broken); err == nil || version != len(all) {
		t.Errorf("broken: version %d, %v", version, err)
	}
	if n, err := db.Number(context.Background(), "SELECT count(*) FROM sqlite_schema WHERE name = 'extra'"); n != 0 || err != nil {
		t.Errorf("half of a migration is there: %d, %v", n, err)
	}
	good := append(all[:len(all):len(all)], migration{version: next, name: "good", sql: "-- why\nCREATE TABLE extra (a); INSERT INTO extra VALUES (7);"})
	for range 2 {
		if version, err := run(good); err != nil || version != next {
			t.Errorf("good: version %d, %v", version, err)
		}
	}
	if n, err := db.Number(context.Background(), "SELECT sum(a) FROM extra"); n != 7 || err != nil {
		t.Errorf("extra holds %d, %v", n, err)
	}
}
