package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
	"github.com/retake-debugger/retake/web"
)

// The run of runStore: an agent that starts another one, a retry, a branch, a
// rewritten history.
func runCaptures() []*transcript.Capture {
	user := `{"role":"user","content":` + quote("<system-reminder>be kind</system-reminder>\n"+userText) + `}`
	task := `{"type":"tool_use","id":"toolu_01TaskTaskTaskTask01","name":"Task","input":{"prompt":"Find every caller of next()"}}`
	first := user + `,{"role":"assistant","content":[` + firstCalls + `,` + task + `]},` +
		strings.Replace(results(), `"FAIL"}]`, `"FAIL"}]`, 1)
	first = strings.TrimSuffix(first, `]}`) + `,{"type":"tool_result","tool_use_id":"toolu_01TaskTaskTaskTask01","content":"One caller: parse()."}]}`
	subUser := `{"role":"user","content":"Find every caller of next()"}`
	subCall := `{"type":"tool_use","id":"toolu_01SubSubSubSub01","name":"grep","input":{"q":"next()"}}`
	sub := subUser + `,{"role":"assistant","content":[` + subCall + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01SubSubSubSub01","content":"parse.go: next()"}]}`
	second := first + `,{"role":"assistant","content":[` + editCall + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01ZxYwVuTsRqPoNmLkJiHg9q","content":"done"}]}`
	cleared := strings.Replace(second, quote(source()), `"[cleared]"`, 1)
	text := func(s string) string { return `{"type":"text","text":` + quote(s) + `}` }
	at := func(n int, messages, answer, stop string) *transcript.Capture {
		return capture(n, "/v1/messages", 200, messagesBody(messages), messagesAnswer(fmt.Sprintf("msg_%d", n), answer, stop))
	}
	failed := capture(4, "/v1/messages", 529, messagesBody(first), `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
	return []*transcript.Capture{
		at(1, user, firstCalls+`,`+task, "tool_use"),
		at(2, subUser, subCall, "tool_use"),
		at(3, sub, text("One caller: parse()."), "end_turn"),
		failed,
		at(5, first, editCall, "tool_use"),
		at(6, first, text("I would rather not."), "end_turn"),
		at(7, cleared, text("All tests pass."), "end_turn"),
	}
}

func runStore(t testing.TB) *store.DB {
	db := openStore(t, runCaptures())
	run, err := db.RunN(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx transcript.Tx) error {
		return tx.PutMarks(run.ID, &transcript.Marks{Tags: []string{"good", payload}, Note: payload, Pinned: true})
	})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestRuns_StartPageListsThem(t *testing.T) {
	h := web.New(options(runStore(t)))
	p := open(t, h, "/")
	if got := rowsOf(p); !slices.Equal(got, []string{"r1"}) {
		t.Fatalf("rows %v", got)
	}
	wantText(t, p.id("r1"), "pinned", userText, "good", "claude-opus-5-5")
	if got := p.id("r1").one(t, "step-count").text(); got != "6" {
		t.Errorf("%s steps, want 6: of the main agent 3 and a branch of 1, of the other 2", got)
	}
	if got := rowsOf(open(t, h, "/?tag="+url.QueryEscape(payload))); len(got) != 1 {
		t.Errorf("rows of a tag: %v", got)
	}
	wantText(t, open(t, h, "/?tool=nothing"), "No run fits")
	if w := ask(h, "GET", "/?before=abc"); w.Code != http.StatusBadRequest {
		t.Errorf("before=abc: status %d", w.Code)
	}
	for range 200 { // until what is found is counted
		if p = open(t, h, "/"); p.id("r1").one(t, "found").text() != "" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	refresh := p.id("rows").attr("hx-get")
	if w := ask(h, "GET", refresh); w.Code != http.StatusNoContent {
		t.Errorf("refresh %s: status %d, want 204", refresh, w.Code)
	}
	empty := options(openStore(t, nil))
	wantText(t, open(t, web.New(empty), "/"), "Nothing is recorded yet", "export OPENAI_BASE_URL=http://127.0.0.1:7777/v1")
	empty.PointAt = []string{"OPENAI_BASE_URL=http://127.0.0.1:4711/v1", "http://127.0.0.1:4711/lab/ goes to http://lab"}
	wantText(t, open(t, web.New(empty), "/stats"), "OPENAI_BASE_URL=http://127.0.0.1:4711/v1\nhttp://127.0.0.1:4711/lab/ goes to http://lab")
}

func TestRun_TellsStepByStep(t *testing.T) {
	p := open(t, web.New(options(runStore(t))), "/r/1")
	wantText(t, p.id("x1"), "step 1", userText, "read_file", "package parser", "exit status 1", "43 B that the client added", "tool_use", "also went on with x6")
	second := p.id("x5")
	wantText(t, second, "step 2", "2 attempts", "x4", "edit_file", "done")
	if strings.Contains(second.text(), "package parser") {
		t.Error("step 2 tells again what step 1 told")
	}
	wantText(t, p.id("x7"), "History edited", "1 rewritten", "[cleared]", "All tests pass.")
	subs := p.id("x1").class("sub")
	if len(subs) != 1 {
		t.Fatalf("%d agents under the call, want 1", len(subs))
	}
	wantText(t, subs[0], "r1/a2", "2 steps", "its prompt is what the call passed on", "parse.go: next()", "One caller: parse().")
	if branch := p.id("x6"); !strings.Contains(branch.text(), "I would rather not.") {
		t.Errorf("the branch: %s", branch.text())
	}
	alone := open(t, web.New(options(runStore(t))), "/r/r1?agent=2")
	wantText(t, alone, "sub-agent r1/a2", "parse.go: next()")
	if strings.Contains(alone.text(), "package parser") {
		t.Error("the page of an agent shows another one")
	}
}

func TestRun_LongOnesHavePages(t *testing.T) {
	h := web.New(options(longRun(t, 230)))
	p := open(t, h, "/r/1")
	if n := len(p.class("step", "part")); n != 100 {
		t.Errorf("%d steps on the first page, want 100", n)
	}
	wantText(t, p, "130 more steps")
	last := open(t, h, "/r/1?from=200")
	if n := len(last.class("step", "part")); n != 30 {
		t.Errorf("%d steps on the last page, want 30", n)
	}
	wantText(t, last, "earlier steps", "step 230")
	for _, query := range []string{"from=-5", "from=9999999999999999999", "from=1000000", "agent=-1"} {
		if w := ask(h, "GET", "/r/1?"+query); w.Code != http.StatusOK {
			t.Errorf("%s: status %d", query, w.Code)
		}
	}
}

// longRun is a run of n steps with a call in each but the last.
func longRun(t testing.TB, n int) *store.DB {
	var captures []*transcript.Capture
	messages := `{"role":"user","content":"Count."}`
	for i := 1; i <= n; i++ {
		call := fmt.Sprintf(`{"type":"tool_use","id":"toolu_long_%06d","name":"read_file","input":{"path":"%d.go"}}`, i, i)
		answer, stop := call, "tool_use"
		if i == n {
			answer, stop = `{"type":"text","text":"Done."}`, "end_turn"
		}
		captures = append(captures, capture(i, "/v1/messages", 200, messagesBody(messages), messagesAnswer(fmt.Sprintf("msg_%d", i), answer, stop)))
		messages += fmt.Sprintf(`,{"role":"assistant","content":[%s]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_long_%06d","content":"file %d"}]}`, call, i, i)
	}
	return openStore(t, captures)
}

func TestAPI_Runs(t *testing.T) {
	h := web.New(options(runStore(t)))
	var rows []view.RunRow
	if err := json.Unmarshal(ask(h, "GET", "/api/runs").Body.Bytes(), &rows); err != nil || len(rows) != 1 || rows[0].Counts.Steps != 6 {
		t.Errorf("rows %+v, %v", rows, err)
	}
	var run struct {
		N      int
		Agents []struct {
			Role       string
			ParentCall *string `json:"parent_call"`
			Branches   []any
			Steps      []struct{ Attempts []string }
		}
		Pairs []transcript.Pair
		Lint  []any
	}
	if err := json.Unmarshal(ask(h, "GET", "/api/runs/r1").Body.Bytes(), &run); err != nil {
		t.Fatal(err)
	}
	if len(run.Agents) != 2 || len(run.Agents[0].Steps) != 3 || len(run.Agents[0].Steps[1].Attempts) != 2 || len(run.Agents[0].Branches) != 1 {
		t.Errorf("agents %+v", run.Agents)
	}
	if a := run.Agents[1]; a.Role != "sub" || a.ParentCall == nil || *a.ParentCall != "toolu_01TaskTaskTaskTask01" {
		t.Errorf("sub-agent %+v", a)
	}
	if len(run.Pairs) != 5 || run.Lint == nil {
		t.Errorf("%d pairs, lint %v", len(run.Pairs), run.Lint)
	}
	for target, status := range map[string]int{"/api/runs/99": 404, "/api/runs?limit=0": 400, "/r/zzz": 404, "/r/r99": 404} {
		if w := ask(h, "GET", target); w.Code != status {
			t.Errorf("%s: status %d, want %d", target, w.Code, status)
		}
	}
}

func TestBrowser_RunPage(t *testing.T) {
	b := startBrowser(t, options(runStore(t)))
	b.open("/")
	b.do(chromedp.WaitReady(chromedp.CSS("#r1")))
	b.open("/r/1")
	call, result := b.box("#x1 .pair .call"), b.box("#x1 .pair .result")
	if call.Y != result.Y || call.X+call.Width >= result.X {
		t.Errorf("call %+v, result %+v, want them side by side", call, result)
	}
	if eval[bool](b, `document.querySelector(".fold-in.sub").open`) {
		t.Error("the sub-agent is not folded")
	}
	b.open("/r/1#x3") // a step of the sub-agent: what it is in unfolds
	if !eval[bool](b, `document.querySelector(".fold-in.sub").open`) {
		t.Error("a link into the sub-agent does not unfold it")
	}
	b.do(chromedp.EmulateViewport(420, 900))
	if wide := eval[float64](b, `document.documentElement.scrollWidth`); wide > 420 {
		t.Errorf("a narrow window scrolls sideways: %v px, for %s", wide, eval[string](b, `[...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > 421).map(e => e.tagName + "." + e.className).slice(0, 8).join(" ")`))
	}
	b.quiet()
}
