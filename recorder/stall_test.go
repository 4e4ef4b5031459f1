package recorder_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/transcript"
)

// disk makes files whose writes can be made to stall or fail.
type disk struct {
	mu     sync.Mutex
	gate   chan struct{} // writes wait for it; nil: they go through
	err    error         // writes fail with it
	when   func(p []byte) bool
	stalls atomic.Int32
}

func (d *disk) create(path string) (spool.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	return &diskFile{f, d}, err
}

func (d *disk) set(gate chan struct{}, err error, when func(p []byte) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gate, d.err, d.when = gate, err, when
}

type diskFile struct {
	*os.File
	d *disk
}

func (f *diskFile) WriteAt(p []byte, off int64) (int, error) {
	f.d.mu.Lock()
	gate, err := f.d.gate, f.d.err
	if f.d.when != nil && !f.d.when(p) {
		gate, err = nil, nil
	}
	f.d.mu.Unlock()
	if gate != nil {
		f.d.stalls.Add(1)
		<-gate
	}
	if err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

// pieces is an upstream that counts the request and then sends numbered pieces.
// At /v1/stall each is followed by nothing before a word on next, if not nil.
func pieces(t testing.TB, n int, next <-chan bool) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Bytes", fmt.Sprint(len(b)))
		for i := range n {
			fmt.Fprintf(w, "piece %03d\n", i)
			w.(http.Flusher).Flush()
			if next != nil && r.URL.Path == "/v1/stall" {
				<-next
			}
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// A write that stalls, whichever it is, holds the stream for no longer than the
// bound; the exchange goes through whole and is lossy, and the next one is
// recorded although the write still hangs.
func TestProxy_GoesOnWhenAWriteStalls(t *testing.T) {
	next := make(chan bool, 5) // the client has a piece, so the next comes alone
	up := pieces(t, cap(next), next)
	for name, at := range map[string]struct {
		when func(p []byte) bool
		size int
		kept string // answer bytes on record
	}{
		"begin":          {func(p []byte) bool { return bytes.Contains(p, []byte("/v1/stall")) }, 100, ""},
		"copied request": {func(p []byte) bool { return bytes.Contains(p, []byte("xxxxxxxx")) }, 1 << 20, ""},
		"head":           {func(p []byte) bool { return bytes.Contains(p, []byte("X-Bytes")) }, 100, ""},
		"third piece":    {func(p []byte) bool { return bytes.Contains(p, []byte("piece 002")) }, 100, "piece 000\npiece 001\n"},
		"end":            {func(p []byte) bool { return bytes.Contains(p, []byte("\x02ok")) }, 100, "piece 000\npiece 001\npiece 002\npiece 003\npiece 004\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &disk{}
			g := newSpoolRig(t, spool.Options{Create: d.create}, up)
			gate := make(chan struct{})
			d.set(gate, nil, at.when)
			began := time.Now()
			resp, err := http.Post(g.url+"/v1/stall", "", strings.NewReader(strings.Repeat("x", at.size)))
			if err != nil {
				t.Fatal(err)
			}
			var b []byte
			for line := make([]byte, 10); err == nil; {
				if _, err = io.ReadFull(resp.Body, line); err == nil {
					b = append(b, line...)
					next <- true
				}
			}
			if err != io.EOF || string(b) != "piece 000\npiece 001\npiece 002\npiece 003\npiece 004\n" || resp.Header.Get("X-Bytes") != fmt.Sprint(at.size) {
				t.Fatalf("%q %v %v", b, err, resp.Header)
			}
			if d.stalls.Load() == 0 {
				t.Fatal("no write stalled")
			}
			t.Logf("took %v", time.Since(began))
			d.set(nil, nil, nil)
			want := spool.Stats{Lossy: 1}
			if name == "begin" {
				want = spool.Stats{Lost: 1}
			} else if r := g.next(); !r.Lossy || body(t, r.Response) != at.kept || r.Outcome != transcript.OK || r.EndedAt.Before(r.StartedAt) {
				t.Errorf("%v %v %q", r.Lossy, r.Outcome, body(t, r.Response))
			}
			s := g.spool.Stats()
			if s.Lossy != want.Lossy || s.Lost != want.Lost || s.Recorded != 0 || s.Stalled != 1 || s.InFlight != 0 {
				t.Errorf("%+v", s)
			}
			get(t, g.url+"/v1/next")
			if r := g.next(); r.Lossy || !strings.HasSuffix(r.URL, "/v1/next") {
				t.Error("the next exchange is not recorded", r.URL)
			}
			close(gate)
			for end := time.Now().Add(5 * time.Second); g.spool.Stats().Stalled > 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the write that stalled is not given back")
				}
			}
			get(t, g.url+"/v1/after")
			if r := g.next(); r.Lossy || !strings.HasSuffix(r.URL, "/v1/after") {
				t.Error("the exchange after it is not recorded", r.URL)
			}
		})
	}
}

