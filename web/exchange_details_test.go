package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/retake-debugger/retake/web"
)

func TestDetails_TellAllOfACallAndItsResult(t *testing.T) {
	h := web.New(options(runStore(t)))
	calls := 0
	for _, pair := range open(t, h, "/r/1").class("pair") {
		p := open(t, h, pair.attr("data-details"))
		d := p.id("details")
		id := pair.class("id")
		if len(id) != 1 {
			t.Fatalf("%d call ids in a pair", len(id))
		}
		wantText(t, d, id[0].attr("title"), "exchange", "in r1", "call as JSON")
		for _, name := range pair.class("name") {
			wantText(t, d, name.text())
		}
		if strings.Contains(pair.attr("class"), " ok") {
			wantText(t, d, "result in", "seen by", "result as JSON", "Change this result")
		}
		calls++
	}
	if calls == 0 {
		t.Fatal("the run has no call")
	}
}

func TestDetails_OfAnythingElse(t *testing.T) {
	h := sampleViewer(t)
	items := open(t, h, "/x/2").class("item")
	if len(items) == 0 {
		t.Fatal("no items")
	}
	for _, item := range items {
		p := open(t, h, item.attr("data-details"))
		wantText(t, p.id("details"), "exchange", "x", "size", "as JSON")
	}
	for target, status := range map[string]int{"/x/2/details?side=request&at=/nowhere": 404, "/x/99/details?at=/": 404, "/x/2/details": 404} {
		if w := ask(h, "GET", target); w.Code != status {
			t.Errorf("%s: status %d, want %d", target, w.Code, status)
		}
	}
}

func TestDetails_OfHostileTextAreInert(t *testing.T) {
	h := sampleViewer(t)
	seen := 0
	for _, e := range open(t, h, "/x/7").all(func(n *node) bool { return attr(n, "data-details") != "" }) {
		w := ask(h, "GET", e.attr("data-details"))
		if w.Code != http.StatusOK {
			t.Fatalf("status %d", w.Code)
		}
		for _, bad := range markup(parse(t, w.Body.String())) {
			t.Error(bad)
		}
		seen++
	}
	if seen == 0 {
		t.Fatal("no items")
	}
}

func TestBrowser_ThePanelTellsOfTheChosenItem(t *testing.T) {
	b := startBrowser(t, options(runStore(t)))
	b.open("/r/1")
	panel := func() string { return eval[string](b, `document.querySelector("#panel").innerText`) }
	if got := panel(); !strings.Contains(got, "Tools") || !strings.Contains(got, "read_file") {
		t.Errorf("at first the panel says %q", got)
	}
	for range 6 {
		if b.do(chromedp.KeyEvent("j")); eval[bool](b, `!!document.activeElement.closest(".pair")`) {
			break
		}
	}
	b.do(chromedp.WaitReady(chromedp.CSS("#panel .call-id")))
	id := eval[string](b, `document.activeElement.closest(".pair").querySelector(".id").title`)
	if got := panel(); !strings.Contains(got, id) || !strings.Contains(got, "call as JSON") {
		t.Errorf("of %s the panel says %q", id, got)
	}
	hash := eval[string](b, `location.hash`)
	b.do(chromedp.KeyEvent("\r"))
	if !eval[bool](b, `document.activeElement.id === "panel"`) {
		t.Error("enter does not go into the panel")
	}
	b.do(chromedp.KeyEvent("\x1b"))
	if !eval[bool](b, `"#" + document.activeElement.closest("[data-block]").id === location.hash`) {
		t.Error("escape does not come back")
	}
	b.open("/stats")
	b.open("/r/1" + hash)
	b.do(chromedp.WaitReady(chromedp.CSS("#panel .call-id")))
	if got := panel(); !strings.Contains(got, id) {
		t.Errorf("opened by its address the panel says %q", got)
	}
	b.do(chromedp.EmulateViewport(480, 900))
	if eval[bool](b, `document.getElementById("panel").checkVisibility()`) {
		t.Error("in a narrow window the panel covers the page unasked")
	}
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("\r"))
	if !eval[bool](b, `document.getElementById("panel").checkVisibility()`) {
		t.Error("enter does not open the panel in a narrow window")
	}
	b.do(chromedp.Click(chromedp.CSS(".panel-close")))
	if eval[bool](b, `document.getElementById("panel").checkVisibility()`) {
		t.Error("the panel does not close")
	}
	b.quiet()
}

