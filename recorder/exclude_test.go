package recorder_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/recorder"
)

func TestProxy_PausesAndResumes(t *testing.T) {
	up, calls := okUpstream(t)
	g := newRig(t, up)
	get(t, g.url+"/v1/one")
	if resp, err := http.Post(g.url+"/_retake/pause", "", nil); err != nil || resp.StatusCode != 200 {
		t.Fatal(resp, err)
	}
	get(t, g.url+"/v1/two")
	if resp, err := http.Get(g.url + "/_retake/resume"); err != nil || resp.StatusCode != 405 {
		t.Error(resp, err)
	}
	if resp, err := http.Post(g.url+"/_retake/resume", "", nil); err != nil || resp.StatusCode != 200 {
		t.Fatal(resp, err)
	}
	get(t, g.url+"/v1/three")
	for _, want := range []string{"/v1/one", "/v1/three"} {
		if r := g.next(); !strings.HasSuffix(r.URL, want) {
			t.Errorf("%s, want %s", r.URL, want)
		}
	}
	if s := g.spool.Stats(); calls.Load() != 3 || s.Skipped != 1 || s.Lost != 0 || s.Recorded != 2 || s.Paused {
		t.Errorf("%d calls, %+v", calls.Load(), s)
	}
}

func TestProxy_Excludes(t *testing.T) {
	up, _ := okUpstream(t)
	g := newRig(t, up, func(o *recorder.Options) {
		o.ExcludePaths = []string{"/secret/", "/v1/*/private"}
		o.ExcludeHeaders = []string{"X-No-Record", "X-Kind: probe"}
	})
	for request, recorded := range map[string]bool{
		"/v1/models":                        true,
		"/secret/x":                         false,
		"/secretive":                        true,
		"/v1/a/private":                     false,
		"/v1/a/b/private":                   true,
		"/v1/n HTTP/1.1\r\nX-No-Record: ":   false,
		"/v1/k HTTP/1.1\r\nX-Kind: probe":   false,
		"/v1/k HTTP/1.1\r\nX-Kind: request": true,
	} {
		if !strings.Contains(request, " HTTP") {
			request += " HTTP/1.1"
		}
		before := g.spool.Stats()
		status, _ := rawStatus(t, g.url, "GET "+request+"\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		if recorded {
			g.next().Release()
		}
		after := g.spool.Stats()
		if status != 200 || (after.Skipped > before.Skipped) == recorded {
			t.Errorf("%q: %d, %s", request, status, fmt.Sprint(after))
		}
	}
}
