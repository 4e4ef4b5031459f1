package web_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/view"
	"github.com/retake-debugger/retake/web"
)

func TestSearch_HitsLeadToTheirItems(t *testing.T) {
	h := web.New(options(runStore(t)))
	p := open(t, h, "/search?q="+url.QueryEscape("parse.go: next()"))
	hits := p.class("hit")
	if len(hits) != 1 {
		t.Fatalf("%d hits, want 1: it is sent once", len(hits))
	}
	wantText(t, hits[0], "x3", "result grep", "parse.go: next()")
	w := ask(h, "GET", hits[0].attr("href"))
	to := w.Header().Get("Location")
	if w.Code != 302 || !strings.HasPrefix(to, "/x/3#e") {
		t.Fatalf("the hit leads to %d %s", w.Code, to)
	}
	_, anchor, _ := strings.Cut(to, "#")
	wantText(t, open(t, h, "/x/3").id(anchor), "parse.go: next()")
}

func TestSearch_SaysWhatIsWrongWithAQuery(t *testing.T) {
	h := web.New(options(runStore(t)))
	wantText(t, open(t, h, "/search"), "Search everything that was said", "is:error")
	wantText(t, open(t, h, "/search?q=zzzzzz"), "Nothing found")
	for query, status := range map[string]int{"colour:red": 400, "run:r99 x": 404, "%": 200, `"`: 200, "don't": 200, "NOT": 200, "*": 200} {
		w := ask(h, "GET", "/search?q="+url.QueryEscape(query))
		if w.Code != status {
			t.Errorf("%s: status %d, want %d", query, w.Code, status)
		}
		if status != 200 && !strings.Contains(w.Body.String(), `role="alert"`) {
			t.Errorf("%s: the page does not say what is wrong", query)
		}
	}
	for _, bad := range markup(open(t, web.New(options(sampleStore(t))), "/search?q="+url.QueryEscape("<script>"))) {
		t.Error(bad)
	}
}

func TestAPI_SearchGivesTheHitsOfTheCommand(t *testing.T) {
	h := web.New(options(runStore(t)))
	var hits []view.Hit
	if err := json.Unmarshal(ask(h, "GET", "/api/search?q=tool:grep+is:error").Body.Bytes(), &hits); err != nil || len(hits) != 0 {
		t.Errorf("hits %+v, %v", hits, err)
	}
	if err := json.Unmarshal(ask(h, "GET", "/api/search?q=tool:grep&limit=1").Body.Bytes(), &hits); err != nil || len(hits) != 1 || hits[0].Name != "grep" {
		t.Errorf("hits %+v, %v", hits, err)
	}
	if w := ask(h, "GET", "/api/search?q=a&limit=0"); w.Code != 400 {
		t.Errorf("limit=0: status %d", w.Code)
	}
}
