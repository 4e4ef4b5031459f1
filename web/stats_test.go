package web_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
	"github.com/retake-debugger/retake/web"
)

func TestStats_AddsUpByModelToolAndDay(t *testing.T) {
	h := web.New(options(runStore(t)))
	p := open(t, h, "/stats")
	wantText(t, p, "By model", "claude-opus-5-5", "By tool", "grep", "By day", "2026-03-14")
	var s view.Stats
	if err := json.Unmarshal(ask(h, "GET", "/api/stats").Body.Bytes(), &s); err != nil || s.Total.Exchanges != 7 || len(s.Days) != 1 || s.Days[0].Exchanges != 7 {
		t.Errorf("stats %+v, %v", s, err)
	}
	wantText(t, open(t, web.New(options(openStore(t, nil))), "/stats"), "Nothing is recorded yet")
	for _, bad := range markup(open(t, web.New(options(sampleStore(t))), "/stats")) {
		t.Error(bad)
	}
}

func TestStats_AreDrawnOverTimeAndByModel(t *testing.T) {
	captures := runCaptures()
	for i, c := range captures { // the first a day before the others
		if i > 0 {
			c.StartedAt, c.EndedAt = c.StartedAt.Add(24*time.Hour), c.EndedAt.Add(24*time.Hour)
		}
	}
	h := web.New(options(openStore(t, captures)))
	p := open(t, h, "/stats")
	wantText(t, p, "Over time by hour", "exchanges at most 6", "tokens in at most", "cost not known", "duration, median at most 2.90 s", "first token, median not known")
	var s view.Stats
	if err := json.Unmarshal(ask(h, "GET", "/api/stats").Body.Bytes(), &s); err != nil || s.Over.Every != "hour" || len(s.Over.Times) != 25 || s.Over.Times[0].Exchanges != 1 || s.Over.Times[1].Exchanges != 0 || s.Over.Times[24].Exchanges != 6 {
		t.Errorf("over time %+v, %v", s.Over, err)
	}
	model := p.all(func(n *node) bool { return n.Data == "a" && strings.HasPrefix(attr(n, "href"), "/stats?model=") })[0]
	one := open(t, h, model.attr("href"))
	wantText(t, one, "claude-opus-5-5", "all models", "By tool")
	wantText(t, open(t, h, "/stats?model=nobody"), "No model's name contains nobody", "Add up all models")
}

// A provider that tells no usage has not used nothing.
func TestStats_UsageThatNobodyToldIsNotZero(t *testing.T) {
	c := capture(1, "/v1/chat/completions", 200, `{"model":"quiet","messages":[{"role":"user","content":"Hi"}]}`,
		`{"id":"c","object":"chat.completion","model":"quiet","choices":[{"index":0,"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}]}`)
	p := open(t, web.New(options(openStore(t, []*transcript.Capture{c}))), "/stats")
	row := p.all(func(n *node) bool { return n.Data == "tr" && strings.Contains(page{n}.text(), "quiet") })[0]
	if got := spaced(row); got != "quiet 1 – 0 ? ? ? 2.90 s 2.90 s" {
		t.Errorf("row %q", got)
	}
}

func TestStats_AModelThatIsCalledLikeARunIsNoRun(t *testing.T) {
	c := capture(1, "/v1/chat/completions", 200, `{"model":"r1","messages":[{"role":"user","content":"Hi"}]}`,
		`{"id":"c","object":"chat.completion","model":"r1","choices":[{"index":0,"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}]}`)
	w := ask(web.New(options(openStore(t, []*transcript.Capture{c}))), "GET", "/stats")
	if n := strings.Count(w.Body.String(), `<a href="/r1">`); n != 1 {
		t.Errorf("%d links to run r1, want 1: that of the table of runs", n)
	}
}

func TestTools_OneIsShownWithTheShapesOfItsResults(t *testing.T) {
	h := web.New(options(openStore(t, twoRuns())))
	wantText(t, open(t, h, "/tools"), "order")
	p := open(t, h, "/tools?name=order")
	wantText(t, p, "2 calls", "{state: string, total: number}", "always the same", "2512292042121000001", `"lost"`, "r1.1", "r2.1")
	if w := ask(h, "GET", "/tools?name=nothing"); w.Code != 404 {
		t.Errorf("a tool that nobody called: status %d", w.Code)
	}
	hostile := web.New(options(sampleStore(t)))
	for _, path := range []string{"/tools", "/tools?name=" + url.QueryEscape(payload)} {
		for _, bad := range markup(parse(t, ask(hostile, "GET", path).Body.String())) {
			t.Errorf("%s: %s", path, bad)
		}
	}
}

func TestAPI_CallsOfARun(t *testing.T) {
	h := web.New(options(openStore(t, twoRuns())))
	var calls []view.Call
	if err := json.Unmarshal(ask(h, "GET", "/api/calls?ref=r2&tool=ord").Body.Bytes(), &calls); err != nil || len(calls) != 1 || calls[0].Arguments != `{"id":2512292042121000002}` {
		t.Errorf("calls %+v, %v", calls, err)
	}
	for target, status := range map[string]int{"/api/calls": 404, "/api/calls?ref=r9": 404, "/api/calls?ref=x3": 200} {
		if w := ask(h, "GET", target); w.Code != status {
			t.Errorf("%s: status %d, want %d", target, w.Code, status)
		}
	}
}
