package recorder_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/transcript"
)

func inFlight(t *testing.T, dir string) []*transcript.Capture {
	t.Helper()
	list, err := spool.InFlight(dir)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestInFlight_ReturnsWhatTheClientHasSeen(t *testing.T) {
	if list := inFlight(t, filepath.Join(t.TempDir(), "none")); len(list) > 0 {
		t.Errorf("%d exchanges of no spool", len(list))
	}
	goOn := make(chan struct{})
	pieces := []string{"data: first\n\n", "data: " + strings.Repeat("x", 9000) + "\n\n"}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodGet {
			return
		}
		for _, piece := range pieces {
			io.WriteString(w, piece)
			w.(http.Flusher).Flush()
			<-goOn
		}
	}))
	t.Cleanup(srv.Close)
	g := newRig(t, srv.URL)
	if resp, err := http.Get(g.url + "/v1/models"); err != nil { // it ends and leaves its file to the next
		t.Fatal(err)
	} else {
		resp.Body.Close()
	}
	g.next()
	if list := inFlight(t, g.dir); len(list) > 0 {
		t.Errorf("%d in flight after the end", len(list))
	}
	resp, err := http.Post(g.url+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	seen := ""
	for _, piece := range pieces {
		got := make([]byte, len(piece))
		if _, err := io.ReadFull(resp.Body, got); err != nil {
			t.Fatal(err)
		}
		seen += string(got)
		list := inFlight(t, g.dir)
		if len(list) != 1 {
			t.Fatalf("%d in flight, want 1", len(list))
		}
		c := list[0]
		if c.Outcome != transcript.InProgress || c.Status != 200 || c.Method != "POST" || !c.EndedAt.IsZero() {
			t.Errorf("%s %d %s, ended %v", c.Outcome, c.Status, c.Method, c.EndedAt)
		}
		if req := body(t, c.Request); req != `{"model":"m"}` {
			t.Errorf("request %q", req)
		}
		if resp := body(t, c.Response); !strings.HasPrefix(resp, seen) {
			t.Errorf("response of %d bytes, the client has %d", len(resp), len(seen))
		}
		goOn <- struct{}{}
	}
	io.Copy(io.Discard, resp.Body)
	g.next()
	if list := inFlight(t, g.dir); len(list) > 0 {
		t.Errorf("%d in flight after the end", len(list))
	}
	g.proxy.Close()
	g.spool.Close()
	if list := inFlight(t, g.dir); len(list) > 0 {
		t.Errorf("%d in flight of a process that has ended", len(list))
	}
}
