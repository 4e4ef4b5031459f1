package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/net/html"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// weatherModel asks for the weather of two cities, one after the other, and then
// says what it was told.
func weatherModel(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []struct{ Role, Content string }
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &req)
	var told []string
	for _, m := range req.Messages {
		if m.Role == "tool" {
			told = append(told, m.Content)
		}
	}
	message, finish := fmt.Sprintf(`{"role":"assistant","content":%s}`, quote("Told: "+strings.Join(told, " | "))), "stop"
	if cities := []string{"Oslo", "Rome"}; len(told) < len(cities) {
		message, finish = fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d_%d","type":"function","function":{"name":"weather","arguments":"{\"city\":\"%s\"}"}}]}`, len(told), len(body), cities[len(told)]), "tool_calls"
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"c","object":"chat.completion","model":"weather-1","choices":[{"index":0,"message":%s,"finish_reason":%q}],"usage":{"prompt_tokens":50,"completion_tokens":5,"total_tokens":55}}`, message, finish)
}

// given makes each call's result out of its number.
type given struct{ n int }

func (g *given) Covers(*replay.Call) bool { return true }
func (g *given) Answer(context.Context, *replay.Call) (*replay.Result, error) {
	g.n++
	return &replay.Result{Text: fmt.Sprintf("%d degrees", g.n), Source: transcript.FromExec}, nil
}

