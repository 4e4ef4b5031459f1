package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

func rowsOf(p page) []string {
	var out []string
	for _, cell := range p.class("ref") {
		out = append(out, cell.text())
	}
	return out
}

func TestList_NewestFirst(t *testing.T) {
	got := rowsOf(open(t, sampleViewer(t), "/exchanges"))
	want := []string{"x10", "x9", "x8", "x7", "x6", "x5", "x4", "x3", "x2", "x1"}
	if !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
}

func TestList_RowSaysWhatHappened(t *testing.T) {
	p := open(t, sampleViewer(t), "/exchanges")
	row := p.id("x2")
	wantText(t, row, "x2", "09:02:00", "claude-opus-5-5", "messages", "tool_use", userText, "18.2 k", "391", "2.90 s")
	if calls, results := row.one(t, "calls").text(), row.one(t, "results").text(); calls != "1" || results != "2" {
		t.Errorf("calls %q, results %q, want 1 and 2", calls, results)
	}
}

func TestList_TroubleStandsOut(t *testing.T) {
	p := open(t, sampleViewer(t), "/exchanges")
	failed := p.class("failed")
	if len(failed) != 1 || failed[0].attr("id") != "x5" {
		t.Fatalf("%d rows stand out, want x5 alone", len(failed))
	}
	wantText(t, failed[0], "http_error 429", "Rate limit reached for gpt-test")
}

func TestList_Filters(t *testing.T) {
	h := sampleViewer(t)
	for query, want := range map[string]string{
		"dialect=responses":                   "x8",
		"outcome=http_error":                  "x5",
		"model=opus":                          "x10 x3 x2 x1",
		"dialect=chat&outcome=ok&model=gpt-t": "x9 x4",
		"before=3":                            "x2 x1",
		"dialect=messages&before=3":           "x2 x1",
	} {
		if got := strings.Join(rowsOf(open(t, h, "/exchanges?"+query)), " "); got != want {
			t.Errorf("%s: rows %s, want %s", query, got, want)
		}
	}
	wantText(t, open(t, h, "/exchanges?model=nothing"), "No exchange fits")
	if w := ask(h, "GET", "/exchanges?before=abc"); w.Code != http.StatusBadRequest {
		t.Errorf("before=abc: status %d, want 400", w.Code)
	}
}

func TestList_KeepsFilterInForm(t *testing.T) {
	p := open(t, sampleViewer(t), "/exchanges?dialect=chat&model="+`%22%3E%3Cscript%3E`)
	if got := p.id("rows").attr("hx-get"); !strings.Contains(got, "dialect%3Achat") {
		t.Errorf("the live list asks %q, want the filter in it", got)
	}
	for _, in := range p.all(func(n *node) bool { return n.Data == "input" }) {
		if got := in.attr("value"); got != `model:"><script> dialect:chat` {
			t.Errorf("the filter holds %q", got)
		}
	}
}

func TestList_Empty(t *testing.T) {
	h := web.New(options(openStore(t, nil)))
	wantText(t, open(t, h, "/exchanges"), "Nothing is recorded yet", "recorder run --")
	if w := ask(h, "GET", "/x/last"); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "Nothing is recorded yet") {
		t.Errorf("last of nothing: status %d", w.Code)
	}
}

func TestList_Pages(t *testing.T) {
	var captures []*transcript.Capture
	for n := 1; n <= 230; n++ {
		captures = append(captures, capture(n, "/v9/x", 200, fmt.Sprint(n), "ok"))
	}
	h := web.New(options(openStore(t, captures)))
	var seen []string
	target, pages := "/exchanges?dialect=unknown", 0
	for target != "" {
		p := open(t, h, target)
		seen = append(seen, rowsOf(p)...)
		target = ""
		for _, a := range p.all(func(n *node) bool { return n.Data == "a" }) {
			if strings.HasPrefix(a.text(), "older") {
				target = a.attr("href")
			}
		}
		if pages++; pages > 5 {
			t.Fatal("paging does not end")
		}
	}
	if len(seen) != 230 || seen[0] != "x230" || seen[229] != "x1" || pages != 3 {
		t.Errorf("%d rows on %d pages, want 230 on 3", len(seen), pages)
	}
}

