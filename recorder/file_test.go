package recorder_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/recorder/spool"
)

// Files of the spool grow in large steps, up to the size that they may keep, and are
// counted by their size.
func TestSpool_FilesGrowInSteps(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, strings.Repeat("x", int(r.ContentLength)))
	}))
	defer up.Close()
	for _, c := range []struct {
		limit  int64
		answer int
		size   int64 // 0: as large as what is in it
	}{
		{1 << 20, 10, 32 << 10},
		{1 << 20, 40 << 10, 96 << 10}, // the request and the answer
		{40 << 10, 10, 32 << 10},
		{40 << 10, 18 << 10, 40 << 10},
		{1 << 10, 10, 0},
		{1 << 20, 1 << 20, 0},
	} {
		g := newSpoolRig(t, spool.Options{FileBytes: c.limit}, up.URL)
		resp, err := http.Post(g.url+"/v1/x", "text/plain", strings.NewReader(strings.Repeat("x", c.answer)))
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		r := g.next()
		files := spoolFiles(t, g.dir)
		var sizes []int64
		for _, path := range files {
			if info, err := os.Stat(path); err == nil && info.Size() > 0 {
				sizes = append(sizes, info.Size())
			}
		}
		s := g.spool.Stats()
		if len(sizes) != 1 || sizes[0] != s.Bytes || s.Bytes < s.BacklogBytes || c.size > 0 && sizes[0] != c.size {
			t.Errorf("%+v: files of %d, counted %d, backlog %d", c, sizes, s.Bytes, s.BacklogBytes)
		}
		if c.size == 0 && s.Bytes-s.BacklogBytes > 32<<10 {
			t.Errorf("%+v: %d bytes for %d", c, s.Bytes, s.BacklogBytes)
		}
		if err := r.Release(); err != nil {
			t.Error(err)
		}
	}
}
