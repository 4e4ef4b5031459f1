package web_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestShortForms_LeadToTheirPages(t *testing.T) {
	h := sampleViewer(t)
	for path, want := range map[string]string{
		"/r1": "/r/1", "/x1": "/x/1", "/x:last": "/x/10", "/r1.2": "/r/1#x2", "/r1/a1": "/r/1?agent=1", "/r1/a1.2": "/r/1?agent=1#x2", "/x:last~9": "/x/1", "/t1": "/t/1",
		"/x1/link": "/x/1/link", "/r1/calls": "/r/1/calls", "/x1/replay": "/x/1/replay",
	} {
		w := ask(h, "GET", path)
		if got := w.Header().Get("Location"); w.Code != http.StatusFound || got != want {
			t.Errorf("%s: %d %s, want %s", path, w.Code, got, want)
			continue
		}
		page, _, _ := strings.Cut(want, "#")
		if w := ask(h, "GET", page); w.Code != http.StatusOK {
			t.Errorf("%s: %d", want, w.Code)
		}
	}
	for _, path := range []string{"/r999", "/x999", "/r1.99", "/rx", "/x1/y", "/r1x", "/R1"} {
		if w := ask(h, "GET", path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", path, w.Code)
		}
	}
}
