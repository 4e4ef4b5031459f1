package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/web"
)

// playModels compares three models, and tells where the report is.
func playModels(t *testing.T, db *store.DB, o web.Options) string {
	t.Helper()
	h := web.New(o)
	path := fmt.Sprintf("/x/%d/replay", lastStep(t, db).N)
	form := sampleForm(t, h, path)
	form.Set("models", "weather-1\nweather-2\nweather-3")
	form.Set("takes", "3")
	to := confirm(t, h, path, form).Header().Get("Location")
	awaitSample(t, h, to)
	return to
}

func TestSample_ComparesSeveralModels(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	path := fmt.Sprintf("/x/%d/replay", lastStep(t, db).N)
	form := sampleForm(t, h, path)
	form.Set("models", "weather-1\r\n weather-2 \r\n\r\nweather-3 "+payload)
	form.Set("takes", "2")
	plan := parse(t, post(h, path, form).Body.String())
	wantText(t, plan.id("plan"), "weather-1", "2 takes", "weather-3 "+payload, "one of each in turn: about 12 requests")
	if got := plan.id("plan").text(); strings.Contains(got, "as it was recorded") {
		t.Errorf("models are compared with each other, not with the recorded request: %s", got)
	}
	w := confirm(t, h, path, form)
	p := awaitSample(t, h, w.Header().Get("Location"))
	wantText(t, p, "3 arms: each is compared with weather-1", "beside the first", "weather-2 0, weather-1 0: 0 points", "no sign that they differ", "Compare takes")
	for _, bad := range markup(p) {
		t.Error(bad)
	}
	compare := p.all(func(n *node) bool { return strings.HasPrefix(attr(n, "href"), "/compare?") })
	if len(compare) != 1 || strings.Count(compare[0].attr("href"), "ref=") != 3 {
		t.Fatalf("%d links compare takes", len(compare))
	}
	takes, err := db.Takes(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range takes {
		awaitTake(t, db, takes[i].N)
	}
	wantText(t, open(t, h, compare[0].attr("href")), "took the path of")
}

func TestSample_OneModelIsHeldAgainstTheRecordedOne(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	path := fmt.Sprintf("/x/%d/replay", lastStep(t, db).N)
	form := sampleForm(t, h, path)
	form.Set("models", "weather-2")
	plan := parse(t, post(h, path, form).Body.String())
	wantText(t, plan.id("plan"), "edited", "control", "as it was recorded")
}

func TestSample_SendsToWellKnownProvidersAlone(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	path := fmt.Sprintf("/x/%d/replay", lastStep(t, db).N)
	for name, c := range map[string]struct {
		form   url.Values
		status int
		want   string
	}{
		"elsewhere": {url.Values{"models": {"m@http://evil.example"}}, http.StatusUnprocessableEntity, "well-known providers alone"},
		"twice":     {url.Values{"models": {"a\na"}}, http.StatusUnprocessableEntity, "is named twice"},
		"many":      {url.Values{"models": {strings.Join(strings.Split("abcdefghijklmnopq", ""), "\n")}}, http.StatusUnprocessableEntity, "t most 12 models"},
		"no key":    {url.Values{"models": {"a\nclaude-opus-5-5@anthropic"}}, http.StatusOK, "claude-opus-5-5 at anthropic: No key: start this program with ANTHROPIC_API_KEY set"},
		"converted": {url.Values{"models": {"a\nb"}, "to": {"messages"}}, http.StatusOK, "not carried as"},
	} {
		form := sampleForm(t, h, path)
		for k, v := range c.form {
			form[k] = v
		}
		w := post(h, path, form)
		if text := parse(t, w.Body.String()).text(); w.Code != c.status || !strings.Contains(strings.Join(strings.Fields(text), " "), c.want) {
			t.Errorf("%s: status %d, want %q in %s", name, w.Code, c.want, text)
		}
	}
}

func TestBrowser_SeveralModelsAreCompared(t *testing.T) {
	db, o := replayViewer(t)
	b := startBrowser(t, o)
	b.open(fmt.Sprintf("/x/%d/replay", lastStep(t, db).N))
	b.do(chromedp.Click(chromedp.CSS("input[value=sample]")), chromedp.SetValue(chromedp.CSS("textarea[name=models]"), "weather-1\nweather-2\nweather-3"), chromedp.SetValue(chromedp.CSS("input[name=takes]"), "2"),
		chromedp.Click(chromedp.CSS("form[action*=replay] > p:last-child button")), chromedp.WaitReady(chromedp.CSS("#plan")),
		chromedp.Click(chromedp.CSS("button.go")), chromedp.WaitReady(chromedp.CSS("#verdict")))
	for n := range int64(6) {
		awaitTake(t, db, 2+n)
	}
	if n := eval[int](b, `document.querySelectorAll(".arms tbody tr").length`); n != 3 {
		t.Errorf("%d arms are reported", n)
	}
	b.do(chromedp.WaitReady(chromedp.CSS("#tabs [data-key=v]")), chromedp.KeyEvent("v"), chromedp.WaitReady(chromedp.CSS(".matrix")))
	b.quiet()
}
