package web_test

import (
	"strings"
	"testing"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// Files of a session and of a sub-agent that it started, as two programs keep them.
const (
	claudeMain = `{"type":"user","sessionId":"s1","uuid":"u1","parentUuid":null,"timestamp":"2026-03-01T10:00:00Z","message":{"role":"user","content":"Look at it"}}
{"type":"assistant","sessionId":"s1","uuid":"u2","parentUuid":"u1","timestamp":"2026-03-01T10:00:05Z","message":{"id":"msg_1","role":"assistant","model":"claude-opus-5-5","content":[{"type":"tool_use","id":"toolu_1","name":"Task","input":{"prompt":"Find every caller of next()"}}],"stop_reason":"tool_use","usage":{"input_tokens":10,"output_tokens":5}}}
{"type":"user","sessionId":"s1","uuid":"u3","parentUuid":"u2","timestamp":"2026-03-01T10:01:00Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"There are two."}]}}
{"type":"assistant","sessionId":"s1","uuid":"u4","parentUuid":"u3","timestamp":"2026-03-01T10:01:05Z","message":{"id":"msg_2","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"Two."}],"stop_reason":"end_turn","usage":{"input_tokens":20,"output_tokens":5}}}
`
	claudeSub = `{"type":"user","sessionId":"s1","agentId":"a1","isSidechain":true,"uuid":"v1","parentUuid":null,"timestamp":"2026-03-01T10:00:10Z","message":{"role":"user","content":"Find every caller of next()"}}
{"type":"assistant","sessionId":"s1","agentId":"a1","isSidechain":true,"uuid":"v2","parentUuid":"v1","timestamp":"2026-03-01T10:00:50Z","message":{"id":"msg_3","role":"assistant","model":"claude-haiku-4-5","content":[{"type":"text","text":"There are two."}],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":5}}}
`
	codexMain = `{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"thread-main","source":"cli","base_instructions":{"text":"You code."}}}
{"timestamp":"2026-03-01T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Look at it"}]}}
{"timestamp":"2026-03-01T10:00:05Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I ask another."}]}}
`
	codexSub = `{"timestamp":"2026-03-01T10:00:10Z","type":"session_meta","payload":{"id":"thread-sub","source":{"subagent":{"thread_spawn":{"parent_thread_id":"thread-main","depth":1}}},"base_instructions":{"text":"You code."}}}
{"timestamp":"2026-03-01T10:00:10Z","type":"session_meta","payload":{"id":"thread-main","source":"cli"}}
{"timestamp":"2026-03-01T10:00:11Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Find every caller of next()"}]}}
{"timestamp":"2026-03-01T10:00:20Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"There are two."}]}}
`
)

func TestImport_SubAgentsJoinWhatStartedThemInAnyOrder(t *testing.T) {
	for _, c := range []struct {
		name, main, sub string
		called          bool // the call is known that started it
	}{
		{"claude-code", claudeMain, claudeSub, true},
		{"codex", codexMain, codexSub, false},
	} {
		for _, list := range [][]uploaded{{{"agent.jsonl", c.sub}, {"main.jsonl", c.main}}, {{"main.jsonl", c.main}, {"agent.jsonl", c.sub}}} {
			db, o := importViewer(t)
			tookIn(t, web.New(o), list...)
			runs, err := db.Runs(t.Context(), transcript.RunFilter{})
			if err != nil || len(runs) != 1 {
				t.Fatalf("%s: %d runs, want 1 (%v)", c.name, len(runs), err)
			}
			agents, err := db.Agents(t.Context(), runs[0].ID)
			if err != nil || len(agents) != 2 {
				t.Fatalf("%s: %d agents, want 2 (%v)", c.name, len(agents), err)
			}
			for _, a := range agents {
				if !a.Main && (a.ParentCall != nil) != c.called || a.Main && a.ParentCall != nil {
					t.Errorf("%s: agent %s, started by %v", c.name, a.Key, a.ParentCall)
				}
			}
		}
	}
}

func TestImport_AFileThatBreaksOffIsTold(t *testing.T) {
	_, o := importViewer(t)
	h := web.New(o)
	w := upload(h, hidden(t, open(t, h, "/import")), []uploaded{{"agent.jsonl", claudeSub[:len(claudeSub)-40]}})
	if w.Code != 303 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	if text := open(t, h, w.Header().Get("Location")).text(); !strings.Contains(text, "agent.jsonl") {
		t.Error(text)
	}
}
