package web_test

import (
	"context"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/retake-debugger/retake/web"
)

// browser is a headless Chromium with a viewer in it.
type browser struct {
	t    testing.TB
	ctx  context.Context
	base string

	mu       sync.Mutex
	problems []string // dialogs, exceptions, refusals of the policy, requests to elsewhere
}

func chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("RETAKE_BROWSER") == "required" {
		t.Fatal("RETAKE_BROWSER=required and there is no Chromium")
	}
	t.Skip("NOT TESTED IN A BROWSER: there is no Chromium here (Debian: apt-get install chromium)")
	return ""
}

// startBrowser opens a browser on a viewer and watches for what must not
// happen. It fails the test at its end if anything of that did.
func startBrowser(t *testing.T, o web.Options) *browser {
	t.Helper()
	return startBrowserWith(t, o)
}

func startBrowserWith(t *testing.T, o web.Options, flags ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	server := httptest.NewServer(web.New(o))
	t.Cleanup(server.Close)
	return openBrowser(t, server.URL, 90*time.Second, flags...)
}

// openBrowser opens a browser on what is served there, for so long.
func openBrowser(t testing.TB, base string, long time.Duration, flags ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	path := chromium(t)
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-features", "Translate,BlinkGenPropertyTrees,BackForwardCache"), // chromedp loses a page that comes back from the cache
		chromedp.Flag("allow-pre-commit-input", true),                                         // else keys are dropped until a page that is just loaded was painted
		chromedp.Flag("disable-component-update", true), chromedp.WindowSize(1400, 1000))
	options = append(options, flags...)
	deadline, cancel := context.WithTimeout(t.Context(), long)
	t.Cleanup(cancel)
	allocator, cancel := chromedp.NewExecAllocator(deadline, options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx, base: base}
	if err := chromedp.Listen(ctx, b.watch); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browser) watch(event any) {
	switch e := event.(type) {
	case *cdppage.EventJavascriptDialogOpening:
		b.problem("dialog: " + e.Message)
	case *runtime.EventExceptionThrown:
		b.problem("exception: " + e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if !strings.HasPrefix(e.Entry.Text, "Autofocus processing was blocked") { // a test typed before the page had loaded
			b.problem("log: " + e.Entry.Text)
		}
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, b.base+"/") && !strings.HasPrefix(e.Request.URL, "data:") {
			b.problem("request to " + e.Request.URL)
		}
	}
}

func (b *browser) problem(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, what)
}

// took returns the problems so far and forgets them.
func (b *browser) took() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.problems
	b.problems = nil
	return p
}

func (b *browser) quiet() {
	b.t.Helper()
	for _, p := range b.took() {
		b.t.Error(p)
	}
}

// quietBut is quiet but for what the browser logs of pages that tell what is wrong.
func (b *browser) quietBut(status string) {
	b.t.Helper()
	for _, p := range b.took() {
		if !strings.Contains(p, status) {
			b.t.Error(p)
		}
	}
}

// do does one thing after the other, each on a page whose scripts have run: a key
// that is pressed before is heard by nobody.
func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	for _, action := range actions {
		b.poll(`document.readyState === "complete"`)
		if err := chromedp.Do(b.ctx, action); err != nil {
			b.t.Fatal(err)
		}
	}
}

// open goes to a page and waits until its scripts have run. Chromium may still be on
// its way to the page that a key has led to: what loads then is not the one that is
// waited for.
func (b *browser) open(target string) {
	b.t.Helper()
	b.poll(`document.readyState === "complete"`)
	b.do(chromedp.Navigate(b.base + target))
	b.poll(`document.readyState === "complete"`)
}

// poll waits until an expression is true.
func (b *browser) poll(expression string) {
	b.t.Helper()
	for range 400 {
		if is, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+expression+")")); err == nil && is { // a page that is just left has no answer
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	b.t.Fatalf("it never came true: %s", expression)
}

func eval[T any](b *browser, script string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script))
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return v
}

type box struct{ X, Y, Width, Height float64 }