func TestBrowser_AValueIsShownAsItWasSentAndBack(t *testing.T) {
	b := startBrowser(t, options(runStore(t)))
	b.open("/r/1")
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("b"), chromedp.WaitReady(chromedp.CSS(".chosen .as-sent:not(:empty)")))
	if got := eval[string](b, `document.querySelector(".as-sent").innerText`); !strings.HasPrefix(got, "\"You are") {
		t.Errorf("its source is %q", got)
	}
	b.do(chromedp.KeyEvent("b"))
	if eval[bool](b, `!!document.querySelector(".as-sent, .shows-sent")`) {
		t.Error("b does not go back")
	}
	b.quiet()
}

func TestOutline_HasStepsWithTheirFigures(t *testing.T) {
	p := open(t, web.New(options(runStore(t))), "/r/1")
	if n := len(p.class("outline")[0].class("share")); n < 3 {
		t.Errorf("%d steps of the outline tell their share", n)
	}
	links := 0
	for _, a := range p.class("minimap")[0].all(func(n *node) bool { return n.Data == "a" }) {
		if id := strings.TrimPrefix(a.attr("href"), "#"); p.id(id).attr("id") != id {
			t.Errorf("the map leads to %s, which is not there", a.attr("href"))
		}
		links++
	}
	if links < 3 {
		t.Errorf("%d steps in the map", links)
	}
}

func TestBrowser_EveryKeyDoesWhatItSays(t *testing.T) {
	b := startBrowser(t, options(runStore(t)))
	press := func(from, key, want string) {
		t.Helper()
		b.open(from)
		b.do(chromedp.KeyEvent(key))
		b.poll(`(location.pathname + location.hash).startsWith("` + want + `") && document.readyState === "complete"`)
	}
	press("/x/2", "w", "/x/2/wire")
	press("/x/2", "u", "/r/1#")
	press("/x/2", "e", "/x/2/replay")
	press("/x/2", "n", "/x/3")
	press("/x/2", "p", "/x/1")
	press("/x/2", "/", "/search")
	press("/x/2", "g", "/")
	press("/r/1", "d", "/r/1/export")
	press("/r/1", "r", "/")
	press("/r/1", "s", "/search")
	press("/r/1", "w", "/r/1/calls")
	b.open("/r/1")
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("e"), chromedp.WaitReady(chromedp.CSS(".replay")))
	b.open("/")
	b.do(chromedp.KeyEvent("/"))
	if !eval[bool](b, `document.activeElement.name === "q"`) {
		t.Error("/ does not lead to the filter")
	}
	b.open("/")
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("\r"))
	b.poll(`location.pathname + location.hash === "/r/1"`)
	b.took()
}

// Back leads to the item that was left, and so does a reload.
func TestBrowser_BackAndReloadKeepThePlace(t *testing.T) {
	b := startBrowser(t, options(runStore(t)))
	b.open("/r/1")
	for range 4 {
		b.do(chromedp.KeyEvent("j"))
	}
	hash := eval[string](b, `location.hash`)
	if hash == "" {
		t.Fatal("the address does not name the item")
	}
	b.open("/stats")
	b.do(chromedp.NavigateBack())
	for _, how := range []string{"back", "a reload"} {
		b.do(chromedp.WaitReady(chromedp.CSS(".chosen")))
		if got := eval[string](b, `location.hash + " " + document.querySelector(".chosen").id`); got != hash+" "+hash[1:] {
			t.Errorf("%s leads to %q, not to %s", how, got, hash)
		}
		if how == "back" {
			b.do(chromedp.Reload())
		}
	}
	b.do(chromedp.KeyEvent("j"))
	if got := eval[string](b, `location.hash`); got == hash || got == "" {
		t.Errorf("j goes on to %q", got)
	}
	b.quiet()
}
