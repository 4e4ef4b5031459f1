package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// sampleForm asks for a sample of the last step of the recorded run.
func sampleForm(t *testing.T, h http.Handler, path string) url.Values {
	t.Helper()
	return url.Values{"form": {hidden(t, open(t, h, path))}, "mode": {"sample"}, "takes": {"4"}, "look": {"text"}, "expect_text": {"very cold"}}
}

// awaitSample waits until the report of a sample is shown.
func awaitSample(t *testing.T, h http.Handler, path string) page {
	t.Helper()
	for range 2000 {
		if p := open(t, h, path); len(p.class("verdict")) > 0 {
			return p
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the sample did not end")
	return page{}
}

// playSample plays a sample, t2 to t9, and a take that stops at an open call, t10. It
// tells where the report is.
func playSample(t *testing.T, db *store.DB, o web.Options) string {
	t.Helper()
	h := web.New(o)
	path := fmt.Sprintf("/x/%d/replay", lastStep(t, db).N)
	form := sampleForm(t, h, path)
	form.Set("model", "weather-2")
	form.Set("results", "recorded-simulated")
	form.Set("simulate", "weather-1")
	sample := confirm(t, h, path, form).Header().Get("Location")
	awaitSample(t, h, sample)
	confirm(t, h, path, url.Values{"form": form["form"], "results": {"stop"}})
	awaitTake(t, db, 10)
	return sample
}

func TestSample_HoldsTheEditAgainstTheRecordedRequest(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	e := lastStep(t, db)
	path := fmt.Sprintf("/x/%d/replay", e.N)
	form := sampleForm(t, h, path)
	form.Set("id.0", callOf(t, db, e))
	form.Set("result.0", "very cold "+payload)
	plan := parse(t, post(h, path, form).Body.String())
	wantText(t, plan.id("plan"), "Looking whether the final text matches very cold", "edited 4 takes", "control 4 takes, as it was recorded", "very cold "+payload)
	w := confirm(t, h, path, form)
	to := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(to, "/samples/") {
		t.Fatalf("status %d, to %s: %s", w.Code, to, w.Body)
	}
	p := awaitSample(t, h, to)
	wantText(t, p, "the edit did something", "edited", "control", "100 %", "0 %", "+100 points", "Fisher's exact test", "t2", "t9")
	for _, bad := range markup(p) {
		t.Error(bad)
	}
	// The report outlives the viewer, and is what the command prints.
	again := web.New(o)
	wantText(t, open(t, again, to), "+100 points")
	if w := ask(again, "GET", "/api"+to); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"primary":"the final text matches very cold"`) {
		t.Errorf("api: status %d, %s", w.Code, w.Body)
	}
	wantText(t, open(t, again, "/t/2"), "a take of a sample")
	// In the run it is one line, not one for each take, once all are taken in.
	run := open(t, again, "/r/1")
	for n := 0; n < 2000 && !strings.Contains(run.class("outline")[0].text(), "8 branches"); n++ {
		time.Sleep(10 * time.Millisecond)
		run = open(t, again, "/r/1")
	}
	wantText(t, run.class("outline")[0], "8 branches")
	links := run.class("outline")[0].all(func(n *node) bool { return strings.HasPrefix(attr(n, "href"), "#many-") })
	if len(links) != 1 {
		t.Errorf("%d lines lead to the takes", len(links))
	}
	for _, a := range links {
		wantText(t, run.id(strings.TrimPrefix(a.attr("href"), "#")), "8 branches", "replayed as t2", "replayed as t9")
	}
}

func TestSample_WantsAChangeAndSomethingToLookAt(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	path := fmt.Sprintf("/x/%d/replay", lastStep(t, db).N)
	for name, c := range map[string]struct {
		form url.Values
		want string
	}{
		"no change":  {url.Values{}, "Nothing is changed"},
		"bad regexp": {url.Values{"model": {"other"}, "expect_text": {"("}}, "missing closing"},
		"no text":    {url.Values{"model": {"other"}, "expect_text": {""}}, "text that is looked for is empty"},
		"no tool":    {url.Values{"model": {"other"}, "look": {"tool"}}, "has no name"},
		"bad json":   {url.Values{"model": {"other"}, "look": {"tool"}, "expect_tool": {"a={"}}, "Read expected arguments"},
		"bad cost":   {url.Values{"model": {"other"}, "max_cost": {"1e9"}}, "amount in USD"},
		"bad tokens": {url.Values{"model": {"other"}, "max_tokens": {"-1"}}, "Tokens are a number"},
		"bad time":   {url.Values{"model": {"other"}, "timeout": {"soon"}}, "A time is a number"},
		"no model":   {url.Values{"model": {"other"}, "results": {"simulated"}}, "Name the model"},
	} {
		form := sampleForm(t, h, path)
		for k, v := range c.form {
			form[k] = v
		}
		w := post(h, path, form)
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: status %d, want %q in %s", name, w.Code, c.want, parse(t, w.Body.String()).text())
		}
	}
}

func TestSample_StopsAndIsRefused(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	path := fmt.Sprintf("/x/%d/replay", lastStep(t, db).N)
	form := sampleForm(t, h, path)
	form.Set("model", "other")
	to := confirm(t, h, path, form).Header().Get("Location")
	for name, w := range map[string]*httptest.ResponseRecorder{
		"no token":      post(h, to+"/stop", url.Values{}),
		"other origin":  post(h, to+"/stop", url.Values{"form": form["form"]}, "Origin", "https://evil.example"),
		"only a reader": post(web.New(options(db)), to+"/stop", url.Values{"form": form["form"]}),
	} {
		if w.Code != http.StatusForbidden {
			t.Errorf("%s: status %d", name, w.Code)
		}
	}
	if w := post(h, to+"/stop", url.Values{"form": form["form"]}); w.Code != http.StatusSeeOther {
		t.Errorf("stop: status %d", w.Code)
	}
	awaitSample(t, h, to)
	for _, target := range []string{"/samples/x", "/samples/0190a000-0000-7000-8000-00000000ffff", "/api/samples/0190a000-0000-7000-8000-00000000ffff", "/samples/..%2fnote"} {
		if w := ask(h, "GET", target); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", target, w.Code)
		}
	}
}

func TestBrowser_ASampleIsPlayedAndReported(t *testing.T) {
	db, o := replayViewer(t)
	b := startBrowser(t, o)
	b.open(fmt.Sprintf("/x/%d/replay", lastStep(t, db).N))
	b.do(chromedp.SetValue(chromedp.CSS("#t-0"), "very cold"), chromedp.Click(chromedp.CSS("input[value=sample]")), chromedp.Click(chromedp.CSS("input[value=text]")),
		chromedp.SendKeys(chromedp.CSS("input[name=expect_text]"), "very cold"), chromedp.SetValue(chromedp.CSS("input[name=takes]"), "4"),
		chromedp.Click(chromedp.CSS("form[action*=replay] > p:last-child button")), chromedp.WaitReady(chromedp.CSS("#plan")),
		chromedp.Click(chromedp.CSS("button.go")), chromedp.WaitReady(chromedp.CSS("#verdict")))
	if got := eval[string](b, `document.querySelector("#sample").innerText`); !strings.Contains(got, "+100 points") {
		t.Errorf("the report tells %q", got)
	}
	b.quiet()
}

// typedResult is a tool that this program was started with.
type typedResult struct{}

func (typedResult) Covers(c *replay.Call) bool { return c.Name == "weather" }
func (typedResult) Answer(context.Context, *replay.Call) (*replay.Result, error) {
	return &replay.Result{Text: "from a tool", Source: transcript.FromExec}, nil
}

func TestReplay_RunsOnlyToolsThatTheProgramWasStartedWith(t *testing.T) {
	db, o := replayViewer(t)
	var ended atomic.Int32
	o.Replaying.Tools = []replay.SourceSpec{{Name: "exec weather " + payload, Open: func(context.Context) (replay.Source, func(), error) {
		return typedResult{}, func() { ended.Add(1) }, nil
	}}}
	h := web.New(o)
	path := fmt.Sprintf("/x/%d/replay", lastStep(t, db).N)
	p := open(t, h, path)
	wantText(t, p, "exec weather "+payload)
	for _, bad := range markup(p) {
		t.Error(bad)
	}
	form := url.Values{"form": {hidden(t, p)}, "results": {"stop"}, "tool.0": {"1"}, "tool.1": {"1"}, "tool_exec": {"weather=touch /tmp/x"}}
	if w := confirm(t, h, path, form); w.Code != http.StatusSeeOther {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	awaitTake(t, db, 2)
	wantText(t, open(t, h, "/t/2"), "Told: 1 degrees | from a tool", "exec")
	form = url.Values{"form": form["form"], "results": {"stop"}}
	confirm(t, h, path, form)
	if stop := awaitTake(t, db, 3).StopReason; stop != transcript.StopOpenCalls {
		t.Errorf("without a source the take stopped for %s", stop)
	}
	if n := ended.Load(); n != 1 {
		t.Errorf("the tool ended %d times", n)
	}
}
