package web_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

func TestLists_ShowWhatIsUnderWay(t *testing.T) {
	c := capture(99, "/v1/messages", 200, `{"model":"under-way-1","messages":[{"role":"user","content":"Count to ten"}]}`, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[]}}\n\n")
	c.Outcome = transcript.InProgress
	list := []*transcript.Capture{c}
	o := options(sampleStore(t))
	o.InFlight = func() []*transcript.Capture { return list }
	h := web.New(o)
	for _, path := range []string{"/", "/exchanges"} {
		p := open(t, h, path)
		wantText(t, p.one(t, "under-way"), "in progress", "under-way-1", "Count to ten")
		refresh := attr(p.id("rows").root, "hx-get")
		if w := ask(h, "GET", refresh); w.Code != http.StatusNoContent {
			t.Errorf("%s: %d though nothing has changed", refresh, w.Code)
		}
		list = nil
		if w := ask(h, "GET", refresh); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "under-way-1") {
			t.Errorf("%s: %d after the end", refresh, w.Code)
		}
		list = []*transcript.Capture{c}
	}
}

func TestRun_GrowsWhileItsStepStreams(t *testing.T) {
	db := runStore(t)
	captures := runCaptures()
	last := captures[len(captures)-1]
	body, err := last.Request.Open()
	if err != nil {
		t.Fatal(err)
	}
	request, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	stream := func(text string) *transcript.Capture {
		c := capture(99, "/v1/messages", 200, string(request), "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[]}}\n\n"+
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"+
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":"+quote(text)+"}}\n\n")
		c.Outcome = transcript.InProgress
		return c
	}
	now := stream("The first half")
	o := options(db)
	o.InFlight = func() []*transcript.Capture { return []*transcript.Capture{now} }
	h := web.New(o)
	p := open(t, h, "/r/1")
	wantText(t, p.one(t, "live"), "in progress", "The first half")
	refresh := p.id("run").attr("hx-get")
	if w := ask(h, "GET", refresh); w.Code != http.StatusNoContent {
		t.Errorf("%s: status %d though nothing has changed", refresh, w.Code)
	}
	now = stream("The first half and " + payload)
	again := parse(t, ask(h, "GET", refresh).Body.String())
	wantText(t, again.one(t, "live"), "The first half and "+payload)
	for _, bad := range markup(again) {
		t.Error(bad)
	}
}

// In a browser: the step that streams grows, what is read stays where it is, and in
// the end the head of the page tells what the run came to.
func TestBrowser_RunGrowsWhileItIsRead(t *testing.T) {
	long := strings.Repeat("a line that is read\n", 200)
	user := `{"role":"user","content":` + quote("Go on. "+long) + `}`
	use := `{"type":"tool_use","id":"toolu_1","name":"order","input":{"id":7}}`
	history := user + `,{"role":"assistant","content":[` + use + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"sent"}]}`
	first := capture(1, "/v1/messages", 200, messagesBody(user), messagesAnswer("msg_1", use, "tool_use"))
	last := capture(2, "/v1/messages", 200, messagesBody(history), messagesAnswer("msg_2", `{"type":"text","text":"All of it"}`, "end_turn"))
	var text atomic.Pointer[string]
	say := func(s string) { text.Store(&s) }
	db := openStore(t, []*transcript.Capture{first})
	o := options(db)
	o.Now = func() time.Time { return first.EndedAt.Add(time.Second) }
	o.InFlight = func() []*transcript.Capture {
		s := text.Load()
		if s == nil {
			return nil
		}
		c := capture(2, "/v1/messages", 200, messagesBody(history), "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[]}}\n\n"+
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"+
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":"+quote(*s)+"}}\n\n")
		c.Outcome = transcript.InProgress
		return []*transcript.Capture{c}
	}
	say("The first half")
	b := startBrowser(t, o)
	b.open("/r/1")
	b.poll(`document.querySelector(".live").innerText.includes("The first half")`)
	if facts := eval[string](b, `document.querySelector("#facts").innerText`); !strings.Contains(facts, "running") || !strings.Contains(facts, "1 step") {
		t.Errorf("the head says %q", facts)
	}
	if dot := eval[string](b, `document.querySelector(".outline .dot").className + document.querySelector(".tool-list").innerText`); !strings.Contains(dot, "waiting") || strings.Contains(dot, "failed") {
		t.Errorf("a call that waits for its result is told as %q", dot)
	}
	at := func() string {
		return eval[string](b, `[Math.round(scrollY), document.querySelector(".item.user details").open, Math.round(document.querySelector(".item.user").getBoundingClientRect().top)].join()`)
	}
	eval[bool](b, `(document.querySelector(".item.user details").open = true, scrollTo(0, 200), true)`)
	was := at()
	say("The first half and the second")
	b.poll(`document.querySelector(".live").innerText.includes("and the second")`)
	if got := at(); got != was {
		t.Errorf("what is read went from %s to %s", was, got)
	}
	commit(t, db, last)
	text.Store(nil)
	b.poll(`document.querySelector("#facts").innerText.includes("2 steps") && !document.querySelector(".live")`)
	b.poll(`document.querySelector("main").innerText.includes("All of it")`)
	if facts := eval[string](b, `document.querySelector("#facts").innerText`); !strings.Contains(facts, "finished") {
		t.Errorf("in the end the head says %q", facts)
	}
	if got := at(); got != was {
		t.Errorf("in the end what is read went from %s to %s", was, got)
	}
	b.quiet()
}
