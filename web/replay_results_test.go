package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/net/html"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// firstOfTake is the exchange that the recorded run begins with whose results all come
// later, and the call ids of these.
func firstOfTake(t *testing.T, db *store.DB) (e *transcript.Exchange, ids []string) {
	t.Helper()
	take, err := db.TakeN(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range take.Steps[1:] {
		ids = append(ids, callOf(t, db, stored(t, db, st.Exchange)))
	}
	return stored(t, db, take.Steps[0].Exchange), ids
}

// buttons returns the values of the buttons of that name.
func buttons(p page, name string) (values []string) {
	for _, n := range p.all(func(n *html.Node) bool { return n.Data == "button" && attr(n, "name") == name }) {
		values = append(values, n.attr("value"))
	}
	return values
}

func TestReplay_ChangesResultsThatComeLater(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	e, ids := firstOfTake(t, db)
	path := fmt.Sprintf("/x/%d/replay", e.N)
	p := open(t, h, path)
	wantText(t, p, "2 results come later", `{"city":"Rome"}`, "2 degrees")
	if got := buttons(p, "change"); !slices.Equal(got, []string{"later:" + ids[0], "later:" + ids[1]}) {
		t.Fatalf("buttons change %v", got)
	}
	form := url.Values{"form": {hidden(t, p)}, "change": {"later:" + ids[1]}}
	p = parse(t, post(h, path, form).Body.String())
	wantText(t, p.id("chosen-0"), "weather", "later", "2 degrees")
	wantText(t, p.id("plan"), "Nothing is changed")
	form = url.Values{"form": form["form"], "more": {"later:" + ids[1]}, "id.0": {ids[1]}, "result.0": {"very cold " + payload}, "model": {"weather-2"}, "params": {"temperature=0\nseed=1"}}
	p = parse(t, post(h, path, form).Body.String())
	wantText(t, p.id("plan"), "later, in place of the one in x", "2 degreesvery cold "+payload)
	for _, bad := range markup(p) {
		t.Error(bad)
	}
	if got := buttons(p, "undo"); !slices.Equal(got, []string{"model", "param.temperature", "param.seed", "result.0"}) {
		t.Fatalf("buttons take back %v", got)
	}
	// Each change can be taken back, and what is left is the plan.
	for undo, gone := range map[string]string{"model": "weather-2", "param.seed": "seed", "result.0": "very cold"} {
		one := url.Values{}
		for k, v := range form {
			one[k] = v
		}
		one.Set("undo", undo)
		if left := parse(t, post(h, path, one).Body.String()).id("plan").text(); strings.Contains(left, gone) || !strings.Contains(left, "temperature") {
			t.Errorf("without %s: %s", undo, left)
		}
	}
	if w := confirm(t, h, path, form); w.Code != http.StatusSeeOther {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	awaitTake(t, db, 2)
	wantText(t, open(t, h, "/t/2"), "Told: 1 degrees | very cold "+payload, "1 result edited", "1 result recorded")
}

// A plan that is shown after a button was pressed is the one that is sent then.
func TestReplay_TakesBackAChangeAndSendsTheRest(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	e, ids := firstOfTake(t, db)
	path := fmt.Sprintf("/x/%d/replay", e.N)
	form := url.Values{"form": {hidden(t, open(t, h, path))}, "more": {"later:" + ids[0], "later:" + ids[1]}, "id.0": {ids[0]}, "result.0": {"hot"}, "id.1": {ids[1]}, "result.1": {"cold"}, "undo": {"result.0"}}
	shown := parse(t, post(h, path, form).Body.String())
	form.Del("undo")
	form.Set("result.0", "1 degrees")
	form.Set("planned", shown.all(func(n *html.Node) bool { return attr(n, "name") == "planned" })[0].attr("value"))
	form.Set("send", "1")
	if w := post(h, path, form); w.Code != http.StatusSeeOther {
		t.Fatalf("status %d: %s", w.Code, parse(t, w.Body.String()).id("plan").text())
	}
	awaitTake(t, db, 2)
	wantText(t, open(t, h, "/t/2"), "Told: 1 degrees | cold")
}

func TestReplay_SaysWhereAResultCannotBeChanged(t *testing.T) {
	db, o := replayViewer(t)
	h := web.New(o)
	e, ids := firstOfTake(t, db)
	path := fmt.Sprintf("/x/%d/replay", e.N)
	changed := url.Values{"form": {hidden(t, open(t, h, path))}, "more": {"later:" + ids[1]}, "id.0": {ids[1]}, "result.0": {"cold"}}
	for name, c := range map[string]struct {
		form   url.Values
		status int
		want   string
	}{
		"one step":      {url.Values{"mode": {"once"}}, 422, "choose continue"},
		"next answer":   {url.Values{"mode": {"sample"}, "look": {"next"}}, 422, "comes after the answer which is looked at"},
		"last text":     {url.Values{"mode": {"sample"}, "look": {"text"}, "expect_text": {"cold"}}, 200, "as it was recorded"},
		"no such call":  {url.Values{"change_id": {"nope"}}, 422, "Neither the request nor what came later"},
		"several calls": {url.Values{"change_id": {"call_"}}, 422, "2 call ids fit"},
		"a part":        {url.Values{"change_id": {ids[0][:6]}}, 200, "All other bytes"},
		"a key of none": {url.Values{"change": {"later:../x"}}, 200, "All other bytes"},
	} {
		form := url.Values{}
		for _, all := range []url.Values{changed, c.form} {
			for k, v := range all {
				form[k] = v
			}
		}
		w := post(h, path, form)
		if text := parse(t, w.Body.String()).text(); w.Code != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: status %d, want %q in %s", name, w.Code, c.want, text)
		}
	}
}

func TestReplay_AnEarlierResultIsFoundByItsCallID(t *testing.T) {
	var calls, results []string
	for i := range 35 {
		calls = append(calls, fmt.Sprintf(`{"id":"call_n%02d","type":"function","function":{"name":"look","arguments":"{}"}}`, i))
		results = append(results, fmt.Sprintf(`{"role":"tool","tool_call_id":"call_n%02d","content":"saw %d"}`, i, i))
	}
	db := openStore(t, []*transcript.Capture{capture(1, "/v1/chat/completions", 200, `{"model":"m","messages":[{"role":"user","content":"Look."},{"role":"assistant","tool_calls":[`+strings.Join(calls, ",")+`]},`+strings.Join(results, ",")+`]}`,
		`{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Done."},"finish_reason":"stop"}]}`)})
	o := options(db)
	o.Update, o.Replaying = db.Update, &web.Replaying{Player: func() *replay.Player { return nil }, Key: func(string) string { return "k" }}
	h := web.New(o)
	p := open(t, h, "/x/1/replay")
	wantText(t, p, "5 earlier results are not on this page", "saw 34")
	if strings.Contains(p.text(), "saw 4\n") {
		t.Error("an earlier result is on the page")
	}
	p = parse(t, post(h, "/x/1/replay", url.Values{"form": {hidden(t, p)}, "change_id": {"n04"}}).Body.String())
	wantText(t, p.id("chosen-30"), "look", "saw 4")
	p = parse(t, post(h, "/x/1/replay", url.Values{"form": {hidden(t, p)}, "more": {"here:/messages/6"}, "id.30": {"call_n04"}, "result.30": {"nothing"}}).Body.String())
	wantText(t, p.id("plan"), "set result", "/messages/6", "saw 4nothing")
}

func TestBrowser_ALaterResultIsChangedAndTheChangeTakenBack(t *testing.T) {
	db, o := replayViewer(t)
	b := startBrowser(t, o)
	e, _ := firstOfTake(t, db)
	edits := func(want int, after string) {
		t.Helper()
		if n := eval[int](b, `document.querySelectorAll(".planned-edits li").length`); n != want {
			t.Errorf("%d changes are planned after %s", n, after)
		}
	}
	b.open(fmt.Sprintf("/x/%d/replay", e.N))
	b.do(chromedp.Click(chromedp.CSS(".later summary")))
	b.leaves(chromedp.Click(chromedp.CSS(".later li:last-child button")))
	b.do(chromedp.SetValue(chromedp.CSS("#t-0"), "very cold"), chromedp.SetValue(chromedp.CSS("input[name=model]"), "weather-2"))
	b.leaves(chromedp.Click(chromedp.CSS("form[action*=replay] > p:last-child button")))
	edits(2, "two were made")
	b.leaves(chromedp.Click(chromedp.CSS("button[value=model]")))
	edits(1, "one was taken back")
	// Return in a field shows the plan; it neither sends nor takes back.
	b.do(chromedp.Click(chromedp.CSS(".settings summary")))
	b.leaves(chromedp.SendKeys(chromedp.CSS("input[name=model]"), "x\r"))
	edits(2, "return in a field")
	b.leaves(chromedp.Click(chromedp.CSS("button[value=model]")))
	b.leaves(chromedp.Click(chromedp.CSS("button.go")))
	awaitTake(t, db, 2)
	b.open("/t/2")
	if got := eval[string](b, `document.querySelector("#take").innerText`); !strings.Contains(got, "Told: 1 degrees | very cold") {
		t.Errorf("the take tells %q", got)
	}
	b.quiet()
}

// sumReader tells that runs are as long as it says.
type sumReader struct {
	transcript.Reader
	exchanges int
}

func (r *sumReader) Runs(ctx context.Context, f transcript.RunFilter) ([]transcript.RunSum, error) {
	sums, err := r.Reader.Runs(ctx, f)
	for i := range sums {
		sums[i].Exchanges = r.exchanges
	}
	return sums, err
}

func TestReplay_OfALongRunLaterResultsAreListedOnDemand(t *testing.T) {
	db, o := replayViewer(t)
	o.Reader = &sumReader{o.Reader, 5000}
	h := web.New(o)
	e, _ := firstOfTake(t, db)
	path := fmt.Sprintf("/x/%d/replay", e.N)
	p := open(t, h, path)
	wantText(t, p, "List the results that come later")
	if len(buttons(p, "change")) > 0 {
		t.Error("they are listed at once")
	}
	if got := buttons(open(t, h, path+"?later=1"), "change"); len(got) != 2 {
		t.Errorf("asked for, %d are listed", len(got))
	}
}

// leaves does what leads to another page, and waits until that is there.
func (b *browser) leaves(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	eval[bool](b, `window.stays = true`)
	b.do(actions...)
	for range 1000 {
		there, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`document.readyState === "complete" && !window.stays`))
		if err == nil && there {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.t.Fatal("no other page came")
}
