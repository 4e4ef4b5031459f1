package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/retake-debugger/retake/web"
)

func TestLink_IsSaidAndTakenBack(t *testing.T) {
	db := openStore(t, twoRuns())
	o := options(db)
	o.Update = db.Update
	h := web.New(o)
	token := hidden(t, open(t, h, "/x/3/link"))
	said := func(verb, to string) page {
		t.Helper()
		if w := post(h, "/x/3/link", url.Values{"form": {token}, "verb": {verb}, "to": {to}}); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/x/3/link" {
			t.Fatalf("%s %s: status %d, %s", verb, to, w.Code, w.Body)
		}
		return open(t, h, "/x/3/link")
	}
	before := open(t, h, "/x/3/link").text()
	wantText(t, said("link", "x1"), "continues", "x1", "user", "that it continues x1")
	wantText(t, said("link", "r1"), "that it belongs to r1")
	wantText(t, said("unlink", ""), "that it continues nothing", "nothing")
	// Its run began anew: it has the next number.
	if after := strings.ReplaceAll(said("undo", "").text(), "r3", "r2"); after != strings.ReplaceAll(before, "r3", "r2") {
		t.Errorf("taken back, it is not as it was:\n%s\nbefore:\n%s", after, before)
	}
	said("undo", "") // twice is no mistake
	for to, want := range map[string]string{"x99": "There is no x99 here", "": "Name what it continues", "x3": "cannot be what that continues", payload: "There is no"} {
		w := post(h, "/x/3/link", url.Values{"form": {token}, "verb": {"link"}, "to": {to}})
		p := parse(t, w.Body.String())
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(p.text(), want) {
			t.Errorf("to %q: status %d: %s", to, w.Code, p.text())
		}
		for _, bad := range markup(p) {
			t.Error(bad)
		}
	}
}

func TestLink_IsRefusedFromElsewhere(t *testing.T) {
	db := openStore(t, twoRuns())
	o := options(db)
	o.Update = db.Update
	h := web.New(o)
	form := url.Values{"form": {hidden(t, open(t, h, "/x/3/link"))}, "verb": {"unlink"}}
	before := open(t, h, "/x/3/link").text()
	for name, w := range map[string]*httptest.ResponseRecorder{
		"no token":      post(h, "/x/3/link", url.Values{"verb": {"unlink"}}),
		"other origin":  post(h, "/x/3/link", form, "Origin", "https://evil.example"),
		"other site":    post(h, "/x/3/link", form, "Sec-Fetch-Site", "cross-site"),
		"only a reader": post(web.New(options(db)), "/x/3/link", form),
		"no verb":       post(h, "/x/3/link", url.Values{"form": form["form"], "verb": {"<b>"}}),
	} {
		if w.Code != http.StatusForbidden && w.Code != http.StatusBadRequest {
			t.Errorf("%s: status %d", name, w.Code)
		}
	}
	if after := open(t, h, "/x/3/link").text(); after != before {
		t.Errorf("a refused form changed it: %s", after)
	}
	wantText(t, open(t, web.New(options(db)), "/x/3/link"), "This viewer only shows")
}

func TestBrowser_AnExchangeIsUnlinkedAndLinkedAgain(t *testing.T) {
	db := openStore(t, twoRuns())
	o := options(db)
	o.Update = db.Update
	b := startBrowser(t, o)
	b.open("/x/2")
	b.do(chromedp.KeyEvent("l"), chromedp.WaitReady(chromedp.CSS(".linking")), chromedp.Click(chromedp.CSS("form:has([value=unlink]) button")), chromedp.WaitReady(chromedp.CSS("form:has([value=undo])")))
	if got := eval[string](b, `document.querySelector(".linking").innerText`); !strings.Contains(got, "that it continues nothing") {
		t.Errorf("the page tells %q", got)
	}
	b.do(chromedp.Click(chromedp.CSS("form:has([value=undo]) button")), chromedp.WaitNotPresent(chromedp.CSS("form:has([value=undo])")))
	b.quiet()
}
