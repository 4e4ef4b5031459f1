package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// output is what a command wrote so far. said waits until it holds a text.
type output struct {
	mu   sync.Mutex
	more *sync.Cond
	text bytes.Buffer
}

func newOutput() *output {
	o := &output{}
	o.more = sync.NewCond(&o.mu)
	return o
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.more.Broadcast()
	return o.text.Write(b)
}

func (o *output) said(text string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for !strings.Contains(o.text.String(), text) {
		o.more.Wait()
	}
	return o.text.String()
}

// An answer is told while it streams, in the run that its history belongs to, and
// its end when it lands.
func TestTail_TellsWhatIsUnderWay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	spool, err := spool.Open(retake.SpoolDir(path), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	goOn := make(chan string)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for piece := range goOn {
			if piece == "" {
				return
			}
			io.WriteString(w, "data: "+piece+"\n\n")
			w.(http.Flusher).Flush()
		}
	}))
	u, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := recorder.NewProxy(recorder.Options{Spool: spool, Upstreams: []recorder.Upstream{{URL: u}}})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(proxy)
	t.Cleanup(func() {
		proxy.Close()
		front.Close()
		upstream.Close()
		spool.Close()
	})
	take := func() { // what ingest does
		r, err := spool.Next(t.Context())
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := ingest.Commit(t.Context(), db, []*transcript.Capture{&r.Capture}); err != nil {
			t.Error(err)
		}
		r.Release()
	}
	call := func(messages string) *sync.WaitGroup {
		var w sync.WaitGroup
		w.Go(func() {
			resp, err := http.Post(front.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true,"messages":[`+messages+`]}`))
			if err != nil {
				t.Error(err)
				return
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		})
		return &w
	}
	inspect := func(ctx context.Context, out io.Writer, args ...string) int {
		return run(ctx, append(args, "--db", path), console{out: out, err: io.Discard, getenv: func(string) string { return "" }})
	}
	delta := func(text string) string { return `{"choices":[{"index":0,"delta":{"content":"` + text + `"}}]}` }

	first := call(`{"role":"user","content":"Hello"}`)
	goOn <- delta("Hi.")
	goOn <- ""
	first.Wait()
	take()

	second := call(`{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi."},{"role":"user","content":"A story"}`)
	ctx, stop := context.WithCancel(t.Context())
	out := newOutput()
	var tailing sync.WaitGroup
	tailing.Go(func() { inspect(ctx, out, "tail", "-n", "0") })
	goOn <- delta("Once upon")
	out.said("Once upon")
	goOn <- delta(" a time")
	text := out.said("Once upon a time")
	if !strings.Contains(text, "in progress") || !strings.Contains(text, "r1 Hello") || !strings.Contains(text, "A story") {
		t.Errorf("under way:\n%s", text)
	}
	var lines bytes.Buffer
	if code := inspect(t.Context(), &lines, "tail", "--no-follow", "-n", "0", "--json"); code != 0 {
		t.Errorf("exit status %d", code)
	}
	var row struct {
		Outcome, Model, Run string
		N                   int
	}
	if err := json.Unmarshal(lines.Bytes(), &row); err != nil || row.Outcome != "in_progress" || row.Model != "m" || row.Run == "" || row.N != 0 {
		t.Errorf("JSON %s: %v", lines.String(), err)
	}
	var shown bytes.Buffer
	if code := inspect(t.Context(), &shown, "show", "x:last"); code != 0 || !strings.Contains(shown.String(), "Once upon a time") || !strings.HasPrefix(shown.String(), "x1 ") {
		t.Errorf("show x:last, exit status %d:\n%s", code, shown.String())
	}
	goOn <- delta(".")
	goOn <- ""
	second.Wait()
	take()
	text = out.said("x2  m")
	stop()
	tailing.Wait()
	if strings.Count(text, "Once upon") != 1 {
		t.Errorf("told twice:\n%s", text)
	}
}
