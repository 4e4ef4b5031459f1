package recorder_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/transcript"
)

// rig is a recording proxy in front of an upstream.
type rig struct {
	t     testing.TB
	dir   string
	spool *spool.Spool
	proxy *recorder.Proxy
	url   string
}

func newRig(t testing.TB, upstream string, change ...func(*recorder.Options)) *rig {
	return newSpoolRig(t, spool.Options{}, upstream, change...)
}

func newSpoolRig(t testing.TB, so spool.Options, upstream string, change ...func(*recorder.Options)) *rig {
	t.Helper()
	if so.Stall == 0 && so.Create == nil {
		so.Stall = time.Minute // what else runs on this machine must not count as a stalled disk
	}
	g := &rig{t: t, dir: t.TempDir()}
	var err error
	if g.spool, err = spool.Open(g.dir, so); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	opts := recorder.Options{Spool: g.spool, Upstreams: []recorder.Upstream{{URL: u}}, Find: dialect.UpstreamOf, OpensSockets: dialect.OpensSockets, Label: "test"}
	for _, c := range change {
		c(&opts)
	}
	if g.proxy, err = recorder.NewProxy(opts); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(g.proxy)
	g.url = srv.URL
	t.Cleanup(func() {
		g.proxy.Close()
		srv.Close()
		g.spool.Close()
	})
	return g
}

// next returns the next record.
func (g *rig) next() *spool.Record {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := g.spool.Next(ctx)
	if err != nil {
		g.t.Fatal("no record: ", err)
	}
	return r
}

func body(t testing.TB, b transcript.CapturedBody) string {
	t.Helper()
	r, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(all)) != b.Size() {
		t.Fatalf("body has %d bytes and says %d", len(all), b.Size())
	}
	return string(all)
}

func TestProxy_RelaysAndRecords(t *testing.T) {
	for _, size := range []int{0, 1, 4 << 10, 31 << 10, 200 << 10, 300 << 10, 3 << 20} {
		for _, chunked := range []bool{false, true} {
			t.Run(fmt.Sprint(size, chunked), func(t *testing.T) {
				want := strings.Repeat("0123456789abcdef", size/16+1)[:size]
				up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					http.NewResponseController(w).EnableFullDuplex()
					w.Header().Set("X-Answer", "yes")
					if !chunked {
						w.Header().Set("Content-Length", fmt.Sprint(size))
					}
					w.WriteHeader(201)
					io.Copy(w, r.Body)
				}))
				defer up.Close()
				g := newRig(t, up.URL)
				var rd io.Reader = strings.NewReader(want)
				if chunked {
					rd = struct{ io.Reader }{rd}
				}
				resp, err := http.Post(g.url+"/v1/x?a=b", "text/plain", rd)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(resp.Body)
				if err != nil || string(got) != want || resp.StatusCode != 201 || resp.Header.Get("X-Answer") != "yes" {
					t.Fatal(len(got), err, resp.StatusCode, resp.Header)
				}
				r := g.next()
				if body(t, r.Request) != want || body(t, r.Response) != want {
					t.Error("recorded bodies differ")
				}
				if r.Outcome != transcript.OK || r.Status != 201 || r.URL != up.URL+"/v1/x?a=b" || r.Method != "POST" || r.Label != "test" || r.ID == "" ||
					r.Lossy || r.EndedAt.Before(r.StartedAt) || r.RequestHeader["Content-Type"][0] != "text/plain" || r.ResponseHeader["X-Answer"][0] != "yes" {
					t.Errorf("%+v", r.Capture)
				}
				if err := r.Release(); err != nil {
					t.Error(err)
				}
				if s := g.spool.Stats(); s.Recorded != 1 || s.Backlog != 0 || s.BacklogBytes != 0 || s.InFlight != 0 {
					t.Errorf("%+v", s)
				}
			})
		}
	}
}

// An exchange that has just ended is not given yet: the agent's next request
// goes first.
func TestSpool_LetsExchangesRest(t *testing.T) {
	up, _ := okUpstream(t)
	var now atomic.Int64 // ns
	g := newSpoolRig(t, spool.Options{Rest: time.Second, Now: func() time.Time { return time.Unix(0, now.Load()) }}, up)
	get(t, g.url+"/v1/models")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if r, err := g.spool.Next(ctx); err == nil {
		t.Error("given too soon:", r.URL)
	}
	now.Add(int64(time.Second))
	if r := g.next(); r.Lossy {
		t.Error("lossy")
	}
}
