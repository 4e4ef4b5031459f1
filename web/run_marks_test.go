package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// post sends a form from loopback.
func post(h http.Handler, target string, form url.Values, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", target, strings.NewReader(form.Encode()))
	r.Host = "127.0.0.1:7778"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestMarks_AreSetFromTheRunPage(t *testing.T) {
	db := runStore(t)
	o := options(db)
	o.Update = db.Update
	h := web.New(o)
	form := url.Values{"form": {hidden(t, open(t, h, "/r/1"))}, "name": {"the parser bug"}, "tags": {"good, regression"}, "note": {"gives up\r\ntoo early"}}
	if w := post(h, "/r/1/marks", form, "Sec-Fetch-Site", "same-origin", "Origin", "null"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/r/1" {
		t.Fatalf("status %d, %s", w.Code, w.Body)
	}
	wantText(t, open(t, h, "/r/1"), "the parser bug", "good", "regression", "gives up\ntoo early")
	m, err := db.Runs(t.Context(), transcript.RunFilter{Tag: "regression"})
	if err != nil || len(m) != 1 || m[0].Marks.Pinned || m[0].Marks.Note != "gives up\ntoo early" {
		t.Errorf("runs %+v, %v", m, err)
	}
}

func TestMarks_AreRefusedFromElsewhere(t *testing.T) {
	db := runStore(t)
	o := options(db)
	o.Update, o.AllowOrigins = db.Update, []string{"https://tools.example"}
	h := web.New(o)
	form := url.Values{"form": {hidden(t, open(t, h, "/r/1"))}, "name": {"stolen"}}
	without := url.Values{"name": {"stolen"}}
	wrong := url.Values{"form": {"guess"}, "name": {"stolen"}}
	for name, w := range map[string]*httptest.ResponseRecorder{
		"no token":       post(h, "/r/1/marks", without),
		"a wrong token":  post(h, "/r/1/marks", wrong),
		"other site":     post(h, "/r/1/marks", form, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"),
		"other origin":   post(h, "/r/1/marks", form, "Origin", "https://evil.example"),
		"may only read":  post(h, "/r/1/marks", form, "Origin", "https://tools.example"),
		"only a reader":  post(web.New(options(db)), "/r/1/marks", form),
		"a tag too long": post(h, "/r/1/marks", url.Values{"form": form["form"], "name": {"stolen"}, "tags": {strings.Repeat("t", 101)}}),
	} {
		if w.Code != http.StatusForbidden && w.Code != http.StatusBadRequest {
			t.Errorf("%s: status %d", name, w.Code)
		}
	}
	if strings.Contains(open(t, h, "/r/1").text(), "stolen") {
		t.Error("a refused form changed the run")
	}
	if strings.Contains(open(t, web.New(options(db)), "/r/1").text(), "name, tags, note") {
		t.Error("a viewer that only shows has a form")
	}
}

// hidden returns the token of the form on a page.
func hidden(t *testing.T, p page) string {
	t.Helper()
	inputs := p.all(func(n *html.Node) bool { return n.Data == "input" && attr(n, "name") == "form" })
	if len(inputs) == 0 {
		t.Fatal("the page has no form")
	}
	return inputs[0].attr("value")
}
