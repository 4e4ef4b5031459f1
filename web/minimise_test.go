package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/minimise"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// minimiseForm asks for the smallest request that brings the recorded answer.
func minimiseForm(t *testing.T, h http.Handler, path string) url.Values {
	t.Helper()
	return url.Values{"form": {hidden(t, open(t, h, path))}, "look": {"next"}, "part.items": {"1"}, "part.lines": {"1"}, "part.tools": {"1"}, "samples": {"1"}, "max_requests": {"60"}}
}

// playSearch has the smallest request of the second step found, and tells where that
// is shown.
func playSearch(t *testing.T, db *store.DB, o web.Options) string {
	t.Helper()
	h := web.New(o)
	path := fmt.Sprintf("/x/%d/minimise", followUp(t, db).N)
	to := confirm(t, h, path, minimiseForm(t, h, path)).Header().Get("Location")
	awaitSample(t, h, to)
	return to
}

// followUp is an exchange whose request has a result and whose answer calls again.
func followUp(t *testing.T, db *store.DB) *transcript.Exchange {
	t.Helper()
	for e, err := range db.Exchanges(t.Context(), transcript.Filter{Oldest: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if rows, _ := db.IntroducedResults(t.Context(), e.ID); len(rows) > 0 && e.Calls > 0 {
			return e
		}
	}
	t.Fatal("no exchange goes on from a result")
	return nil
}

func TestMinimise_FindsWhatARequestNeeds(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	e := followUp(t, db)
	path := fmt.Sprintf("/x/%d/minimise", e.N)
	wantText(t, open(t, h, fmt.Sprintf("/x/%d/replay", e.N)), "What it needs", "step 2 of r")
	form := minimiseForm(t, h, path)
	plan := parse(t, post(h, path, form).Body.String())
	wantText(t, plan.id("plan"), "the next answer is, as recorded, weather", "never more than 60 requests", "Look for it: about")
	if takes, err := db.Takes(t.Context(), ""); err != nil || len(takes) != 1 {
		t.Fatalf("%d takes though nothing was begun, %v", len(takes), err)
	}
	w := confirm(t, h, path, form)
	to := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(to, "/smallest/") {
		t.Fatalf("status %d, to %s: %s", w.Code, to, w.Body)
	}
	p := awaitSample(t, h, to)
	wantText(t, p, "decisive: ", "Without any single one it does not show", "Asked again, the smallest request shows it in 1 of 1 answers", "weather", "left out")
	for _, bad := range markup(p) {
		t.Error(bad)
	}
	// What was found outlives the viewer, and its take leads back to it.
	again := web.New(o)
	found, err := minimise.Read(t.Context(), db, strings.TrimPrefix(to, "/smallest/"))
	if err != nil || found == nil {
		t.Fatalf("kept: %v, %v", found, err)
	}
	wantText(t, open(t, again, to), found.Verdict)
	wantText(t, open(t, again, "/t/"+found.Take[1:]), "the smallest request that still shows it")
	if w := ask(again, "GET", "/api"+to); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"left_out":[{"n":`) {
		t.Errorf("api: status %d, %s", w.Code, w.Body)
	}
	if w := ask(again, "GET", strings.Replace(to, "smallest", "samples", 1)); w.Header().Get("Location") != to {
		t.Errorf("as a sample: status %d, to %q", w.Code, w.Header().Get("Location"))
	}
}

func TestMinimise_SaysWhyNothingWasFound(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	path := fmt.Sprintf("/x/%d/minimise", followUp(t, db).N)
	form := minimiseForm(t, h, path)
	form.Set("look", "tool")
	form.Set("expect_tool", "fly")
	wantText(t, awaitSample(t, h, confirm(t, h, path, form).Header().Get("Location")), "the whole request does not show it: 0 of 1 answer")
}

func TestMinimise_SaysWhatIsWrongWithTheForm(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	take, err := db.TakeN(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf("/x/%d/minimise", stored(t, db, take.Last()).N)
	for name, c := range map[string]struct {
		form url.Values
		want string
	}{
		"text":          {url.Values{"look": {"next"}}, "The recorded answer calls no tool"},
		"no tool":       {url.Values{"look": {"tool"}}, "has no name"},
		"bad regexp":    {url.Values{"look": {"text"}, "expect_text": {"("}}, "missing closing"},
		"no check":      {url.Values{"look": {"check"}, "check": {"touch /tmp/x"}}, "started with"},
		"nothing":       {url.Values{"part.items": {}, "part.lines": {}, "part.tools": {}}, "Choose what may be left out"},
		"bad samples":   {url.Values{"samples": {"0"}}, "are numbers"},
		"more than all": {url.Values{"at_least": {"2"}}, "are numbers"},
		"few requests":  {url.Values{"samples": {"9"}, "max_requests": {"10"}}, "allow more requests"},
		"bad cost":      {url.Values{"max_cost": {"1e9"}}, "amount in USD"},
	} {
		form := minimiseForm(t, h, path)
		for k, v := range c.form {
			form[k] = v
		}
		w := post(h, path, form)
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: status %d, want %q in %s", name, w.Code, c.want, parse(t, w.Body.String()).text())
		}
	}
	for target, status := range map[string]int{"/smallest/x": 404, "/smallest/0190a000-0000-7000-8000-00000000ffff": 404, "/api/smallest/0190a000-0000-7000-8000-00000000ffff": 404, "/x/99/minimise": 404} {
		if w := ask(h, "GET", target); w.Code != status {
			t.Errorf("%s: status %d, want %d", target, w.Code, status)
		}
	}
}

func TestMinimise_IsRefused(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	path := fmt.Sprintf("/x/%d/minimise", followUp(t, db).N)
	token := hidden(t, open(t, h, path))
	for name, w := range map[string]*httptest.ResponseRecorder{
		"no token":      post(h, path, url.Values{"send": {"1"}}),
		"other origin":  post(h, path, url.Values{"form": {token}, "send": {"1"}}, "Origin", "https://evil.example"),
		"only a reader": post(web.New(options(db)), path, url.Values{"form": {token}, "send": {"1"}}),
	} {
		if w.Code != http.StatusForbidden {
			t.Errorf("%s: status %d", name, w.Code)
		}
	}
}

func TestMinimise_StopsAndKeepsTheSmallestSoFar(t *testing.T) {
	db, o := replayViewer(t)
	release := make(chan struct{})
	asked := 0
	o.Replaying.Checks = []web.Check{{Name: "slow " + payload, Holds: func(ctx context.Context, _, _ string) (bool, error) {
		if asked++; asked > 1 {
			<-release
		}
		return true, nil
	}}}
	h := web.New(o)
	path := fmt.Sprintf("/x/%d/minimise", followUp(t, db).N)
	form := minimiseForm(t, h, path)
	form.Set("look", "check")
	form.Set("check", "slow "+payload)
	to := confirm(t, h, path, form).Header().Get("Location")
	for n := 0; n < 2000 && !strings.Contains(open(t, h, to).text(), "and they show it"); n++ {
		time.Sleep(5 * time.Millisecond)
	}
	p := open(t, h, to)
	wantText(t, p, "in progress", "of at most 60", "check: slow "+payload, "and they show it")
	for _, bad := range markup(p) {
		t.Error(bad)
	}
	if w := post(h, to+"/stop", url.Values{"form": {"wrong"}}); w.Code != http.StatusForbidden {
		t.Errorf("stop without the token: status %d", w.Code)
	}
	if w := post(h, to+"/stop", url.Values{"form": form["form"]}); w.Code != http.StatusSeeOther {
		t.Errorf("stop: status %d", w.Code)
	}
	close(release)
	wantText(t, awaitSample(t, h, to), "not the smallest yet", "The search was ended: interrupted")
}

func TestMinimise_DoesNotTellWhatACheckIsMadeOf(t *testing.T) {
	db, o := replayViewer(t)
	o.Replaying.Checks = []web.Check{{Name: "good", Holds: func(context.Context, string, string) (bool, error) {
		return false, errors.New(`run "curl -H token:hush": exit status 127`)
	}}}
	h := web.New(o)
	path := fmt.Sprintf("/x/%d/minimise", followUp(t, db).N)
	form := minimiseForm(t, h, path)
	form.Set("look", "check")
	form.Set("check", "good")
	to := confirm(t, h, path, form).Header().Get("Location")
	p := open(t, h, to)
	for n := 0; n < 2000 && len(p.class("alarm")) == 0; n++ {
		time.Sleep(5 * time.Millisecond)
		p = open(t, h, to)
	}
	wantText(t, p, "the check good could not be run")
	if strings.Contains(p.text(), "hush") {
		t.Errorf("the page tells %q", p.text())
	}
}

func TestBrowser_TheSmallestRequestIsFound(t *testing.T) {
	db, o := replayViewer(t)
	b := startBrowser(t, o)
	b.open(fmt.Sprintf("/x/%d/replay", followUp(t, db).N))
	b.do(chromedp.Click(chromedp.CSS("a[href$=minimise]")), chromedp.WaitReady(chromedp.CSS("form[action*=minimise]")),
		chromedp.SetValue(chromedp.CSS("input[name=samples]"), "1"), chromedp.Click(chromedp.CSS("form[action*=minimise] > p:last-child button")), chromedp.WaitReady(chromedp.CSS("#plan")),
		chromedp.Click(chromedp.CSS("button.go")), chromedp.WaitReady(chromedp.CSS("#verdict")))
	if got := eval[string](b, `document.querySelector(".needed").innerText`); !strings.Contains(got, "weather") {
		t.Errorf("needed is %q", got)
	}
	b.do(chromedp.Click(chromedp.CSS("a[href^='/t/']")), chromedp.WaitReady(chromedp.CSS("#take")))
	b.quiet()
}

// What was found quotes the request, which nobody vouches for.
func TestSmallest_HostileTextIsShownAndNeverMarkup(t *testing.T) {
	db := sampleStore(t)
	e, err := db.ExchangeN(t.Context(), xHostile)
	if err != nil {
		t.Fatal(err)
	}
	const group = "0190a000-0000-7000-8000-0000000000aa"
	hostile := payload + reordering
	unit := minimise.Unit{N: 1, Kind: transcript.Kind(hostile), At: []string{`/"><script>alert(1)</script>`}, Role: hostile, CallID: hostile, Name: hostile, Text: hostile}
	tried := []minimise.Tried{{Shows: true, Takes: []string{}}, {Part: minimise.Part(hostile), Refused: hostile, Takes: []string{}}}
	found := &minimise.Smallest{Exchange: e.ID, LookedAt: hostile, Verdict: hostile, Group: group, Stopped: hostile, Candidates: tried, LeftOut: []minimise.Unit{unit},
		Decisive: []minimise.Decisive{{Unit: unit, Lines: []minimise.Line{{At: hostile, Text: hostile}}}, {Unit: unit, Required: true}}}
	if err := minimise.Keep(t.Context(), db, found); err != nil {
		t.Fatal(err)
	}
	h := web.New(options(db))
	p := open(t, h, "/smallest/"+group)
	for _, bad := range markup(p) {
		t.Error(bad)
	}
	if n := strings.Count(p.text(), payload); n < 10 {
		t.Errorf("the text can be read %d times", n)
	}
	for _, seen := range []string{"\u202E", "\u200B", "\x1b"} {
		if strings.Contains(p.text(), seen) {
			t.Errorf("%q is on the page as it is", seen)
		}
	}
	o := options(db)
	o.Update, o.Replaying = db.Update, &web.Replaying{Player: func() *replay.Player { return nil }, Key: func(string) string { return "k" }, Checks: []web.Check{{Name: hostile}}}
	h = web.New(o)
	for n := xFirst; n <= xTake; n++ {
		for _, page := range []string{"replay", "minimise"} {
			for _, bad := range markup(open(t, h, fmt.Sprintf("/x/%d/%s", n, page))) {
				t.Errorf("x%d, %s: %s", n, page, bad)
			}
		}
	}
}