func TestList_RefreshSendsNothingWhenNothingChanged(t *testing.T) {
	captures := sampled()
	db := openStore(t, captures[:2])
	h := web.New(options(db))
	refresh := open(t, h, "/exchanges").id("rows").attr("hx-get")
	if w := ask(h, "GET", refresh); w.Code != http.StatusNoContent {
		t.Fatalf("refresh: status %d, want 204", w.Code)
	}
	commit(t, db, captures[2])
	if got := rowsOf(open(t, h, refresh)); !slices.Equal(got, []string{"x3", "x2", "x1"}) {
		t.Errorf("rows after a new exchange: %v", got)
	}
}

// The words of a list are understood, kept in the address, and told where they
// mean nothing.
func TestList_IsNarrowedByWords(t *testing.T) {
	h := web.New(options(runStore(t)))
	for query, want := range map[string]int{"model:opus": 1, "model:nothing": 0, "tool:grep tag:good": 1, "is:pinned": 1, "since:2100-01-01": 0, "dialect:messages outcome:http_error": 1, `tag:"` + payload + `"`: 1} {
		p := open(t, h, "/?q="+url.QueryEscape(query))
		if got := len(rowsOf(p)); got != want {
			t.Errorf("%s: %d runs, want %d", query, got, want)
		}
		if got := p.id("rows").attr("hx-get"); !strings.Contains(got, url.QueryEscape(query)) {
			t.Errorf("%s: the live list asks %q", query, got)
		}
	}
	for target, want := range map[string]string{
		"/?q=foo": `"foo": not a filter; filters are model, dialect, outcome, tool, tag, since and is:pinned.`, "/?q=outcome:great": "want one of", "/?q=model:a+model:b": "there is a model: already", "/?q=color:red": "filters are model,", "/?q=is:": `"is:": not a filter: nothing stands behind it, want something like is:pinned.`, "/?is=error": `"is:error": not a filter: want is:pinned.`, "/?q=outcome:bad": "want one of ok, http_error,", "/?q=is:good": "want is:pinned",
		"/exchanges?q=tag:good": "narrow a list of runs", "/?before=abc": "before is the number of a run",
	} {
		w := ask(h, "GET", target)
		if w.Code != http.StatusBadRequest {
			t.Errorf("%s: status %d", target, w.Code)
		}
		wantText(t, parse(t, w.Body.String()), want)
	}
	if w := ask(h, "GET", "/api/runs?q=foo"); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "filters are") {
		t.Errorf("the API says %d: %s", w.Code, w.Body)
	}
}

func TestList_RunsHaveTimelines(t *testing.T) {
	p := open(t, web.New(options(runStore(t))), "/")
	lines := p.class("line")
	if len(lines) != 1 {
		t.Fatalf("%d timelines", len(lines))
	}
	wantText(t, lines[0], "7 requests, 2 with errors")
	if bad := lines[0].class("tl-bad"); len(bad) == 0 {
		t.Error("the failed step is not marked")
	}
}

// An error says what is not there, and where to go on.
func TestErrors_SayWhatToDoNext(t *testing.T) {
	h := web.New(options(runStore(t)))
	for target, want := range map[string]string{
		"/nowhere": "There is no such page.", "/r/999": "There is no run r999 here.", "/r/9999": "There is no run r9999 here.", "/x/9999": "There is no exchange x9999 here.",
		"/x/abcd1234": "There is no exchange with abcd1234 in its id here.", "/r/abcd1234": "There is no run with abcd1234 in its id here.", "/t/77": "There is no replay t77 here.", "/r/1?agent=99": "r1 has no agent a99.",
		"/tools?name=nothing": "No recorded answer called a tool of that name.",
	} {
		w := ask(h, "GET", target)
		p := parse(t, w.Body.String())
		if w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", target, w.Code)
		}
		wantText(t, p, "Not found", want, "found by search", "Runs Exchanges Search Tools Stats")
	}
	for _, target := range []string{"/r/1?from=9999", "/r/1?from=-5", "/r/1?agent=-1"} {
		if n := len(open(t, h, target).class("step")); n == 0 {
			t.Errorf("%s shows no step", target)
		}
	}
}
