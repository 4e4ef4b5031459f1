package files_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/files"
	"github.com/retake-debugger/retake/ingest/reindex"
	"github.com/retake-debugger/retake/transcript"
)

// Sessions and sub-agents that they started, as programs keep them. Main asks Look,
// says that it asks another one, and gets its answer; the sub-agent does one thing.
const (
	claudeMain = `{"type":"user","sessionId":"s1","uuid":"u1","parentUuid":null,"timestamp":"2026-03-01T10:00:00Z","message":{"role":"user","content":"Look at it"}}
{"type":"assistant","sessionId":"s1","uuid":"u2","parentUuid":"u1","timestamp":"2026-03-01T10:00:05Z","message":{"id":"msg_1","role":"assistant","model":"m","content":[{"type":"tool_use","id":"call_1","name":"Task","input":{"prompt":"Find every caller of next()"}}]}}
{"type":"user","sessionId":"s1","uuid":"u3","parentUuid":"u2","timestamp":"2026-03-01T10:01:00Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"There are two."}]}}
{"type":"assistant","sessionId":"s1","uuid":"u4","parentUuid":"u3","timestamp":"2026-03-01T10:01:05Z","message":{"id":"msg_2","role":"assistant","model":"m","content":[{"type":"text","text":"Two."}]}}
`
	claudeSub = `{"type":"user","sessionId":"s1","agentId":"a1","isSidechain":true,"uuid":"v1","parentUuid":null,"timestamp":"2026-03-01T10:00:10Z","message":{"role":"user","content":"Find every caller of next()"}}
{"type":"assistant","sessionId":"s1","agentId":"a1","isSidechain":true,"uuid":"v2","parentUuid":"v1","timestamp":"2026-03-01T10:00:20Z","message":{"id":"msg_3","role":"assistant","model":"m","content":[{"type":"tool_use","id":"call_2","name":"Grep","input":{"pattern":"next()"}}]}}
{"type":"user","sessionId":"s1","agentId":"a1","isSidechain":true,"uuid":"v3","parentUuid":"v2","timestamp":"2026-03-01T10:00:21Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_2","content":"a b"}]}}
{"type":"assistant","sessionId":"s1","agentId":"a1","isSidechain":true,"uuid":"v4","parentUuid":"v3","timestamp":"2026-03-01T10:00:50Z","message":{"id":"msg_4","role":"assistant","model":"m","content":[{"type":"text","text":"There are two."}]}}
`
	claudeQuick = `{"type":"user","sessionId":"s1","agentId":"a1","isSidechain":true,"uuid":"v1","parentUuid":null,"timestamp":"2026-03-01T10:00:10Z","message":{"role":"user","content":"Find every caller of next()"}}
{"type":"assistant","sessionId":"s1","agentId":"a1","isSidechain":true,"uuid":"v4","parentUuid":"v1","timestamp":"2026-03-01T10:00:50Z","message":{"id":"msg_4","role":"assistant","model":"m","content":[{"type":"text","text":"There are two."}]}}
`
	mainThread, subThread, mainTurn, subTurn = "019e1625-0000-7000-8000-000000000001", "019e1625-2000-7000-8000-000000000002", "019e1625-0100-7000-8000-000000000003", "019e1625-2100-7000-8000-000000000004"

	codexAsked   = `{"timestamp":"2026-03-01T10:00:01Z","type":"event_msg","payload":{"type":"task_started","turn_id":"` + mainTurn + `"}}` + "\n" + `{"timestamp":"2026-03-01T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Look at it"}]}}` + "\n"
	codexGreeted = `{"timestamp":"2026-03-01T10:00:02Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]}}` + "\n" + `{"timestamp":"2026-03-01T10:00:02Z","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":9,"output_tokens":1,"total_tokens":10}}}}` + "\n"
	codexMain    = `{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"` + mainThread + `","source":"cli","base_instructions":{"text":"You code."}}}` + "\n" + codexAsked + codexGreeted + `{"timestamp":"2026-03-01T10:00:03Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Ask another"}]}}
{"timestamp":"2026-03-01T10:00:05Z","type":"response_item","payload":{"type":"function_call","name":"spawn_agent","call_id":"call_1","arguments":"{\"task_name\":\"callers\",\"message\":\"Find every caller of next()\"}"}}
{"timestamp":"2026-03-01T10:01:00Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"{}"}}
{"timestamp":"2026-03-01T10:01:05Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Two."}]}}
`
	codexSpawned = `{"timestamp":"2026-03-01T10:00:10Z","type":"session_meta","payload":{"id":"` + subThread + `","forked_from_id":"` + mainThread + `","source":{"subagent":{"thread_spawn":{"parent_thread_id":"` + mainThread + `","depth":1}}},"base_instructions":{"text":"You code."}}}` + "\n"
	codexTurn    = `{"timestamp":"2026-03-01T10:00:11Z","type":"event_msg","payload":{"type":"task_started","turn_id":"` + subTurn + `"}}` + "\n"
	codexPrompt  = `{"timestamp":"2026-03-01T10:00:11Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Find every caller of next()"}]}}` + "\n"
	codexTask    = `{"timestamp":"2026-03-01T10:00:11Z","type":"response_item","payload":{"type":"agent_message","author":"/root","recipient":"/root/callers","content":[{"type":"encrypted_content","encrypted_content":"gAAA"}]}}` + "\n"
	codexWork    = `{"timestamp":"2026-03-01T10:00:20Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","call_id":"call_2","arguments":"{\"cmd\":\"grep\"}"}}
{"timestamp":"2026-03-01T10:00:21Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_2","output":"a b"}}
{"timestamp":"2026-03-01T10:00:50Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"There are two."}]}}
`
	// What the one that started it had said stands before a forked one, all with the time of the fork.
	codexInherited = `{"timestamp":"2026-03-01T10:00:10Z","type":"session_meta","payload":{"id":"` + mainThread + `","source":"cli"}}` + "\n"
)

