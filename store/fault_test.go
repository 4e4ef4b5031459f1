package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

var background = context.Background()

func TestOpen_MakesFileAndFolderPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "retake?x=1#%41.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	record(t, db, newConversation(1, 100), 1, 1, 100)
	for name, want := range map[string]fs.FileMode{path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, filepath.Dir(path): 0o700 | fs.ModeDir} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if n := number(t, db, "SELECT auto_vacuum * 100000 + page_size FROM pragma_auto_vacuum, pragma_page_size"); n != 204096 {
		t.Errorf("auto_vacuum and page size are %d", n)
	}
}

func TestOpenReader(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "retake.db")
	if _, err := store.OpenReader(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("reading made a file")
	}
	empty := filepath.Join(dir, "empty.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{empty, newFile(t, path)} {
		db, err := store.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExchangeN(t.Context(), 1); !errors.Is(err, transcript.ErrNotFound) {
			t.Errorf("empty database: %v", err)
		}
		if err := db.Update(t.Context(), func(transcript.Tx) error { return nil }); err == nil {
			t.Error("a reader may write")
		}
		if problems, err := db.Verify(t.Context(), nil); err != nil || len(problems) > 0 {
			t.Errorf("verify: %v, %v", problems, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func newFile(t *testing.T, path string) string {
	db, err := store.Open(path, store.Options{})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpen_RefusesWhatItDoesNotKnow(t *testing.T) {
	dir := t.TempDir()
	newer := newFile(t, filepath.Join(dir, "newer.db"))
	db, err := store.Open(newer, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Exec("PRAGMA user_version = 1000"); err != nil {
		t.Fatal(err)
	}
	// A running recorder notices it too.
	if err := db.Update(t.Context(), func(tx transcript.Tx) error { return nil }); !errors.Is(err, store.ErrNewerSchema) {
		t.Errorf("update: %v", err)
	}
	db.Close()
	of := func(name string, applicationID int) string {
		path := newFile(t, filepath.Join(dir, name))
		db, err := store.Open(path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.Exec(fmt.Sprintf("PRAGMA application_id = %d", applicationID)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign, older := of("foreign.db", 7), of("older.db", store.BeforeFirstSchema)
	junk := filepath.Join(dir, "junk.db")
	if err := os.WriteFile(junk, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{newer: store.ErrNewerSchema, older: store.ErrOlderSchema, foreign: nil, junk: nil} {
		before, _ := os.ReadFile(path)
		for name, open := range map[string]func() (*store.DB, error){
			"Open":       func() (*store.DB, error) { return store.Open(path, store.Options{}) },
			"OpenReader": func() (*store.DB, error) { return store.OpenReader(path) },
		} {
			db, err := open()
			if err == nil {
				db.Close()
			}
			if err == nil || want != nil && !errors.Is(err, want) {
				t.Errorf("%s %s: %v", name, filepath.Base(path), err)
			}
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s was changed", filepath.Base(path))
		}
	}
}

func TestCheck_NoticesAnotherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Check(); err != nil {
		t.Errorf("the same file: %v", err)
	}
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := db.Check(); !errors.Is(err, store.ErrReplaced) {
		t.Errorf("removed: %v", err)
	}
	newFile(t, path)
	if err := db.Check(); !errors.Is(err, store.ErrReplaced) {
		t.Errorf("replaced: %v", err)
	}
}

// After ErrReplaced a recorder closes and opens again, and goes on in a new
// file; what it left beside the old one is in nobody's way.
func TestCheck_OpenAgain(t *testing.T) {
	for name, remove := range map[string]func(path string) error{
		"only the file": os.Remove,
		"all files": func(path string) error {
			return errors.Join(os.Remove(path), os.Remove(path+"-wal"), os.Remove(path+"-shm"))
		},
		"renamed": func(path string) error { return os.Rename(path, path+".old") },
		"replaced": func(path string) error {
			other := newFile(t, path+".new")
			return os.Rename(other, path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "retake.db")
			old, err := store.Open(path, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			c := newConversation(1, 5000)
			record(t, old, c, 1, 5, 1000)
			if err := remove(path); err != nil {
				t.Fatal(err)
			}
			record(t, old, c, 6, 5, 1000) // not noticed yet
			if err := old.Check(); !errors.Is(err, store.ErrReplaced) {
				t.Fatalf("got %v", err)
			}
			if err := old.Close(); err != nil {
				t.Log(err)
			}
			db, err := store.Open(path, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			record(t, db, c, 1, 10, 1000)
			if problems, err := db.Verify(t.Context(), nil); err != nil || len(problems) > 0 {
				t.Errorf("verify: %v, %v", problems, err)
			}
			if n := number(t, db, "SELECT count(*) FROM exchange"); n != 10 {
				t.Errorf("%d exchanges, want 10", n)
			}
		})
	}
}

// A full disk is an error, nothing is half written, and writing goes on when
// there is space again.
func TestUpdate_FullDisk(t *testing.T) {
	db := openDB(t)
	c := newConversation(1, 5000)
	record(t, db, c, 1, 3, 2000)
	if err := db.Exec("PRAGMA max_page_count = 60"); err != nil {
		t.Fatal(err)
	}
	var err error
	n := 3
	for err == nil && n < 1000 {
		e, request, response := example(n+1), c.next(2000), [][]byte{element(c.r, 20_000)}
		e.Request.SHA256, e.Response.SHA256 = hash(request), hash(response)
		if err = db.Update(t.Context(), func(tx transcript.Tx) error { return putStep(tx, e, request, response) }); err == nil {
			n++
		}
	}
	if err == nil || !strings.Contains(err.Error(), "full") {
		t.Fatalf("after %d exchanges: %v", n, err)
	}
	if got := number(t, db, "SELECT count(*) FROM exchange"); got != int64(n) {
		t.Errorf("%d exchanges, want %d", got, n)
	}
	if problems, err := db.Verify(t.Context(), nil); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
	if err := db.Exec("PRAGMA max_page_count = 100000"); err != nil {
		t.Fatal(err)
	}
	record(t, db, c, n+1, 10, 2000)
	if problems, err := db.Verify(t.Context(), nil); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
	if got := number(t, db, "SELECT max(n) FROM exchange"); got != int64(n+10) {
		t.Errorf("newest is x%d, want x%d", got, n+10)
	}
}

// A reader that holds a transaction makes nobody wait and sees what it saw.
func TestUpdate_BesideALongReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c := newConversation(1, 5000)
	record(t, db, c, 1, 1, 1000)
	reader, err := store.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	release, count, err := reader.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for n := 2; n < 120; n += 20 { // enough for several checkpoints
		record(t, db, c, n, 20, 30_000)
	}
	if n, err := count(); n != 1 || err != nil {
		t.Errorf("the reader sees %d exchanges, %v", n, err)
	}
	release()
	if n := number(t, reader, "SELECT count(*) FROM exchange"); n < 120 {
		t.Errorf("%d exchanges", n)
	}
	if problems, err := db.Verify(t.Context(), nil); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
}

// A query that would run for ever ends with its context.
func TestReads_AreInterrupted(t *testing.T) {
	db := openDB(t)
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{})
	done := make(chan error)
	go func() {
		close(started)
		_, err := db.Number(ctx, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT max(x) FROM c")
		done <- err
	}()
	<-started
	cancel()
	if err := <-done; err == nil {
		t.Error("no error")
	}
}

// While another process writes, waiting for it ends with the context.
func TestUpdate_WaitingEndsWithContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	a, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	err = a.Update(t.Context(), func(transcript.Tx) error {
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error)
		go func() { result <- b.Update(ctx, func(transcript.Tx) error { return nil }) }()
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// And without a context that ends, it just waits.
	release := make(chan struct{})
	inside := make(chan struct{})
	result := make(chan error)
	go func() {
		result <- a.Update(t.Context(), func(transcript.Tx) error {
			close(inside)
			<-release
			return nil
		})
	}()
	<-inside
	go func() { result <- b.Update(t.Context(), func(transcript.Tx) error { return nil }) }()
	close(release)
	for range 2 {
		if err := <-result; err != nil {
			t.Error(err)
		}
	}
}

func TestClose_Twice(t *testing.T) {
	db := openDB(t)
	record(t, db, newConversation(1, 100), 1, 1, 100)
	body, err := db.Body(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if err := db.Update(t.Context(), func(transcript.Tx) error { return nil }); err == nil {
		t.Error("a closed database took an update")
	}
	if _, err := db.ExchangeN(t.Context(), 1); err == nil {
		t.Error("a closed database was read")
	}
	if _, err := io.ReadAll(body); err == nil {
		t.Error("a body of a closed database was read")
	}
}
