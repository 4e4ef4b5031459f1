package web_test

import (
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