func TestImport_TheOrderOfSubAgentsDoesNotMatter(t *testing.T) {
	for _, c := range []struct {
		name, main, sub string
		steps, subSteps int
	}{
		{"claude-code", claudeMain, claudeSub, 2, 2},
		{"claude-code, one answer", claudeMain, claudeQuick, 2, 1},
		{"codex", codexMain, codexSpawned + codexTurn + codexPrompt + codexWork, 3, 2},
		{"codex, task named", codexMain, codexSpawned + codexTurn + codexTask + codexWork, 3, 2},
		{"codex, forked", codexMain, codexSpawned + codexInherited + codexAsked + codexGreeted + codexTurn + codexPrompt + codexWork, 3, 2},
		{"codex, forked, task named", codexMain, codexSpawned + codexInherited + codexAsked + codexGreeted + codexTurn + codexTask + codexWork, 3, 2},
	} {
		for _, order := range [][]string{{c.main, c.sub}, {c.sub, c.main}} {
			t.Run(fmt.Sprint(c.name, ", main first ", order[0] == c.main), func(t *testing.T) {
				im, _ := newImport(t)
				for i, text := range order {
					if did, err := im.Read(t.Context(), files.File{Name: fmt.Sprint(i), Base: fmt.Sprint(i), Reader: strings.NewReader(text)}); err != nil || did.New == 0 || did.Bad > 0 {
						t.Fatalf("%+v, %v", did, err)
					}
				}
				want := fmt.Sprintf("main %d; sub %d called by call_1", c.steps, c.subSteps)
				if got := agentsOf(t, im.Store); got != want {
					t.Errorf("%s, want %s", got, want)
				}
				did, err := reindex.Run(t.Context(), im.Store, "test", nil)
				if err != nil || did.Changed > 0 {
					t.Errorf("derived again: %+v, %v", did, err)
				}
				if got := agentsOf(t, im.Store); got != want {
					t.Errorf("derived again: %s, want %s", got, want)
				}
			})
		}
	}
}

// agentsOf tells the agents of the only run, how many steps each made, one after the
// other, and what started it.
func agentsOf(t *testing.T, db transcript.Store) string {
	t.Helper()
	runs, err := db.Runs(t.Context(), transcript.RunFilter{})
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, want 1 (%v)", len(runs), err)
	}
	agents, err := db.Agents(t.Context(), runs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, a := range agents {
		text, steps := "sub ", 0
		if a.Main {
			text = "main "
		}
		for e, err := range db.Exchanges(t.Context(), transcript.Filter{Run: a.Run, Oldest: true}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Link.Agent != a.ID {
				continue
			}
			if steps++; e.Link.Step != steps {
				t.Errorf("x%d is step %d, want %d", e.N, e.Link.Step, steps)
			}
		}
		text += fmt.Sprint(steps)
		if p := a.ParentCall; p != nil {
			calls, err := db.Calls(t.Context(), []string{p.Exchange})
			i := slices.IndexFunc(calls, func(c transcript.CallRow) bool { return c.At == p.At })
			if err != nil || i < 0 {
				t.Fatalf("no call at %+v (%v)", p, err)
			}
			text += " called by " + calls[i].CallID
		}
		list = append(list, text)
	}
	slices.Sort(list)
	return strings.Join(list, "; ")
}
