package store

import (
	"database/sql"
	"path/filepath"
	"sync"
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

// Later migrations run in order, each in its own transaction: one that fails leaves
// what those before it did, and nothing of its own.
func TestMigrate_StepByStep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	list, err := allMigrations()
	if err != nil {
		t.Fatal(err)
	}
	first := len(list)
	add := func(sql string) {
		list = append(list[:len(list):len(list)], migration{version: len(list) + 1, name: "extra", sql: sql})
	}
	add("-- why\nCREATE TABLE extra (a); INSERT INTO extra VALUES (7);")
	add("-- why\nUPDATE extra SET a = 8; INSERT INTO nowhere VALUES (1);")
	if version, err := migrateTo(t, path, list); err == nil || version != first+1 {
		t.Errorf("the last one fails: version %d, %v", version, err)
	}
	if n, err := db.Number(t.Context(), "SELECT sum(a) FROM extra"); n != 7 || err != nil {
		t.Errorf("extra holds %d, %v; want 7", n, err)
	}
	list = list[:first+1]
	add("-- why\nUPDATE extra SET a = a + 1;")
	for range 2 {
		if version, err := migrateTo(t, path, list); err != nil || version != first+2 {
			t.Errorf("version %d, %v", version, err)
		}
	}
	if n, err := db.Number(t.Context(), "SELECT sum(a) FROM extra"); n != 8 || err != nil {
		t.Errorf("extra holds %d, %v; want 8", n, err)
	}
}

// Several processes may migrate a file at once: each migration runs once.
func TestMigrate_AtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	list, err := allMigrations()
	if err != nil {
		t.Fatal(err)
	}
	list = append(list, migration{version: len(list) + 1, name: "extra", sql: "-- why\nCREATE TABLE extra (a); INSERT INTO extra VALUES (1);"},
		migration{version: len(list) + 2, name: "more", sql: "-- why\nUPDATE extra SET a = a + 1;"})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if version, err := migrateTo(t, path, list); err != nil || version != len(list) {
				t.Errorf("version %d, %v", version, err)
			}
		})
	}
	all.Wait()
	err = withConn(t.Context(), path, forReading, func(conn *sql.Conn) error {
		var n int
		if err := conn.QueryRowContext(t.Context(), "SELECT sum(a) FROM extra").Scan(&n); err != nil || n != 2 {
			t.Errorf("extra holds %d, %v; want 2", n, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// migrateTo migrates the file and returns the version that it has then.
func migrateTo(t *testing.T, path string, list []migration) (version int, err error) {
	t.Helper()
	e := withConn(t.Context(), path, forWriting, func(conn *sql.Conn) error {
		err = migrate(t.Context(), conn, list)
		var e error
		version, e = schemaVersion(t.Context(), conn)
		return e
	})
	if e != nil {
		t.Error(e)
	}
	return version, err
}
