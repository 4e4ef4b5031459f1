package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// stoppedTake plays a take that stops at an open call, t2, and gives the form's token.
func stoppedTake(t *testing.T, db *store.DB, h http.Handler) string {
	t.Helper()
	path := fmt.Sprintf("/x/%d/replay", lastStep(t, db).N)
	token := hidden(t, open(t, h, path))
	if w := confirm(t, h, path, url.Values{"form": {token}, "results": {"stop"}}); w.Code != http.StatusSeeOther {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	if stop := awaitTake(t, db, 2).StopReason; stop != transcript.StopOpenCalls {
		t.Fatalf("the take stopped for %s", stop)
	}
	return token
}

func TestResume_GoesOnWithTheResultsThatWereTyped(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	token := stoppedTake(t, db, h)
	p := open(t, h, "/t/2")
	wantText(t, p.id("resume"), "weather", "Rome", "its result", "about 1 request")
	id := p.all(func(n *node) bool { return attr(n, "name") == "id.0" })[0].attr("value")
	form := url.Values{"form": {token}, "id.0": {id}, "results": {"stop"}, "result.0": {""}}
	w := post(h, "/t/2/resume", form)
	wantText(t, parse(t, w.Body.String()).id("resume"), "A call has no result yet")
	if w.Code != http.StatusUnprocessableEntity {
		t.Errorf("without a result: status %d", w.Code)
	}
	form.Set("result.0", "mild\r\n"+payload)
	w = post(h, "/t/2/resume", form)
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/t/3" {
		t.Fatalf("status %d, to %s: %s", w.Code, w.Header().Get("Location"), w.Body)
	}
	if stop := awaitTake(t, db, 3).StopReason; stop != transcript.StopAnswered {
		t.Errorf("the take stopped for %s", stop)
	}
	p = open(t, h, "/t/3")
	wantText(t, p, "It continues t2", "Told: 1 degrees | mild\n"+payload, "beside the original")
	for _, bad := range markup(p) {
		t.Error(bad)
	}
	wantText(t, open(t, h, "/t/2"), "Gone on with in t3")
	run := open(t, h, "/r/1")
	wantText(t, run.id("t2"), "replayed as", "t2: what was changed")
	if strings.Contains(open(t, h, "/t/3").text(), "its result") {
		t.Error("a take that came to its end can go on")
	}
}

func TestResume_IsRefused(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	token := stoppedTake(t, db, h)
	form := url.Values{"form": {token}}
	for name, c := range map[string]struct {
		w      *httptest.ResponseRecorder
		status int
	}{
		"no token":      {post(h, "/t/2/resume", url.Values{}), 403},
		"other origin":  {post(h, "/t/2/resume", form, "Origin", "https://evil.example"), 403},
		"only a reader": {post(web.New(options(db)), "/t/2/resume", form), 403},
		"at its end":    {post(h, "/t/1/resume", form), 409},
		"none":          {post(h, "/t/9/resume", form), 404},
		"both":          {post(h, "/t/2/resume", url.Values{"form": {token}, "id.0": {callIDOf(t, h)}, "result.0": {"x"}, "empty.0": {"1"}}), 422},
	} {
		if c.w.Code != c.status {
			t.Errorf("%s: status %d, want %d", name, c.w.Code, c.status)
		}
	}
	if takes, err := db.Takes(t.Context(), ""); err != nil || len(takes) != 2 {
		t.Errorf("%d takes, %v: something was sent", len(takes), err)
	}
}

// callIDOf returns the id of the open call of t2.
func callIDOf(t *testing.T, h http.Handler) string {
	t.Helper()
	return open(t, h, "/t/2").all(func(n *node) bool { return attr(n, "name") == "id.0" })[0].attr("value")
}

func TestBrowser_ATakeGoesOnFromItsOpenCall(t *testing.T) {
	db, o := replayViewer(t)
	b := startBrowser(t, o)
	stoppedTake(t, db, web.New(o))
	b.open("/t/2")
	b.do(chromedp.SendKeys(chromedp.CSS("#answer-0"), "mild"), chromedp.Click(chromedp.CSS("#resume button.go")),
		chromedp.WaitReady(chromedp.CSS(".why a[href='/t/2']")), chromedp.WaitReady(chromedp.CSS("#compared")))
	if got := eval[string](b, `document.querySelector("#take").innerText`); !strings.Contains(got, "Told: 1 degrees | mild") {
		t.Errorf("the take tells %q", got)
	}
	b.quiet()
}