func (b *browser) box(selector string) box {
	b.t.Helper()
	return eval[box](b, `(r => ({X: r.x, Y: r.y, Width: r.width, Height: r.height}))(document.querySelector("`+selector+`").getBoundingClientRect())`)
}

func TestBrowser_CallAndResultStandSideBySide(t *testing.T) {
	b := startBrowser(t, options(sampleStore(t)))
	b.open("/x/2")
	for _, pair := range []string{"#new .pair:nth-of-type(1)", "#new .pair:nth-of-type(2)", "#answer .pair"} {
		call, result := b.box(pair+" .call"), b.box(pair+" .result")
		if call.Y != result.Y || call.Height != result.Height || call.X+call.Width >= result.X || call.Width < 200 || result.Width < 200 {
			t.Errorf("%s: call %+v, result %+v", pair, call, result)
		}
	}
	first, second := b.box("#new .pair:nth-of-type(1)"), b.box("#new .pair:nth-of-type(2)")
	if gap := second.Y - first.Y - first.Height; gap < 0 || gap > 12 {
		t.Errorf("calls of one batch are %v px apart", gap)
	}
	b.do(chromedp.EmulateViewport(420, 900))
	call, result := b.box("#answer .pair .call"), b.box("#answer .pair .result")
	if result.Y < call.Y+call.Height-2 {
		t.Errorf("in a narrow window: call %+v, result %+v, want one above the other", call, result)
	}
	if wide := eval[float64](b, `document.documentElement.scrollWidth`); wide > 420 {
		t.Errorf("a narrow window scrolls sideways: %v px", wide)
	}
	b.quiet()
}

// The name of a tool stands on one line and the call id is whole, where there is room
// for both, and what a half can do comes when it is pointed at, without moving it.
func TestBrowser_HeadsOfCallsAreWhole(t *testing.T) {
	b := startBrowserWith(t, options(runStore(t)), chromedp.Flag("blink-settings", "primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"))
	b.open("/r/1")
	if !eval[bool](b, `matchMedia("(hover: hover)").matches`) {
		t.Fatal("the browser has no mouse")
	}
	for _, width := range []int64{1280, 1440, 1900} {
		b.do(chromedp.EmulateViewport(width, 900))
		for _, target := range []string{"/r/1", "/x/2"} {
			b.open(target)
			if n := eval[int](b, `document.querySelectorAll(".call .name").length`); n == 0 {
				t.Fatalf("%s: no calls", target)
			}
			if bad := eval[[]string](b, `[...document.querySelectorAll(".call .pane-head")].filter(h => h.offsetHeight > 24 || h.querySelector(".id")?.scrollWidth > h.querySelector(".id")?.clientWidth).map(h => h.innerText)`); len(bad) > 0 {
				t.Errorf("%s at %d: heads of calls are not whole: %q", target, width, bad)
			}
		}
	}
	before := b.box(".pair .call .id")
	at := b.box(".pair .call")
	b.do(chromedp.MouseEvent("mouseMoved", at.X+at.Width/2, at.Y+at.Height/2))
	b.poll(`getComputedStyle(document.querySelector(".pair .call .handles")).opacity === "1"`)
	if after := b.box(".pair .call .id"); after != before {
		t.Errorf("the call id moves from %+v to %+v", before, after)
	}
	b.quiet()
}

func TestBrowser_EitherHalfLightsUpBoth(t *testing.T) {
	b := startBrowser(t, options(sampleStore(t)))
	b.open("/x/2")
	borders := func() []string {
		return eval[[]string](b, `[...document.querySelectorAll("#new .pair:nth-of-type(1) .half, #new .pair:nth-of-type(2) .call")].map(e => getComputedStyle(e).borderTopColor)`)
	}
	plain := borders()
	for _, side := range []string{"call", "result"} {
		at := b.box("#new .pair:nth-of-type(1) ." + side)
		b.do(chromedp.MouseEvent("mouseMoved", at.X+at.Width/2, at.Y+at.Height/2))
		lit := borders()
		if lit[0] == plain[0] || lit[0] != lit[1] || lit[2] != plain[2] {
			t.Errorf("over the %s: %v, before: %v", side, lit, plain)
		}
	}
	b.do(chromedp.MouseEvent("mouseMoved", 2, 2))
	eval[bool](b, `document.querySelector("#new .pair:nth-of-type(1) .result").focus() ?? true`)
	if lit := borders(); lit[0] == plain[0] || lit[0] != lit[1] {
		t.Errorf("focus on the result: %v, before: %v", lit, plain)
	}
	b.quiet()
}

