package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// twoRuns are two runs that differ in a tool's arguments, its result and the
// answer, and agree in what was asked.
func twoRuns() []*transcript.Capture { return twoRunsAfter(0) }

// twoRunsAfter are those behind so many other captures.
func twoRunsAfter(before int) []*transcript.Capture {
	run := func(n int, call, number, result, answer string) []*transcript.Capture {
		user := `{"role":"user","content":"Look order 7 up."}`
		use := `{"type":"tool_use","id":"toolu_` + call + `","name":"order","input":{"id":` + number + `}}`
		history := user + `,{"role":"assistant","content":[` + use + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_` + call + `","content":` + quote(result) + `}]}`
		return []*transcript.Capture{
			capture(before+n, "/v1/messages", 200, messagesBody(user), messagesAnswer("msg_a"+call, use, "tool_use")),
			capture(before+n+1, "/v1/messages", 200, messagesBody(history), messagesAnswer("msg_b"+call, `{"type":"text","text":`+quote(answer)+`}`, "end_turn")),
		}
	}
	a := run(1, "aaaaaaaa1", "2512292042121000001", `{"state":"sent","total":1.10}`, "Order 7 was sent "+payload)
	return append(a, run(3, "bbbbbbbb1", "2512292042121000002", `{"state":"lost","total":1.10}`, "Order 7 was lost")...)
}

func TestCompare_TwoRunsAreAligned(t *testing.T) {
	h := web.New(options(openStore(t, twoRuns())))
	p := open(t, h, "/compare?ref=r1&ref=r2")
	first := p.id("first")
	wantText(t, first, "order", "2512292042121000001", "2512292042121000002", "result/state", `"sent"`, `"lost"`)
	if strings.Contains(first.text(), "1.10 1.10") {
		t.Error("what did not change is shown as a change")
	}
	wantText(t, p, "2 the same", "first divergence", "claude-opus-5-5")
	if !strings.Contains(p.text(), `</script><script>alert(1)</script>`) {
		t.Error("the answer of the first run is not there as text")
	}
	for _, bad := range markup(p) {
		t.Error(bad)
	}
	wantText(t, open(t, h, "/compare?refs=r1+r1"), "Nothing differs")
	wantText(t, open(t, h, "/compare"), "Compare two or more side by side")
}

func TestCompare_OfManyTellsWhereEachLeftTheFirst(t *testing.T) {
	h := web.New(options(openStore(t, twoRuns())))
	p := open(t, h, "/compare?refs=r1+r2+r1")
	wantText(t, p, "left r1 at r1.1", "took the path of r1", "compare the two", "Order 7 was lost")
	var c struct {
		Runs []struct {
			Ref    string
			LeftAt *struct{ Step string } `json:"left_at"`
		}
	}
	if err := json.Unmarshal(ask(h, "GET", "/api/compare?ref=r1&ref=r2&ref=r1").Body.Bytes(), &c); err != nil || len(c.Runs) != 3 || c.Runs[1].LeftAt == nil || c.Runs[2].LeftAt != nil {
		t.Errorf("comparison %+v, %v", c, err)
	}
}

func TestCompare_SaysWhatItCannotCompare(t *testing.T) {
	h := web.New(options(openStore(t, twoRuns())))
	for target, status := range map[string]int{
		"/compare?refs=r1": 200, "/compare?refs=r1+r99": 404, "/compare?refs=r1+../../etc/passwd": 404, "/api/diff?ref=r1": 400,
		"/api/diff?ref=r1&ref=zzz": 404, "/api/diff?ref=x1&ref=x3": 200, "/compare?refs=r1.1+r2.1&from=-3": 200, "/compare?" + strings.Repeat("ref=r1&", 51): 400,
	} {
		if w := ask(h, "GET", target); w.Code != status {
			t.Errorf("%s: status %d, want %d", target, w.Code, status)
		}
	}
	if w := ask(h, http.MethodPost, "/compare"); w.Code == http.StatusOK {
		t.Error("a comparison takes POST")
	}
}
