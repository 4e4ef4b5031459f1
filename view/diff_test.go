package view_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// twoDialects records the same task over Chat Completions and over Messages: two
// calls at once, one of them failing, and an answer. change alters the second.
func twoDialects(t *testing.T, change func(string) string) *store.DB {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	chat := func(more string) string {
		return `{"model":"m","max_completion_tokens":90,"tool_choice":"auto","messages":[{"role":"system","content":"You help.\n\nBe brief."},{"role":"user","content":"Check both"}` + more + `],` +
			`"tools":[{"type":"function","function":{"name":"read","description":"Reads","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}]}`
	}
	chatCalls := `"content":"I look.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\",\"n\":2512292042121000001}"}},{"id":"call_2","type":"function","function":{"name":"read","arguments":"{\"path\":\"b\"}"}}]`
	messages := func(more string) string {
		return `{"model":"m","max_tokens":90,"tool_choice":{"type":"auto"},"system":[{"type":"text","text":"You help."},{"type":"text","text":"Be brief."}],"messages":[{"role":"user","content":[{"type":"text","text":"Check both"}]}` + more + `],` +
			`"tools":[{"name":"read","description":"Reads","input_schema":{"properties":{"path":{"type":"string"}},"type":"object"}}]}`
	}
	blocks := `[{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_1","name":"read","input":{"n":2512292042121000001,"path":"a"}},{"type":"tool_use","id":"toolu_2","name":"read","input":{"path":"b"}}]`
	wires := []struct{ path, request, response string }{
		{"chat/completions", chat(""), `{"id":"c1","model":"m","choices":[{"index":0,"message":{"role":"assistant",` + chatCalls + `},"finish_reason":"tool_calls"}]}`},
		{"chat/completions", chat(`,{"role":"assistant",` + chatCalls + `},{"role":"tool","tool_call_id":"call_2","content":"no such file"},{"role":"tool","tool_call_id":"call_1","content":"A at 2026-03-01T10:00:00Z"}`),
			`{"id":"c2","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Only a is there."},"finish_reason":"stop"}]}`},
		{"messages", change(messages("")), change(`{"id":"msg_1","type":"message","role":"assistant","model":"m","content":` + blocks + `,"stop_reason":"tool_use"}`)},
		{"messages", change(messages(`,{"role":"assistant","content":` + blocks + `},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"A at 2026-03-02T11:12:13Z"}]},{"type":"tool_result","tool_use_id":"toolu_2","is_error":true,"content":"no such file"}]}`)),
			`{"id":"msg_2","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Only a is there."}],"stop_reason":"end_turn"}`},
	}
	for i, w := range wires {
		at := time.Unix(int64(100_000*i), 0)
		_, err := ingest.Commit(context.Background(), db, []*transcript.Capture{{
			ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", i+1), StartedAt: at, EndedAt: at.Add(time.Second),
			Method: "POST", URL: "https://api.example.com/v1/" + w.path, Status: 200, Outcome: transcript.OK, Request: body(w.request), Response: body(w.response),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func diffOf(t *testing.T, db *store.DB, a, b string, o view.DiffOptions) *view.Diff {
	t.Helper()
	var targets [2]*view.Target
	for i, ref := range []string{a, b} {
		var err error
		if targets[i], err = view.Locate(context.Background(), db, ref); err != nil {
			t.Fatal(err)
		}
	}
	d, err := view.NewDiff(context.Background(), db, targets[0], targets[1], o, time.Unix(1e6, 0))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// differences are the lines of a diff that are not the same.
func differences(d *view.Diff) []string {
	var list []string
	for _, a := range d.Acts {
		if a.Fate == analysis.Same {
			continue
		}
		line := fmt.Sprintf("%s %s%s", a.Fate, a.Kind, a.Name)
		for _, v := range a.Arguments {
			line += fmt.Sprintf(" %s %s→%s", v.At, v.Was, v.Now)
		}
		if r := a.Result; r != nil {
			line += fmt.Sprintf(" result %d spans, error %v→%v", len(r.Text), r.WasError, r.NowError)
		}
		list = append(list, line)
	}
	for _, v := range d.Parameters {
		list = append(list, fmt.Sprintf("parameter %s %s→%s", v.At, v.Was, v.Now))
	}
	for _, tool := range d.Tools {
		list = append(list, fmt.Sprintf("tool %s %s", tool.Name, tool.Fate))
	}
	return list
}

func TestDiff_TheSameRunOverTwoDialectsDiffersInNothing(t *testing.T) {
	db := twoDialects(t, func(s string) string { return s })
	for _, refs := range [][2]string{{"r1", "r2"}, {"r2", "r1"}, {"x2", "x4"}, {"r1.2", "x4"}, {"r1", "x4"}} {
		d := diffOf(t, db, refs[0], refs[1], view.DiffOptions{})
		if diff := cmp.Diff([]string(nil), differences(d)); diff != "" {
			t.Errorf("%v differ (-want +got):\n%s", refs, diff)
		}
		if d.Differs() || d.Divergence != nil || d.Same != 6 {
			t.Errorf("%v: differs %v, %d the same; want nothing, and 6", refs, d.Differs(), d.Same)
		}
		var ignored []string
		for _, n := range d.Ignored {
			ignored = append(ignored, n.What)
		}
		for _, want := range []string{"call ids", "timestamps"} {
			if !strings.Contains(strings.Join(ignored, "; "), want) {
				t.Errorf("%v: ignored %q, want it to say %s", refs, ignored, want)
			}
		}
	}
}

func TestDiff_OverTwoDialectsTellsWhatDiffers(t *testing.T) {
	tests := []struct {
		name, from, to string
		want           []string
	}{
		{"a digit of an argument", "2512292042121000001", "2512292042121000002", []string{"changed tool_callread /n 2512292042121000001→2512292042121000002"}},
		{"a result", "no such file", "permission denied", []string{"changed tool_callread result 2 spans, error false→true"}},
		{"a parameter", `"max_tokens":90`, `"max_tokens":91`, []string{"parameter /max_tokens 90→91"}},
		{"a tool's schema", `{"path":{"type":"string"}}`, `{"path":{"type":"number"}}`, []string{"tool read changed"}},
		{"the task", "Check both", "Check all", []string{"changed message"}},
	}
	for _, tt := range tests {
		db := twoDialects(t, func(s string) string { return strings.ReplaceAll(s, tt.from, tt.to) })
		if diff := cmp.Diff(tt.want, differences(diffOf(t, db, "r1", "r2", view.DiffOptions{}))); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestDiff_ExactCountsTimestamps(t *testing.T) {
	db := twoDialects(t, func(s string) string { return s })
	got := differences(diffOf(t, db, "r1", "r2", view.DiffOptions{Exact: true}))
	if len(got) != 1 || !strings.HasPrefix(got[0], "changed tool_callread result") {
		t.Errorf("%v, want the result with the timestamp alone", got)
	}
}

func TestRequestDiff_TellsWhatAStepBroughtAndDropped(t *testing.T) {
	second := ask + "," + called + "," + results("a=one", "b=two")
	db, stored := record(t, message{messages: ask, answer: callA + "," + callB}, message{messages: second, answer: `{"type":"text","text":"Working on it."}`},
		message{messages: second + `,{"role":"assistant","content":"Working on it."},{"role":"user","content":"Hurry"}`, answer: done})
	d, err := view.NewRequestDiff(context.Background(), db, stored[2], view.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"added message"}, differences(d)); diff != "" {
		t.Errorf("x3 differs (-want +got):\n%s", diff)
	}
	if d, err = view.NewRequestDiff(context.Background(), db, stored[1], view.DiffOptions{}); err != nil || d.Changed != 2 || d.Added+d.Removed != 0 {
		t.Errorf("x2: %v (%v), want both calls with their results", differences(d), err)
	}
	if _, err := view.NewRequestDiff(context.Background(), db, stored[0], view.DiffOptions{}); err == nil {
		t.Error("the first request has none before it")
	}
}

func TestCalls_ListsCallsWithTheirResults(t *testing.T) {
	db, stored := record(t,
		message{messages: ask, answer: callA + "," + callB},
		message{messages: ask + "," + called + "," + results("b=two", "a=one"), answer: `{"type":"tool_use","id":"c","name":"f","input":{}}`})
	run, err := db.RunN(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	v, err := view.NewRun(context.Background(), db, run, time.Unix(1e6, 0))
	if err != nil {
		t.Fatal(err)
	}
	ofRun, err := v.Calls(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	ofExchange, err := view.ExchangeCalls(context.Background(), db, stored[1])
	if err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string][]view.Call{"run": ofRun, "exchange": ofExchange} {
		var got []string
		for _, c := range list {
			result := "–"
			if c.Result != nil {
				result = *c.Result
			}
			got = append(got, fmt.Sprintf("%s %s %s %s %s at %s bad=%v", c.CallID, c.Name, c.Arguments, result, c.State, c.At, c.Bad()))
		}
		want := []string{`a f {"n":1} one paired at /content/0 bad=false`, `b f {"n":2} two paired at /content/1 bad=false`, `c f {} – unanswered at /content/0 bad=true`}
		if name == "exchange" { // it shows where its own request holds them
			for i := range 2 {
				want[i] = strings.Replace(want[i], "/content/", "/messages/1/content/", 1)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("calls of %s differ (-want +got):\n%s", name, diff)
		}
	}
	if c := ofRun[0]; c.LatencyMS == nil || c.Step != "r1.1" {
		t.Errorf("latency %v, step %s; want one, and r1.1", c.LatencyMS, c.Step)
	}
	if ids, err := view.RunsWithCall(context.Background(), db, "b", 5); err != nil || len(ids) != 1 || ids[0] != run.ID {
		t.Errorf("runs with the call b: %v (%v)", ids, err)
	}
}