func TestBrowser_Keys(t *testing.T) {
	b := startBrowser(t, options(sampleStore(t)))
	b.open("/x/2")
	focus := func() string { return eval[string](b, `document.activeElement.id`) }
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("j"))
	second := focus()
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("k"))
	if second == "" || focus() != second {
		t.Errorf("after j j the focus is on %q, after j k on %q", second, focus())
	}
	for range 10 {
		b.do(chromedp.KeyEvent("j"))
	}
	if at := focus(); !strings.HasSuffix(at, "-call") || eval[string](b, `location.hash`) != "#"+strings.TrimSuffix(at, "-call") {
		t.Errorf("at the end the focus is on %q, the address %s", at, eval[string](b, `location.hash`))
	}
	b.do(chromedp.KeyEvent("]"))
	if at := focus(); !strings.HasSuffix(at, "-result") {
		t.Errorf("after ] the focus is on %q", at)
	}
	b.do(chromedp.KeyEvent("w"), chromedp.WaitReady(chromedp.CSS(".wire")))
	b.quiet()
}

// The inputs that would run if any of a page's text became markup.
func TestBrowser_HostileTextIsInert(t *testing.T) {
	b := startBrowser(t, options(sampleStore(t)))
	for _, target := range []string{"/", "/exchanges", "/r/4", "/x/7", "/x/7/wire", "/x/6/wire", "/x/7#e1-result", "/?model=%3Cscript%3Ealert(9)%3C/script%3E", "/exchanges?model=%3Cscript%3Ealert(9)%3C/script%3E"} {
		b.open(target)
		eval[bool](b, `document.querySelectorAll("details").forEach(d => d.open = true) ?? true`)
		if n := eval[int](b, `document.querySelectorAll("img, iframe, script:not([src^='/static/'])").length`); n != 0 {
			t.Errorf("%s: %d elements came from text", target, n)
		}
	}
	b.open("/x/7")
	if !eval[bool](b, `document.querySelector(".item.user").innerText.includes(`+quote(payload)+`)`) {
		t.Error("the text cannot be read on the page")
	}
	b.quiet()
}

// What the other tests rely on: the watch sees what it must see.
func TestBrowser_WatchSeesViolations(t *testing.T) {
	b := startBrowser(t, options(sampleStore(t)))
	for script, want := range map[string]string{
		`document.body.setAttribute("style", "color: red") ?? true`:                                   "Content Security Policy",
		`document.body.append(Object.assign(new Image(), {src: "http://127.0.0.2:9/x.png"})) ?? true`: "Content Security Policy",
		`document.body.append(Object.assign(document.createElement("script"), {text: "1"})) ?? true`:  "Content Security Policy",
		`setTimeout(() => { throw new Error("seen") }) > 0`:                                           "exception",
	} {
		b.open("/x/2")
		eval[bool](b, script)
		got := ""
		for range 200 {
			if got += strings.Join(b.took(), "\n"); strings.Contains(got, want) {
				break
			}
			time.Sleep(25 * time.Millisecond)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: the watch saw %q", script, got)
		}
	}
}

func TestBrowser_ListGrowsByItself(t *testing.T) {
	captures := sampled()
	db := openStore(t, captures[:3])
	b := startBrowser(t, options(db))
	b.open("/exchanges")
	eval[bool](b, `document.getElementById("a-x2").focus() ?? true`)
	commit(t, db, captures[3])
	b.do(chromedp.WaitReady(chromedp.CSS("#x4")))
	if got := eval[string](b, `document.activeElement.id`); got != "a-x2" {
		t.Errorf("the focus went from a-x2 to %q", got)
	}
	commit(t, db, captures[4])
	b.do(chromedp.WaitReady(chromedp.CSS("#x5.failed")))
	b.quiet()
}

