package recorder_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/retake-debugger/retake/recorder/spool"
)

// What waits is counted while its process runs, after it has ended, and no more
// once it is stored.
func TestAbandoned(t *testing.T) {
	want := func(dir string, want spool.Waiting) {
		t.Helper()
		if got, err := spool.Abandoned(dir); err != nil || got != want {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	want(filepath.Join(t.TempDir(), "none"), spool.Waiting{})
	up, _ := okUpstream(t)
	g := newRig(t, up)
	for range 4 {
		_, _ = http.Get(g.url + "/v1/models")
	}
	g.next().Release()
	for range 3 {
		g.next()
	}
	want(g.dir, spool.Waiting{Running: 1})
	g.proxy.Close()
	if err := g.spool.Close(); err != nil {
		t.Fatal(err)
	}
	want(g.dir, spool.Waiting{Folders: 1, Exchanges: 3})
	next, err := spool.Open(g.dir, spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	want(g.dir, spool.Waiting{Running: 1, Folders: 1, Exchanges: 3})
	for r, err := range next.Leftovers() {
		if err != nil {
			t.Fatal(err)
		}
		r.Release()
	}
	want(g.dir, spool.Waiting{Running: 1})
}
