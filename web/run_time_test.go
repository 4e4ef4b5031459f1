package web_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/retake-debugger/retake/web"
)

func rects(p page, class string) []page {
	return p.all(func(n *html.Node) bool {
		return n.Data == "rect" && strings.Contains(" "+attr(n, "class")+" ", " "+class+" ")
	})
}

func TestTime_DrawsWhereTimeAndContextWent(t *testing.T) {
	p := open(t, web.New(options(runStore(t))), "/r/1/time")
	wantText(t, p, "Time", "r1/a1", "r1/a2", "Context", "Prompt cache")
	if n := len(rects(p, "b-model")); n != 5 {
		t.Errorf("%d stretches of the model, want 5: one a step", n)
	}
	for _, kind := range []string{"k-system", "k-tools", "k-user", "k-assistant", "k-results"} {
		if len(rects(p, kind)) == 0 {
			t.Errorf("nothing of %s is drawn", kind)
		}
	}
	for _, bad := range markup(p) {
		if bad != "element svg" { // the charts
			t.Error(bad)
		}
	}
}

func TestTime_OfLongRunsStaysSmall(t *testing.T) {
	w := ask(web.New(options(longRun(t, 900))), "GET", "/r/1/time")
	p := parse(t, w.Body.String())
	if n := len(p.all(func(n *html.Node) bool { return n.Data == "rect" })); n > 4000 {
		t.Errorf("%d rectangles", n)
	}
	wantText(t, p, "a slice shows what took most of it", "Of 3 steps one is drawn")
	if w.Body.Len() > 1_000_000 {
		t.Errorf("the page has %d bytes", w.Body.Len())
	}
}

func TestCalls_AreFilteredAndLeadToTheirPlaces(t *testing.T) {
	h := web.New(options(runStore(t)))
	p := open(t, h, "/r/1/calls")
	if n := len(rowsWith(p)); n != 6 {
		t.Errorf("%d rows, want 6: five calls and a doubled result", n)
	}
	wrong := open(t, h, "/r/1/calls?errors=1")
	wantText(t, wrong, "run_tests", "exit status 1", "error")
	if strings.Contains(wrong.text(), "edit_file") {
		t.Error("a call that went well is listed with those that did not")
	}
	wantText(t, open(t, h, "/r/1/calls?tool=nothing"), "No call fits")
	for target, status := range map[string]int{"/r/1/calls?sort=colour": 400, "/r/99/calls": 404, "/r/99/time": 404, "/r/1/calls?from=-1": 200} {
		if w := ask(h, "GET", target); w.Code != status {
			t.Errorf("%s: status %d, want %d", target, w.Code, status)
		}
	}
	href := p.id("c-1").attr("href")
	if to := ask(h, "GET", href).Header().Get("Location"); !strings.HasPrefix(to, "/x/1#e") {
		t.Errorf("%s leads to %q", href, to)
	}
}

func rowsWith(p page) []page {
	return p.all(func(n *html.Node) bool { return n.Data == "a" && strings.HasPrefix(attr(n, "id"), "c-") })
}

// Of an imported run whose file carries no times a page says that they are not known.
func TestTime_OfAnImportWithoutTimesIsNotMadeUp(t *testing.T) {
	_, o := importViewer(t)
	h := web.New(o)
	tookIn(t, h, uploaded{"train.jsonl", strings.Replace(chatLine, "]", `,{"role":"user","content":"And you?"},{"role":"assistant","content":"Well, too."}]`, 1)})
	wantText(t, open(t, h, "/r/1/time"), "— in all", "model —", "Nobody knows when its steps were")
	for _, path := range []string{"/", "/r/1", "/r/1/time", "/x/1", "/x/2", "/exchanges", "/stats", "/search?q=Well"} {
		p := open(t, h, path)
		text := p.text()
		for _, made := range []string{"< 1 ms", "1.00 s", "Jan 0001", "0001-01-01"} {
			if strings.Contains(text, made) {
				t.Errorf("%s tells %q: %s", path, made, text)
			}
		}
	}
	wantText(t, open(t, h, "/"), "—")
}
