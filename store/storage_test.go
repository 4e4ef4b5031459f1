package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

func TestStorage_AddsUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if s, err := db.Storage(t.Context()); err != nil || s.Exchanges != 0 || s.Requests.Raw != 0 || s.Rows+s.Search+s.Free != s.Database {
		t.Errorf("empty: %+v, %v", s, err)
	}
	conversations(t, db, 1, 4, 50, 4000)
	zipped := example(9000)
	zipped.Request.ContentEncoding = "gzip"
	if err := db.Update(t.Context(), func(tx transcript.Tx) error {
		return putStep(tx, zipped, [][]byte{[]byte("not really gzip, but new")}, nil)
	}); err != nil {
		t.Fatal(err)
	}
	s, err := db.Storage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", *s)
	if raw := number(t, db, "SELECT sum(request_bytes) FROM exchange"); s.Requests.Raw != raw || s.Exchanges != 201 {
		t.Errorf("%d raw bytes of requests, %d exchanges; want %d, 201", s.Requests.Raw, s.Exchanges, raw)
	}
	if s.Requests.Stored*10 > s.Requests.Raw || s.Responses.Stored*10 < s.Responses.Raw {
		t.Errorf("requests %+v, responses %+v", s.Requests, s.Responses)
	}
	if s.Large.Raw < 28*70_000 || s.Large.Stored > s.Responses.Stored || s.Compressed.Raw != 24 || s.Compressed.Stored == 0 {
		t.Errorf("large %+v, compressed %+v", s.Large, s.Compressed)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := s.Requests.Stored + s.Responses.Stored + s.Unheld + s.Recipes + s.HeaderSets + s.Search + s.Rows + s.Free
	if s.Database > info.Size()+s.Log || sum < s.Database-1000 || sum > s.Database+1000 || s.Unheld != 0 {
		t.Errorf("the parts are %d, the database %d, the file %d, held by nobody %d", sum, s.Database, info.Size(), s.Unheld)
	}
}

func TestExamine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	if _, err := store.Examine(t.Context(), path); err == nil {
		t.Error("there is nothing to examine")
	}
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	conversations(t, db, 1, 2, 20, 3000)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	x, err := store.Examine(t.Context(), path)
	if err != nil || x.Opens != nil || len(x.Problems) > 0 || x.Exchanges != 40 || x.Version != x.Newest || x.Mode != 0o600 || !x.Readable {
		t.Errorf("%+v, %v", x, err)
	}
	for name, c := range map[string]struct {
		damage   func([]byte) []byte
		readable bool
	}{
		"cut":         {func(b []byte) []byte { return b[:len(b)*3/4] }, true},
		"no database": {func(b []byte) []byte { copy(b, "junk and more of it"); return b }, false},
		"empty":       {func(b []byte) []byte { return nil }, false},
		"newer":       {func(b []byte) []byte { b[60], b[61] = 9, 9; return b }, false}, // user_version
	} {
		hurt := filepath.Join(t.TempDir(), "retake.db")
		bytes := c.damage(append([]byte(nil), whole...))
		if err := os.WriteFile(hurt, bytes, 0o644); err != nil {
			t.Fatal(err)
		}
		x, err := store.Examine(t.Context(), hurt)
		if err != nil || x.Readable != c.readable || x.Mode != 0o644 || x.Bytes != int64(len(bytes)) || name != "empty" && x.Opens == nil {
			t.Errorf("%s: %+v, %v", name, x, err)
		}
		if after, _ := os.ReadFile(hurt); string(after) != string(bytes) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}
