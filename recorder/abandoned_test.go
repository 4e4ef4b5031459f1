package recorder_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/retake-debugger/retake/recorder"
)

// What waits is counted while its process runs, after it has ended, and no more
// once it is taken in.
func TestAbandoned(t *testing.T) {
	want := func(dir string, want recorder.Waiting) {
		t.Helper()
		if got, err := recorder.Abandoned(dir); err != nil || got != want {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	want(filepath.Join(t.TempDir(), "none"), recorder.Waiting{})
	up, _ := okUpstream(t)
	g := newRig(t, up)
	for range 4 {
		_, _ = http.Get(g.url + "/v1/models")
	}
	g.next().Release()
	for range 3 {
		g.next()
	}
	want(g.dir, recorder.Waiting{Running: 1})
	g.proxy.Close()
	if err := g.spool.Close(); err != nil {
		t.Fatal(err)
	}
	want(g.dir, recorder.Waiting{Folders: 1, Exchanges: 3})
	next, err := recorder.OpenSpool(g.dir, recorder.SpoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	want(g.dir, recorder.Waiting{Running: 1, Folders: 1, Exchanges: 3})
	for r, err := range next.Leftovers() {
		if err != nil {
			t.Fatal(err)
		}
		r.Release()
	}
	want(g.dir, recorder.Waiting{Running: 1})
}
