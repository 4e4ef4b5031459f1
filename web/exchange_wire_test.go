package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/net/html"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// timed is a streamed answer whose events came 100 ms apart, the last 2 s later, two
// of them at once.
func timed() *transcript.Capture {
	c := sampled()[xStreamed-1]
	c.Chunks = nil
	at, offset := 100*time.Millisecond, 0
	events := strings.SplitAfter(streamed(), "\n\n")
	for i, e := range events[:len(events)-1] {
		if i != 3 { // it came with the one before
			c.Chunks = append(c.Chunks, transcript.Chunk{Offset: int64(offset), At: at})
			at += 100 * time.Millisecond
		}
		if i == 5 {
			at += 2 * time.Second
		}
		offset += len(e)
	}
	return c
}

// spaced is the text of a page with a space between its pieces.
func spaced(p page) string {
	var b strings.Builder
	for n := range p.root.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(" " + n.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func wantSpaced(t *testing.T, p page, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if text := spaced(p); !strings.Contains(text, want) {
			t.Errorf("want %q in: %s", want, text)
		}
	}
}

func TestWire_EventsHaveTheirArrivalTimes(t *testing.T) {
	p := open(t, web.New(options(openStore(t, []*transcript.Capture{timed()}))), "/x/1/wire").id("events")
	rows := p.all(func(n *node) bool { return n.Data == "tr" })[1:]
	if len(rows) != 7 {
		t.Fatalf("%d events, want 7", len(rows))
	}
	for i, want := range []string{"1 100 ms response.created", "2 200 ms +100 ms response.output_item.added", "3 300 ms +100 ms response.output_item.done", "4 300 ms +< 1 ms", "5 400 ms +100 ms", "6 500 ms +100 ms", "7 2.60 s +2.10 s response.completed"} {
		if got := spaced(rows[i]); !strings.HasPrefix(got, want) {
			t.Errorf("event %d: %q, want %q", i+1, got, want)
		}
	}
	if got := p.class("slow"); len(got) != 1 || got[0].text() != "+2.10 s" {
		t.Errorf("%d events are marked as slow, want the last", len(got))
	}
	wantSpaced(t, p, "7, the last after 2.60 s")
	if ticks := p.all(func(n *node) bool { return n.Data == "rect" }); len(ticks) != 6 {
		t.Errorf("%d marks of arrival, want 6", len(ticks))
	}
}

func TestWire_ManyEventsAreShownWhenAsked(t *testing.T) {
	c := timed()
	c.Response = memory(strings.Repeat("event: ping\ndata: {\"type\":\"ping\"}\n\n", 400) + streamed())
	h := web.New(options(openStore(t, []*transcript.Capture{c})))
	p := open(t, h, "/x/1/wire").id("events")
	wantSpaced(t, p, "407", "There are more. Show all")
	if got := len(p.all(func(n *node) bool { return n.Data == "tr" })); got != 301 {
		t.Errorf("%d rows, want 301", got)
	}
	if got := len(open(t, h, "/x/1/wire?events=all").id("events").all(func(n *node) bool { return n.Data == "tr" })); got != 408 {
		t.Errorf("%d rows of all, want 408", got)
	}
}

func TestWire_CutStreamSaysWhereItEnded(t *testing.T) {
	c := timed()
	c.Outcome, c.Response = transcript.UpstreamReset, memory(streamed()[:700])
	p := open(t, web.New(options(openStore(t, []*transcript.Capture{c}))), "/x/1/wire").id("events")
	wantSpaced(t, p, "cut off here", "upstream_reset the stream broke off here")
}

func TestWire_ShowsWhatIsNewAlone(t *testing.T) {
	h := web.New(options(sampleStore(t)))
	p := open(t, h, "/x/2/wire").id("request")
	wantSpaced(t, p, "body, new only from /messages/2 on: 2 before it are known")
	data := p.class("body")[0].text()
	if strings.Contains(data, userText) || !strings.Contains(data, "tool_result") {
		t.Errorf("new is shown as %s", data)
	}
	for _, first := range []string{"/x/1/wire", "/x/6/wire", "/x/8/wire"} {
		if strings.Contains(open(t, h, first).text(), "new only") {
			t.Errorf("%s: of what nothing is known before, no part is the new one", first)
		}
	}
}

func TestWire_UsageIsCountedAlikeAndPriced(t *testing.T) {
	c := capture(1, "/v1/messages", 200, messagesBody(`{"role":"user","content":"Hi"}`), messagesAnswer("msg_1", `{"type":"text","text":"Hello"}`, "end_turn"))
	c.URL = "https://api.anthropic.com/v1/messages"
	o := options(openStore(t, []*transcript.Capture{c, sampled()[xLimited-1]}))
	o.Prices = pricing.New()
	if err := o.Prices.Override(strings.NewReader(`{"models":{"claude-opus-5-5":{"input":"5","cache_read":"0.5","output":"25"}}}`)); err != nil {
		t.Fatal(err)
	}
	h := web.New(o)
	p := open(t, h, "/x/1/wire")
	wantSpaced(t, p.id("usage"), "prompt 18,200", "uncached 1,200", "cache read 17,000", "output 391", "total 18,591")
	wantSpaced(t, p.id("usage"), "uncached input 1,200 $5 $0.006", "cache read 17,000 $0.5 $0.0085", "output 391 $25 $0.009775", "all $0.024275")
	wantSpaced(t, p, "usage as reported", `"cache_read_input_tokens": 17000`)
	wantSpaced(t, open(t, web.New(options(sampleStore(t))), "/x/2/wire").id("usage"), "Not known: there is no price for claude-opus-5-5 at api.example.")
	if open(t, h, "/x/2/wire").id("usage").text() != "" {
		t.Error("a refused request has usage")
	}
}

func TestWire_SaysByWhatEvidenceItIsLinked(t *testing.T) {
	h := web.New(options(sampleStore(t)))
	wantSpaced(t, open(t, h, "/x/2/wire"), "continues x1", "the first 4 items are x1's history and output", "history")
	wantSpaced(t, open(t, h, "/x/1/wire"), "starts a new history")
}

func TestBrowser_WireCopiesTheRequestAsAProgram(t *testing.T) {
	b := startBrowser(t, options(sampleStore(t)))
	b.open("/x/2/wire")
	eval[bool](b, `Object.defineProperty(navigator, "clipboard", {value: {writeText: (t) => { window.copied = t; return Promise.resolve(); }}}) && true`)
	for _, c := range []struct{ name, begins string }{{"curl", "curl"}, {"python", "import"}, {"go", "package main"}} {
		b.do(chromedp.Click(chromedp.CSS(fmt.Sprintf(".copies a[href$='format=%s']", c.name))))
		b.poll(`window.copied`)
		if got := eval[string](b, `copied`); !strings.Contains(got, c.begins) || !strings.Contains(got, userText) {
			t.Errorf("%s: copied %.200q", c.name, got)
		}
		eval[bool](b, `(window.copied = "") === ""`)
	}
	b.open("/r/1/export?format=markdown")
	eval[bool](b, `Object.defineProperty(navigator, "clipboard", {value: {writeText: (t) => { window.copied = t; return Promise.resolve(); }}}) && true`)
	b.do(chromedp.Click(chromedp.CSS("button[data-copy-from]")))
	b.poll(`window.copied`)
	if got := eval[string](b, `copied`); !strings.Contains(got, userText) {
		t.Errorf("of an export %.200q is copied", got)
	}
	b.open("/x/2/wire")
	eval[bool](b, `Object.defineProperty(navigator, "clipboard", {value: {writeText: (t) => { window.copied = t; return Promise.resolve(); }}}) && true`)
	b.do(chromedp.KeyEvent("c"))
	b.poll(`window.copied`)
	if got := eval[string](b, `location.pathname + copied`); !strings.HasPrefix(got, "/x/2/wire") || !strings.Contains(got, "curl") {
		t.Errorf("c copied %.200q", got)
	}
	b.quiet()
}

func TestWire_EventsOfHostileTextAreText(t *testing.T) {
	oneLine := strings.NewReplacer("\n", " ", "\r", " ")
	for name, s := range hostileTexts() {
		c := timed()
		c.Response = memory("event: " + oneLine.Replace(s) + "\ndata: " + oneLine.Replace(s) + "\n\n" + streamed())
		p := open(t, web.New(options(openStore(t, []*transcript.Capture{c}))), "/x/1/wire")
		for _, bad := range markup(p) {
			t.Errorf("%s: %.200s", name, bad)
		}
		for _, shown := range shownOf(p) {
			if strings.ContainsAny(shown, "\u202E\u2066\u200B\x00\x1b") {
				t.Errorf("%s: hidden characters are shown in %.100q", name, shown)
			}
		}
	}
}
