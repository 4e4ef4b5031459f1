package web_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

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
