package web_test

import (
	"strings"
	"testing"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// partialStore holds a stream that ended well, without its terminal event.
func partialStore(t testing.TB) *store.DB {
	return openStore(t, []*transcript.Capture{capture(1, "/v1/chat/completions", 200, `{"model":"gpt-test","stream":true,"messages":[{"role":"user","content":"tell me of the sea"}]}`,
		`data: {"id":"c","object":"chat.completion.chunk","model":"gpt-test","choices":[{"index":0,"delta":{"role":"assistant","content":"The sea is"}}]}`+"\n\n")})
}

// An answer without its end is told apart from a good one and from a failure,
// and says what it is.
func TestPartial_HasALookOfItsOwn(t *testing.T) {
	h := web.New(options(partialStore(t)))
	for _, target := range []string{"/", "/exchanges", "/r/1", "/x/1"} {
		p := open(t, h, target)
		marks := p.class("partial")
		if len(marks) == 0 || marks[0].text() != "partial" || !strings.Contains(marks[0].attr("title"), "without its end") {
			t.Errorf("%s: marks %v", target, marks)
		}
	}
	for _, target := range []string{"/", "/exchanges"} {
		p := open(t, h, target)
		if len(p.class("half")) != 1 || len(p.class("failed"))+len(p.class("cut")) > 0 {
			t.Errorf("%s: the row looks like a failure, or like all others", target)
		}
	}
	wantText(t, open(t, h, "/r/1").one(t, "half"), "The answer is partial")
}
