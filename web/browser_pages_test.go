package web_test

import (
	"net/url"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// newPages are the pages beside the lists and transcripts, over runStore.
func newPages() []string {
	return []string{"/search", "/search?q=parse", "/compare", "/compare?refs=x5+x6", "/compare?refs=x1+x5+x7", "/tools", "/tools?name=read_file", "/stats",
		"/r/1/calls", "/r/1/time", "/r/1/export", "/r/1/export?format=markdown&redact=1",
		"/x/3/export?format=few-shot&as=python", "/export?ref=r1&ref=x2", "/import", "/x/2/link"}
}

func TestBrowser_PagesFitNarrowWindowsAndTheirPolicy(t *testing.T) {
	b := startBrowser(t, options(runStore(t)))
	b.do(chromedp.EmulateViewport(420, 900))
	for _, target := range newPages() {
		b.open(target)
		if wide := eval[float64](b, `document.documentElement.scrollWidth`); wide > 420 {
			t.Errorf("%s scrolls sideways: %v px, for %s", target, wide, eval[string](b, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > 421 && !e.closest(".scroll")).map(e => e.tagName + "." + e.className).slice(0, 8).join(" ")`))
		}
	}
	b.quiet()
}

func TestBrowser_HostileTextIsInertOnEveryPage(t *testing.T) {
	b := startBrowser(t, options(sampleStore(t)))
	for _, target := range []string{"/search?q=" + url.QueryEscape("<script>"), "/compare?refs=x7+x2", "/compare?refs=x7+x2+x4", "/tools", "/tools?name=" + url.QueryEscape(payload),
		"/stats", "/r/4/calls", "/r/4/time", "/r/4/export?format=markdown", "/x/7/export?format=html", "/x/7/export?format=curl"} {
		b.open(target)
		eval[bool](b, `document.querySelectorAll("details").forEach(d => d.open = true) ?? true`)
		if n := eval[int](b, `document.querySelectorAll("img, iframe, script:not([src^='/static/'])").length`); n != 0 {
			t.Errorf("%s: %d elements came from text", target, n)
		}
	}
	b.took() // a status of 404 is logged by the browser
}

func TestBrowser_TickedRunsAreCompared(t *testing.T) {
	b := startBrowser(t, options(openStore(t, twoRuns())))
	b.open("/")
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("x"), chromedp.KeyEvent("j"), chromedp.KeyEvent("x"), chromedp.KeyEvent("c"), chromedp.WaitReady(chromedp.CSS("#first")))
	if got := eval[string](b, `location.search`); got != "?ref=r2&ref=r1" {
		t.Errorf("compared %s", got)
	}
	b.do(chromedp.KeyEvent("f"))
	if got := eval[string](b, `location.hash`); got != "#first" {
		t.Errorf("f leads to %q, want the first divergence", got)
	}
	b.quiet()
}

func TestBrowser_TickedRunsAreExported(t *testing.T) {
	b := startBrowser(t, options(openStore(t, twoRuns())))
	b.open("/")
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("x"), chromedp.KeyEvent("j"), chromedp.KeyEvent("x"), chromedp.Click(chromedp.CSS("button[formaction='/export']")),
		chromedp.WaitReady(chromedp.CSS(".export")), chromedp.Click(chromedp.CSS("input[value=few-shot]")), chromedp.SetValue(chromedp.CSS("select[name=as]"), "markdown"),
		chromedp.Click(chromedp.CSS(".export form > button")), chromedp.WaitReady(chromedp.CSS("a.fetch")))
	if got := eval[string](b, `document.querySelector("a.fetch").search`); got != "?api=&as=markdown&fetch=1&format=few-shot&max_result=&max_tokens=&ref=r2&ref=r1&steps=" {
		t.Errorf("fetched is %s", got)
	}
	b.quiet()
}

func TestBrowser_TheMenuOfExportsOpensAndCloses(t *testing.T) {
	b := startBrowser(t, options(runStore(t)))
	b.open("/r/1")
	isOpen := func(want bool, after string) {
		t.Helper()
		if got := eval[bool](b, `document.querySelector(".menu").open`); got != want {
			t.Errorf("after %s the menu is open: %t", after, got)
		}
	}
	b.do(chromedp.Click(chromedp.CSS(".menu summary")))
	isOpen(true, "a click")
	b.do(chromedp.KeyEvent(kb.Escape))
	isOpen(false, "escape")
	b.do(chromedp.Click(chromedp.CSS(".menu summary")))
	eval[bool](b, `document.querySelector("h1").click() ?? true`)
	isOpen(false, "a click elsewhere")
	b.do(chromedp.Click(chromedp.CSS(".menu summary")), chromedp.Click(chromedp.CSS(".menu-items a[href$='format=har']")), chromedp.WaitReady(chromedp.CSS("a.fetch")))
	b.open("/x/2")
	b.do(chromedp.KeyEvent("d"), chromedp.WaitReady(chromedp.CSS(".export form")))
	b.quiet()
}

func TestBrowser_SearchLeadsToTheItem(t *testing.T) {
	b := startBrowser(t, options(runStore(t)))
	b.open("/")
	b.do(chromedp.KeyEvent("s"), chromedp.WaitReady(chromedp.CSS("input[type=search]")),
		chromedp.SendKeys(chromedp.CSS("input[type=search]"), "parse.go: next()\r"), chromedp.WaitReady(chromedp.CSS(".hit")))
	if got := eval[string](b, `document.querySelector(".hit mark").innerText`); got != "parse.go: next()" {
		t.Errorf("marked is %q", got)
	}
	b.do(chromedp.Click(chromedp.CSS(".hit")), chromedp.WaitReady(chromedp.CSS(".pair:target")))
	b.quiet()
}

func TestBrowser_MarksAreSetAndShown(t *testing.T) {
	db := runStore(t)
	o := options(db)
	o.Update = db.Update
	b := startBrowser(t, o)
	b.open("/r/1")
	b.do(chromedp.Click(chromedp.CSS(".marks summary")), chromedp.SendKeys(chromedp.CSS("input[name=name]"), "the parser bug"), chromedp.Click(chromedp.CSS(".marks button")),
		chromedp.WaitReady(chromedp.CSS("input[value='the parser bug']")))
	b.do(chromedp.KeyEvent("r"), chromedp.WaitReady(chromedp.CSS("#r1")))
	if got := eval[string](b, `document.querySelector("#r1 .said").innerText`); got == "" || !slices.Contains([]string{"the parser bug"}, got[:min(len(got), 14)]) {
		t.Errorf("the list calls it %q", got)
	}
	b.quiet()
}

func TestBrowser_HelpNamesTheKeys(t *testing.T) {
	b := startBrowser(t, options(runStore(t)))
	b.open("/r/1")
	b.do(chromedp.KeyEvent("?"), chromedp.WaitVisible(chromedp.CSS("dialog.keys")))
	if got := eval[string](b, `document.querySelector("dialog.keys").innerText`); len(got) < 100 {
		t.Errorf("the help says %q", got)
	}
	b.do(chromedp.KeyEvent("?"))
	if eval[bool](b, `document.querySelector("dialog.keys").open`) {
		t.Error("? does not close it again")
	}
	b.quiet()
}