func get(t testing.TB, u string) string {
	t.Helper()
	resp, err := http.Get(u)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A disk that stalls altogether holds up a few writes and no more.
func TestProxy_StopsRecordingWhileTheDiskHangs(t *testing.T) {
	up, _ := okUpstream(t)
	d := &disk{}
	g := newSpoolRig(t, spool.Options{Create: d.create}, up)
	gate := make(chan struct{})
	d.set(gate, nil, nil)
	const n = 60
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range n / 4 {
				if got := get(t, g.url+"/v1/models"); got != "GET /v1/models" {
					t.Error(got)
				}
			}
		})
	}
	wg.Wait()
	// An answer may reach its client a little before its exchange is counted.
	for end := time.Now().Add(5 * time.Second); g.spool.Stats().InFlight > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if s := g.spool.Stats(); s.Lost != n || s.Recorded+s.Lossy != 0 || s.Stalled == 0 || d.stalls.Load() > 8 {
		t.Errorf("%+v, %d writes hang", s, d.stalls.Load())
	}
	d.set(nil, nil, nil)
	close(gate)
	for end := time.Now().Add(5 * time.Second); g.spool.Stats().Stalled > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("writes are not given back")
		}
	}
	get(t, g.url+"/v1/models")
	if r := g.next(); r.Lossy {
		t.Error("recording has not resumed")
	}
}

// A full disk costs no time and no call; what fits is recorded.
func TestProxy_GoesOnWhenTheDiskIsFull(t *testing.T) {
	up := pieces(t, 3, nil)
	d := &disk{}
	g := newSpoolRig(t, spool.Options{Create: d.create}, up)
	want := "piece 000\npiece 001\npiece 002\n"
	d.set(nil, syscall.ENOSPC, nil)
	for range 5 {
		if got := get(t, g.url+"/v1/x"); got != want {
			t.Error(got)
		}
	}
	d.set(nil, syscall.ENOSPC, func(p []byte) bool { return bytes.Contains(p, []byte("piece 001")) })
	for range 5 {
		if got := get(t, g.url+"/v1/x"); got != want {
			t.Error(got)
		}
		r := g.next()
		if !r.Lossy || !strings.HasPrefix(want, body(t, r.Response)) || r.Outcome != transcript.OK {
			t.Error(r.Lossy, body(t, r.Response), r.Outcome)
		}
		r.Release()
	}
	d.set(nil, nil, nil)
	if got := get(t, g.url+"/v1/x"); got != want {
		t.Error(got)
	}
	if r := g.next(); r.Lossy || body(t, r.Response) != want {
		t.Error("recording has not resumed")
	}
	for end := time.Now().Add(5 * time.Second); g.spool.Stats().InFlight > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if s := g.spool.Stats(); s.Lost != 5 || s.Lossy != 5 || s.Recorded != 1 {
		t.Errorf("%+v", s)
	}
}

func TestSpool_KeepsItsBound(t *testing.T) {
	up, _ := okUpstream(t)
	g := newSpoolRig(t, spool.Options{MaxBytes: 2000}, up)
	for range 20 {
		get(t, g.url+"/v1/models")
	}
	s := g.spool.Stats()
	if s.Lost == 0 || s.Recorded == 0 || s.Lost+s.Recorded != 20 || s.BacklogBytes > 3000 {
		t.Errorf("%+v", s)
	}
	for range s.Recorded {
		g.next().Release()
	}
	get(t, g.url+"/v1/models")
	if r := g.next(); r.Lossy {
		t.Error("recording has not resumed")
	}
}

// A spool folder that was removed is made again.
func TestSpool_OutlivesItsFolder(t *testing.T) {
	up, _ := okUpstream(t)
	var now atomic.Int64
	now.Store(time.Now().UnixNano())
	g := newSpoolRig(t, spool.Options{Now: func() time.Time { return time.Unix(0, now.Add(int64(2*time.Second))) }}, up)
	get(t, g.url+"/v1/before")
	os.RemoveAll(g.dir)
	r := g.next()
	if got := body(t, r.Response); got != "GET /v1/before" {
		t.Error(got)
	}
	r.Release()
	get(t, g.url+"/v1/after")
	if n := len(spoolFiles(t, g.dir)); n != 1 {
		t.Errorf("%d files after the folder was removed", n)
	}
	if r := g.next(); !strings.HasSuffix(r.URL, "/v1/after") || r.Lossy {
		t.Error(r.URL)
	}
}
