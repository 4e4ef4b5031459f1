package view

import (
	"testing"
	"time"
)

func TestNewTools(t *testing.T) {
	define := func(about string) string {
		return `"tools":[{"type":"function","function":{"name":"f","description":"` + about + `","parameters":{"type":"object"}}}]`
	}
	const call = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	turn := func(n int, tools, messages, answer string) (int, time.Duration, string, string, string) {
		return n, time.Duration(n) * time.Minute, "/v1/chat/completions", `{"model":"m",` + tools + `,"messages":[` + messages + `]}`,
			`{"id":"r","object":"chat.completion","model":"m","choices":[{"index":0,"message":` + answer + `,"finish_reason":"stop"}]}`
	}
	done := `{"role":"assistant","content":"done"}`
	one, two := `{"role":"user","content":"one"}`, `{"role":"user","content":"two"}`
	db, _ := caseRuns(t,
		caseCapture(turn(1, define("old"), one, call)), caseCapture(turn(2, define("old"), one+","+call+`,{"role":"tool","tool_call_id":"c1","content":"12345"}`, done)),
		caseCapture(turn(3, define("new"), two, call)), caseCapture(turn(4, define("new"), two+","+call+`,{"role":"tool","tool_call_id":"c1","content":"{\"ok\":true}"}`, done)))
	tools, err := NewTools(t.Context(), db, 20, 1<<20, caseStart)
	if err != nil {
		t.Fatal(err)
	}
	f := tools.Tools["f"]
	if tools.Runs != 2 || tools.More || f == nil || f.Calls != 2 || f.BytesMax != len(`{"ok":true}`) || f.Definitions != 2 || len(f.Shapes) != 2 {
		t.Errorf("of %d runs, more %v: %+v", tools.Runs, tools.More, f)
	}
	if tools, err = NewTools(t.Context(), db, 1, 1<<20, caseStart); err != nil || tools.Runs != 1 || !tools.More || tools.Tools["f"].Definitions != 1 {
		t.Errorf("of one run: %+v, %v", tools, err)
	}
	if tools, err = NewTools(t.Context(), db, 20, 10, caseStart); err != nil || tools.Runs != 0 || !tools.More {
		t.Errorf("of nothing: %+v, %v", tools, err)
	}
}