func TestBrowser_Login(t *testing.T) {
	o := options(sampleStore(t))
	o.Token = secret
	b := startBrowser(t, o)
	b.open("/x/2")
	b.took() // the browser logs the status 401
	b.do(chromedp.SendKeys(chromedp.CSS("input[type=password]"), secret+"\r"), chromedp.WaitReady(chromedp.CSS(".pair")))
	if got := eval[string](b, `location.pathname + document.cookie`); got != "/x/2" {
		t.Errorf("after the login at %q; scripts must not see the cookie", got)
	}
	b.quiet()
}

// TestBrowser_Screenshots writes pictures of the pages to look at, into the
// folder RETAKE_SCREENSHOTS.
func TestBrowser_Screenshots(t *testing.T) {
	folder := os.Getenv("RETAKE_SCREENSHOTS")
	if folder == "" {
		t.Skip("RETAKE_SCREENSHOTS names no folder")
	}
	screenshotsOfReplays(t, folder)
	screenshotsOfImports(t, folder)
	screenshots(startBrowser(t, options(runStore(t))), folder, append(newPages(), "/", "/r/1", "/r/1?agent=2")...)
	screenshots(startBrowser(t, options(sampleStore(t))), folder, "/exchanges", "/x/2", "/x/3", "/x/4", "/x/5", "/x/7", "/x/10", "/x/2/wire")
}

func screenshotsOfReplays(t *testing.T, folder string) {
	db, o := replayViewer(t)
	sample := playSample(t, db, o)
	search := playSearch(t, db, o)
	b := startBrowser(t, o)
	screenshots(b, folder, "/x/3/replay", "/t/1", "/t/10", sample, "/x/3/link", "/x/3/minimise", search)
	b.do(chromedp.EmulateViewport(1400, 900))
	b.open("/x/3/replay")
	b.do(chromedp.SetValue(chromedp.CSS("#t-0"), "very cold"), chromedp.Click(chromedp.CSS("input[value=sample]")),
		chromedp.Click(chromedp.CSS("form[action*=replay] > p:last-child button")), chromedp.WaitReady(chromedp.CSS("#plan")))
	b.picture(folder, "plan")
	b.open("/x/3")
	b.do(chromedp.Click(chromedp.CSS(".menu summary")))
	b.picture(folder, "menu")
}

func screenshotsOfImports(t *testing.T, folder string) {
	_, o := importViewer(t)
	b := startBrowser(t, o)
	b.open("/import")
	b.picture(folder, "import")
	b.open("/")
	b.picture(folder, "empty")
	eval[bool](b, `(() => {
		const data = new DataTransfer();
		data.items.add(new File([`+quote(badChat)+`], "train.jsonl"));
		data.items.add(new File(["no transcript"], "notes.txt"));
		return document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true})) || true;
	})()`)
	b.do(chromedp.WaitReady(chromedp.CSS(".imported")))
	b.picture(folder, "imported")
}

// picture writes what is on the screen.
func (b *browser) picture(folder, name string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS("header, main")))
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "page-"+name+".png"), picture, 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// media shows pages as on a machine with a mouse, light or dark.
func (b *browser) media(scheme string) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "hover", Value: "hover"}},
	}); err != nil {
		b.t.Fatal(err)
	}
}

func screenshots(b *browser, folder string, targets ...string) {
	for _, scheme := range []string{"light", "dark"} {
		b.media(scheme)
		for width, size := range map[int64]string{1400: "wide", 480: "narrow"} {
			b.do(chromedp.EmulateViewport(width, 900))
			for _, target := range targets {
				b.open(target)
				b.picture(folder, url.PathEscape(strings.ReplaceAll(strings.Trim(target, "/"), "/", "-"))+"-"+size+"-"+scheme)
			}
		}
	}
	b.quietBut("status of 40")
}
