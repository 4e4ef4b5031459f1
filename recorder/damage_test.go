package recorder_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-debugger/retake/recorder/spool"
)

// Damage in what a dead process left is told, and costs only what lies there.
func TestLeftovers_OfADamagedSpool(t *testing.T) {
	const n = 20
	cases := map[string]struct {
		damage       func([]byte) []byte
		least, whole int // how many are found, of them how many at least are whole
		damaged      int // places
	}{
		"nothing":           {func(b []byte) []byte { return b }, n, n, 0},
		"the first header":  {func(b []byte) []byte { copy(b, make([]byte, 16)); b[20] ^= 4; return b }, n - 1, n - 1, 1},
		"the first epoch":   {func(b []byte) []byte { b[9] ^= 1; return b }, n - 1, n - 1, 1},
		"a bit in the half": {func(b []byte) []byte { b[bytes.Index(b[len(b)/2:], []byte("GET"))+len(b)/2] ^= 1; return b }, n - 1, n - 1, 1},
		"zeros":             {func(b []byte) []byte { clear(b[2000:4000]); return b }, n / 2, n / 2, 1},
		"everything":        {func(b []byte) []byte { return bytes.Repeat([]byte("junk"), len(b)/4) }, 0, 0, 1},
		"never written":     {func(b []byte) []byte { return make([]byte, len(b)) }, 0, 0, 0},
		"empty":             {func([]byte) []byte { return nil }, 0, 0, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir, file := leave(t, n)
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			end := len(bytes.TrimRight(b, "\x00"))
			if err := os.WriteFile(file, append(c.damage(b[:end:end]), b[end:]...), 0o600); err != nil {
				t.Fatal(err)
			}
			w, err := spool.Abandoned(dir)
			if err != nil || w.Damaged != c.damaged || w.Exchanges < c.least {
				t.Errorf("waiting %+v, %v", w, err)
			}
			next, err := spool.Open(dir, spool.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer next.Close()
			found, whole, told := 0, 0, false
			for r, err := range next.Leftovers() {
				if err != nil {
					told = told || errors.Is(err, spool.ErrDamaged)
					continue
				}
				if found++; r.Response != nil && body(t, r.Response) == "GET /v1/models" {
					whole++
				}
				r.Release()
			}
			if told != (c.damaged > 0) || found < c.least || found != w.Exchanges || whole < c.whole {
				t.Errorf("%d leftovers, %d whole, told %v; waiting %+v", found, whole, told, w)
			}
		})
	}
}

// leave makes a spool in which n exchanges wait, all in one file.
func leave(t *testing.T, n int) (dir, file string) {
	up, _ := okUpstream(t)
	g := newRig(t, up)
	for range n {
		_, _ = http.Get(g.url + "/v1/models")
		g.next()
	}
	g.proxy.Close()
	if err := g.spool.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(g.dir, "*", "lane-*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	return g.dir, files[0]
}
