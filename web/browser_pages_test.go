package web_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// newPages are the pages beside the lists and transcripts, over runStore.
func newPages() []string {
	return []string{"/search", "/search?q=parse", "/compare", "/compare?refs=x5+x6", "/compare?refs=x1+x5+x7", "/tools", "/tools?name=read_file", "/stats", "/stats?model=opus",
		"/r/1/calls", "/r/1/findings", "/r/1/time", "/x/2/wire", "/x/2/details?side=response&at=/content/0", "/search?q=nothing+like+it", "/?q=is:", "/?q=tool:none", "/exchanges?q=model:none", "/stats?model=none", "/compare?refs=x1", "/compare?refs=x1+x99", "/r/1/export", "/r/1/export?format=markdown&redact=1",
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
	b.quietBut("status of 40")
}

func TestBrowser_HostileTextIsInertOnEveryPage(t *testing.T) {
	b := startBrowser(t, options(sampleStore(t)))
	for _, target := range []string{"/search?q=" + url.QueryEscape("<script>"), "/compare?refs=x7+x2", "/compare?refs=x7+x2+x4", "/tools", "/tools?name=" + url.QueryEscape(payload),
		"/stats", "/r/4/calls", "/r/4/time", "/r/4/export?format=markdown", "/x/7/export?format=html", "/x/7/export?format=curl", "/r/4/findings", "/x/7/details?side=request&at=/messages/0", "/x/7/details?side=response&at=/choices/0/message/tool_calls/0", "/stats?model=" + url.QueryEscape(payload), "/compare?refs=" + url.QueryEscape(payload),
		"/x/8/wire", "/x/7/wire", "/x/7/link", "/x/7/replay", "/?q=" + url.QueryEscape(payload)} {
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
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("x"), chromedp.KeyEvent("j"), chromedp.KeyEvent("x"), chromedp.KeyEvent("c"))
	b.poll(`document.readyState === "complete" && document.querySelector("#first")`) // its keys are listened to
	if got := eval[string](b, `location.search`); got != "?ref=r2&ref=r1" {
		t.Errorf("compared %s", got)
	}
	b.do(chromedp.KeyEvent("f"))
	b.poll(`location.hash === "#first"`) // the first divergence
	b.quiet()
}

// What a run was about has room also where many columns stand beside it, and a column
// that no run has anything for takes none.
func TestBrowser_NamesOfRunsHaveRoom(t *testing.T) {
	b := startBrowser(t, options(openStore(t, twoRuns())))
	for _, width := range []int64{1100, 1300, 1440} {
		b.do(chromedp.EmulateViewport(width, 900))
		b.open("/")
		if said := b.box(".runs td.said"); said.Width < 240 {
			t.Errorf("at %d px names have %v px", width, said.Width)
		}
		if agents := b.box(".runs td.agents"); agents.Width > 0 {
			t.Errorf("at %d px the number of agents, always one, takes %v px", width, agents.Width)
		}
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

// The help of each page names what works there, and nothing else.
func TestBrowser_HelpNamesTheKeysOfThePage(t *testing.T) {
	b := startBrowser(t, options(runStore(t)))
	help := func() string {
		b.do(chromedp.KeyEvent("?"), chromedp.WaitVisible(chromedp.CSS("dialog.keys")))
		return eval[string](b, `[...document.querySelectorAll("dialog.keys dt")].map(e => e.innerText.replace(/\s+/g, "")).join(" ")`)
	}
	for target, want := range map[string]string{
		"/": "jk enter x c / g r e s ?", "/exchanges": "jk enter / d g r e s ?", "/tools": "jk enter g r e s / ?", "/import": "g r e s / ?", "/search?q=parse": "jk enter / g r e s ?",
		"/r/1": "jk enter esc [] o b c e t w i v d g r s / ?", "/x/2": "jk enter esc [] b c p u n t w e l d a g r s / ?", "/x/2/wire": "jk o c p u n t w e l d g r s / ?",
	} {
		b.open(target)
		if got := help(); got != want {
			t.Errorf("%s: the help names %s, want %s", target, got, want)
		}
	}
	b.do(chromedp.KeyEvent("?"))
	b.poll(`document.querySelector("dialog.keys") === null`) // a dialog says that it was closed a moment after
	b.do(chromedp.EmulateViewport(420, 900))
	b.open("/r/1")
	if got := help(); !strings.Contains(got, "jk") {
		t.Errorf("in a narrow window the help names %q", got)
	}
	b.quiet()
}

// What j and k lead to can be seen, and enter opens it.
func TestBrowser_EachListIsWalkedByKeys(t *testing.T) {
	b := startBrowser(t, options(runStore(t)))
	for target, leads := range map[string]string{
		"/": "/r/1", "/exchanges": "/x/", "/tools": "/tools", "/tools?name=read_file": "/x/", "/stats": "/stats", "/search?q=parse": "/x/", "/r/1/calls": "/x/", "/r/1/findings": "/x/",
		"/compare?refs=x1+x5": "/x", "/compare?refs=x1+x5+x7": "/x",
	} {
		b.open(target)
		b.do(chromedp.KeyEvent("j"))
		if !eval[bool](b, `document.activeElement.matches("[data-block], [data-block] *") && document.activeElement.matches(":focus-visible") && getComputedStyle(document.activeElement).outlineStyle !== "none" || document.activeElement.matches(".half")`) {
			t.Errorf("%s: after j the focus is on %s", target, eval[string](b, `document.activeElement.outerHTML.slice(0, 120)`))
		}
		b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("k"), chromedp.KeyEvent("\r"))
		b.poll(`location.pathname.startsWith("` + leads + `") && location.href !== "` + b.base + target + `" && document.readyState === "complete"`)
	}
	b.took()
}

// Folds, ticks, what was typed and how far one has read come back on reload and on
// the way back.
func TestBrowser_ReloadAndBackKeepThePlace(t *testing.T) {
	db := openStore(t, append(runCaptures(), twoRunsAfter(len(runCaptures()))...))
	o := options(db)
	o.Update = db.Update
	b := startBrowser(t, o)
	state := `JSON.stringify({y: Math.round(scrollY), folds: [...document.querySelectorAll("main details")].map(d => d.open), ticked: [...document.querySelectorAll("input:checked")].map(e => e.value), name: document.querySelector("input[name=name]")?.value})`
	for target, do := range map[string]string{
		"/r/1":      `document.querySelectorAll("main details").forEach((d, i) => i % 2 || (d.open = !d.open)); document.querySelector(".marks").open = true; document.querySelector("input[name=name]").value = "mine"; scrollTo(0, 700)`,
		"/":         `document.querySelector("input[value=r2]").click()`,
		"/x/2/wire": `document.querySelectorAll("main details").forEach(d => d.open = !d.open); scrollTo(0, 500)`,
	} {
		b.open(target)
		eval[bool](b, "(() => {"+do+"; return true; })()")
		was := eval[string](b, state)
		b.do(chromedp.Reload())
		b.poll(`document.readyState === "complete"`)
		if got := eval[string](b, state); got != was {
			t.Errorf("%s: after a reload %s, want %s", target, got, was)
		}
		eval[bool](b, `document.querySelector("nav.lists a[href='/tools']").click() ?? true`)
		b.poll(`location.pathname === "/tools" && document.readyState === "complete"`)
		eval[bool](b, `setTimeout(() => history.back()) > 0`)
		b.poll(`location.pathname === "` + target + `" && document.readyState === "complete"`)
		if got := eval[string](b, state); got != was {
			t.Errorf("%s: on the way back %s, want %s", target, got, was)
		}
		b.open(target)
		if got := eval[string](b, state); got == was {
			t.Errorf("%s: a page that is opened anew is as it was left: %s", target, got)
		}
	}
	b.quiet()
}
