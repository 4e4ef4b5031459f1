package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// The list of runs tells how much is found in each, without waiting for it.
func TestRuns_FindingsAreCountedBehindThePage(t *testing.T) {
	h := web.New(options(openStore(t, append(sampled()[:xUnanswered], twoRunsAfter(20)...))))
	var row string
	for range 200 {
		p := open(t, h, "/")
		if row = p.id("r1").one(t, "found").text(); row != "" && p.id("r2").one(t, "found").text() != "" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !strings.HasPrefix(row, "▲ ") {
		t.Errorf("of the first run %q is found", row)
	}
	p := open(t, h, "/")
	to := p.id("r1").one(t, "found").all(func(n *node) bool { return n.Data == "a" })[0].attr("href")
	wantText(t, open(t, h, to), "Findings in")
	if w := ask(h, "GET", p.id("rows").attr("hx-get")); w.Code != http.StatusNoContent {
		t.Errorf("status %d though nothing has changed", w.Code)
	}
}

// While something is recorded nothing else is done.
func TestRuns_FindingsAreNotCountedWhileSomethingIsRecorded(t *testing.T) {
	o := options(openStore(t, sampled()[:xUnanswered]))
	c := capture(99, "/v1/messages", 200, messagesBody(`{"role":"user","content":"Hi"}`), "")
	c.Outcome = transcript.InProgress
	o.InFlight = func() []*transcript.Capture { return []*transcript.Capture{c} }
	h := web.New(o)
	for range 5 {
		if got := open(t, h, "/").id("r1").one(t, "found").text(); got != "" {
			t.Fatalf("%q is told", got)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
