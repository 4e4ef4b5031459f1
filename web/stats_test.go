package web_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

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