// replayViewer is a viewer that can replay, over a recorded run of three steps:
// x1 to x3.
func replayViewer(t *testing.T) (*store.DB, web.Options) {
	t.Helper()
	model := httptest.NewServer(http.HandlerFunc(weatherModel))
	dir := t.TempDir()
	db, err := store.Open(filepath.Join(dir, "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spool, err := spool.Open(filepath.Join(dir, "spool"), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	runner := &ingest.Runner{Spool: spool, Store: func(context.Context) (transcript.Store, error) { return db, nil }}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); runner.Run(ctx) }()
	base := &http.Transport{DisableCompression: true}
	t.Cleanup(func() {
		cancel()
		<-done
		base.CloseIdleConnections()
		model.Close()
		spool.Close()
		db.Close()
	})
	transport := recorder.NewTransport(base, recorder.Options{Spool: spool})
	player := &replay.Player{Store: db, Transport: transport, WithID: recorder.WithID}
	req, err := http.NewRequestWithContext(recorder.WithID(t.Context(), "0190a000-0000-7000-8000-000000000001"), "POST", model.URL+"/v1/chat/completions",
		strings.NewReader(`{"model":"weather-1","messages":[{"role":"user","content":"How warm is it?"}],"tools":[{"type":"function","function":{"name":"weather","parameters":{}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	first := stored(t, db, "0190a000-0000-7000-8000-000000000001")
	prepared, err := replay.NewRequest(t.Context(), db, first, nil)
	if err != nil {
		t.Fatal(err)
	}
	take, err := player.Play(t.Context(), prepared, replay.Options{Sources: []replay.Source{&given{}}})
	if err != nil || len(take.Steps) != 3 {
		t.Fatalf("record a run: %+v, %v", take, err)
	}
	stored(t, db, take.Steps[2])
	o := options(db)
	o.Update, o.Replaying = db.Update, &web.Replaying{Player: func() *replay.Player { return player }, Key: func(string) string { return "" }}
	return db, o
}

// stored waits until an exchange is stored.
func stored(t *testing.T, db *store.DB, id string) *transcript.Exchange {
	t.Helper()
	for range 4000 {
		if e, err := db.Exchange(context.Background(), id); err == nil {
			return e
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("exchange %s was not stored", id)
	return nil
}

// lastStep is the exchange of the recorded run that answers.
func lastStep(t *testing.T, db *store.DB) *transcript.Exchange {
	t.Helper()
	take, err := db.TakeN(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return stored(t, db, take.Steps[1].Exchange)
}

func TestReplay_ShowsWhatWillBeSentBeforeItIs(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	e := lastStep(t, db)
	path := fmt.Sprintf("/x/%d/replay", e.N)
	p := open(t, h, path)
	wantText(t, p, "Show what will be sent", "weather", "1 degrees")
	form := url.Values{"form": {hidden(t, p)}, "id.0": {callOf(t, db, e)}, "result.0": {"-40 degrees " + payload}, "mode": {"continue"}, "max_steps": {"5"}}
	w := post(h, path, form)
	plan := parse(t, w.Body.String())
	wantText(t, plan.id("plan"), "-40 degrees "+payload, "All other bytes stay as they were", "up to 5 requests", "no key")
	for _, bad := range markup(plan) {
		t.Error(bad)
	}
	takes, err := db.Takes(t.Context(), "")
	if err != nil || len(takes) != 1 {
		t.Fatalf("%d takes though nothing was sent yet, %v", len(takes), err)
	}
	w = confirm(t, h, path, form)
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/t/2" {
		t.Fatalf("status %d, to %s: %s", w.Code, w.Header().Get("Location"), w.Body)
	}
	ended := awaitTake(t, db, 2)
	if ended.StopReason != transcript.StopAnswered {
		t.Errorf("the take stopped for %s", ended.StopReason)
	}
	page := open(t, h, "/t/2")
	wantText(t, page, "t2, a replay of", "Told: -40 degrees "+payload+" | 2 degrees", "recorded", "The model called no tool any more")
	for _, bad := range markup(page) {
		t.Error(bad)
	}
	// Beside the original, the figures are of all that was sent from the fork on.
	compared := page.id("compared")
	wantText(t, compared, fmt.Sprintf("beside the original, from x%d on", e.N), "recorded from here on", "t2 replayed", "steps 2 ", "tokens in 100 ", "1 before that are the same in both", "1 degrees-40 degrees "+payload)
}

func TestReplay_WithoutAChangeSendsTheRecordedBytes(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	e := lastStep(t, db)
	path := fmt.Sprintf("/x/%d/replay", e.N)
	// A form sends line ends as CR LF: that is no change.
	form := url.Values{"form": {hidden(t, open(t, h, path))}, "id.0": {callOf(t, db, e)}, "result.0": {"1 degrees"}, "mode": {"once"}}
	if w := confirm(t, h, path, form); w.Code != http.StatusSeeOther {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	again := stored(t, db, awaitTake(t, db, 2).Steps[0].Exchange)
	if again.Request.SHA256 != e.Request.SHA256 {
		t.Error("other bytes were sent than were recorded")
	}
}

func TestReplay_ChangesArgumentsModelAndParameters(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	e := lastStep(t, db)
	path := fmt.Sprintf("/x/%d/replay", e.N)
	form := url.Values{"form": {hidden(t, open(t, h, path))}, "id.0": {callOf(t, db, e)}, "args.0": {`{"city": "Bergen"}`}, "result.0": {"1 degrees"},
		"model": {"weather-2"}, "params": {"temperature=0\n"}, "mode": {"once"}}
	plan := parse(t, post(h, path, form).Body.String())
	wantText(t, plan.id("plan"), "set args", "Bergen", "model", "/temperature", "about 1 request")
	if w := confirm(t, h, path, form); w.Code != http.StatusSeeOther {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	again := stored(t, db, awaitTake(t, db, 2).Steps[0].Exchange)
	body, err := db.Body(t.Context(), again.Request.Body)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	sent, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"weather-2"`, `"temperature":0`, `Bergen`, `1 degrees`} {
		if !strings.Contains(string(sent), want) {
			t.Errorf("%s is not in %s", want, sent)
		}
	}
	for _, wrong := range []url.Values{{"params": {"temperature"}}, {"params": {"temperature=cold"}}, {"args.0": {"{"}, "id.0": form["id.0"]}} {
		wrong.Set("form", form.Get("form"))
		if w := post(h, path, wrong); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), `role="alert"`) {
			t.Errorf("%v: status %d", wrong, w.Code)
		}
	}
}

func TestReplay_IsRefused(t *testing.T) {
	db, o := replayViewer(t)
	e := lastStep(t, db)
	path := fmt.Sprintf("/x/%d/replay", e.N)
	h := web.New(o)
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
	if takes, err := db.Takes(t.Context(), ""); err != nil || len(takes) != 1 {
		t.Errorf("%d takes, %v: something was sent", len(takes), err)
	}
	for target, status := range map[string]int{"/t/99": 404, "/t/x": 404, "/x/99/replay": 404, "/t/1": 200} {
		if w := ask(h, "GET", target); w.Code != status {
			t.Errorf("%s: status %d, want %d", target, w.Code, status)
		}
	}
}

func TestBrowser_AToolOutputIsChangedAndReplayed(t *testing.T) {
	db, o := replayViewer(t)
	b := startBrowser(t, o)
	e := lastStep(t, db)
	b.open(fmt.Sprintf("/x/%d", e.N))
	b.do(chromedp.KeyEvent("e"), chromedp.WaitReady(chromedp.CSS("textarea")))
	b.do(chromedp.SetValue(chromedp.CSS("#t-0"), "very cold"), chromedp.Click(chromedp.CSS("form[action*=replay] > p:last-child button")), chromedp.WaitReady(chromedp.CSS("#plan")))
	if got := eval[string](b, `document.querySelector("#plan ins").innerText`); !strings.Contains(got, "very cold") {
		t.Errorf("the plan shows %q as new", got)
	}
	b.poll(`document.activeElement.id === "plan"`)
	if at := b.box("#plan"); at.Y < 0 || at.Y > 700 || eval[string](b, `location.hash`) != "" {
		t.Errorf("the plan is at %+v of the address %s", at, eval[string](b, `location.href`))
	}
	b.do(chromedp.Click(chromedp.CSS("button.go")), chromedp.WaitReady(chromedp.CSS("#take .item.assistant")))
	if got := eval[string](b, `document.querySelector("#take").innerText`); !strings.Contains(got, "Told: very cold | 2 degrees") {
		t.Errorf("the take tells %q", got)
	}
	b.do(chromedp.KeyEvent("v"), chromedp.WaitReady(chromedp.CSS("#first")))
	b.quiet()
}

// confirm has the plan of a form shown, and sends it.
func confirm(t *testing.T, h http.Handler, path string, form url.Values) *httptest.ResponseRecorder {
	t.Helper()
	shown := parse(t, post(h, path, form).Body.String())
	planned := shown.all(func(n *html.Node) bool { return n.Data == "input" && attr(n, "name") == "planned" })
	if len(planned) != 1 {
		t.Fatalf("no plan is shown: %s", shown.text())
	}
	form.Set("planned", planned[0].attr("value"))
	form.Set("send", "1")
	return post(h, path, form)
}

func TestReplay_AResultOfTheRunLeadsToItsField(t *testing.T) {
	_, o := replayViewer(t)
	h := web.New(o)
	led := 0
	for _, pair := range open(t, h, "/r/1").class("pair") {
		details := open(t, h, pair.attr("data-details"))
		for _, link := range details.all(func(n *html.Node) bool { return strings.Contains(attr(n, "href"), "/replay#") }) {
			path, field, _ := strings.Cut(link.attr("href"), "#")
			wantText(t, open(t, h, path).id(field), pair.class("name")[0].text())
			led++
		}
	}
	if led == 0 {
		t.Error("no result leads to where it is changed")
	}
}

func TestReplay_SendsOnlyWhatWasShown(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	path := fmt.Sprintf("/x/%d/replay", lastStep(t, db).N)
	form := url.Values{"form": {hidden(t, open(t, h, path))}, "mode": {"once"}, "send": {"1"}}
	if w := post(h, path, form); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "What will be sent") {
		t.Fatalf("without a plan: status %d", w.Code)
	}
	shown := parse(t, post(h, path, form).Body.String())
	form.Set("planned", shown.all(func(n *html.Node) bool { return attr(n, "name") == "planned" })[0].attr("value"))
	form.Set("model", "another")
	w := post(h, path, form)
	wantText(t, parse(t, w.Body.String()).id("plan"), "The form says something else than before", "another")
	if takes, err := db.Takes(t.Context(), ""); err != nil || len(takes) != 1 {
		t.Errorf("%d takes, %v: something was sent", len(takes), err)
	}
}

func callOf(t *testing.T, db *store.DB, e *transcript.Exchange) string {
	t.Helper()
	rows, err := db.IntroducedResults(t.Context(), e.ID)
	if err != nil || len(rows) == 0 {
		t.Fatalf("no result was brought: %v", err)
	}
	return rows[0].CallID
}

// awaitTake waits until a take has ended and all that it sent is stored.
func awaitTake(t *testing.T, db *store.DB, n int64) *transcript.Take {
	t.Helper()
	for range 4000 {
		take, err := db.TakeN(context.Background(), n)
		if err == nil && take.StopReason != transcript.StopNone {
			for _, s := range take.Steps {
				stored(t, db, s.Exchange)
			}
			return take
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("take t%d did not end", n)
	return nil
}
