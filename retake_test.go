package retake_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// bench is a recorder in front of a server that echoes requests.
type bench struct {
	t    *testing.T
	path string
	db   *retake.DB
	url  string
	log  *bytes.Buffer
}

func newBench(t *testing.T, path string) *bench {
	t.Helper()
	b := &bench{t: t, path: path, log: &bytes.Buffer{}}
	db, err := retake.OpenSpool(path, retake.Options{Log: slog.New(slog.NewTextHandler(&lockedWriter{w: b.log}, nil))})
	if err != nil {
		t.Fatal(err)
	}
	b.db = db
	db.Start(nil)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }))
	t.Cleanup(upstream.Close)
	o := db.Recording()
	o.Upstreams = []recorder.Upstream{{URL: mustURL(t, upstream.URL)}}
	proxy, err := recorder.NewProxy(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	b.url = server.URL
	return b
}

// call sends one request and checks the answer.
func (b *bench) call(text string) {
	b.t.Helper()
	resp, err := http.Post(b.url+"/v1/x", "text/plain", strings.NewReader(text))
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || string(got) != text {
		b.t.Fatalf("answer %q (%v), want %q", got, err, text)
	}
}

func (b *bench) close() {
	b.t.Helper()
	if err := b.db.Close(); err != nil {
		b.t.Errorf("close: %v", err)
	}
}

// stored returns the request bodies in the database.
func (b *bench) stored() []string {
	b.t.Helper()
	db, err := store.OpenReader(b.path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer db.Close()
	var texts []string
	for e, err := range db.Exchanges(context.Background(), transcript.Filter{Oldest: true}) {
		if err != nil {
			b.t.Fatal(err)
		}
		r, err := db.Body(context.Background(), e.Request.Body)
		if err != nil {
			b.t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			b.t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// until waits until ok returns true.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 2000 {
		if ok() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s did not happen within 10 s", what)
}

func TestDB_CloseStoresWhatWasRecorded(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "t.db"))
	for i := range 50 {
		b.call(fmt.Sprint(i))
	}
	b.close()
	if got := b.stored(); len(got) != 50 {
		t.Errorf("%d exchanges stored, want 50", len(got))
	}
	if left, _ := filepath.Glob(b.path + ".spool/*/"); len(left) > 0 {
		t.Errorf("spool folders left: %v", left)
	}
}

func TestDB_TrafficGoesOnWhileTheDatabaseIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	b := newBench(t, path)
	b.call("first")
	until(t, "the first commit", func() bool { return b.db.Store() != nil && len(b.stored()) == 1 })
	holder, err := sql.Open("sqlite3", path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	tx, err := holder.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		b.call(fmt.Sprint("locked ", i))
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	b.close()
	if got := b.stored(); len(got) != 21 {
		t.Errorf("%d exchanges stored, want 21", len(got))
	}
}

func TestDB_RecordsIntoANewFileWhenTheDatabaseIsRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	b := newBench(t, path)
	b.call("before")
	until(t, "the first commit", func() bool { return b.db.Store() != nil && len(b.stored()) == 1 })
	for _, suffix := range []string{"", "-wal", "-shm"} {
		os.Remove(path + suffix)
	}
	for i := range 20 {
		b.call(fmt.Sprint("after ", i))
	}
	b.close()
	got := b.stored()
	if len(got) > 0 && got[0] == "before" {
		// its spool space was not free yet when the file went, so it is stored again
		got = got[1:]
	}
	if len(got) != 20 || got[0] != "after 0" {
		t.Errorf("stored %q, want all that came after the removal", got)
	}
}

func TestDB_RecordsAgainOnceTheDatabaseCanBeOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is no database. ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, path)
	for i := range 5 {
		b.call(fmt.Sprint(i))
	}
	if err := b.db.Opened(context.Background()); err == nil {
		t.Error("a file that is no database is not noticed")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	b.close()
	if got := b.stored(); len(got) != 5 {
		t.Errorf("%d exchanges stored, want 5", len(got))
	}
}

func TestDB_StoresWhatAnEarlierProcessLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	if err := os.MkdirAll(path, 0o700); err != nil { // a folder cannot be opened as a database
		t.Fatal(err)
	}
	b := newBench(t, path)
	b.call("left behind")
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // a close that may not wait
	_ = b.db.Shutdown(ctx)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	next := newBench(t, path)
	until(t, "storing", func() bool { return next.db.Store() != nil && len(next.stored()) == 1 })
	next.close()
	if got := next.stored(); len(got) != 1 || got[0] != "left behind" {
		t.Errorf("stored %q, want what was left behind", got)
	}
}

// A salt that was cut while it was written, by a full disk for example, is replaced. A
// whole one stays.
func TestOpenSpool_MakesACutSaltAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	file := filepath.Join(retake.SpoolDir(path), "salt")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	var before []byte
	for _, cut := range [][]byte{{}, {1, 2, 3}, nil} {
		if cut != nil {
			if err := os.WriteFile(file, cut, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		db, err := retake.OpenSpool(path, retake.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		salt, err := os.ReadFile(file)
		if err != nil || len(salt) != 32 || cut == nil && !bytes.Equal(salt, before) {
			t.Errorf("after %v: %d bytes, %v", cut, len(salt), err)
		}
		before = salt
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".salt*")); len(left) > 0 {
		t.Error(left)
	}
}
