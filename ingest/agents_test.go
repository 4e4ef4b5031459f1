package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// tree tells of each exchange: run, agent, step and attempt, numbered in the
// order in which they appear.
func tree(stored []*transcript.Exchange) []string {
	number := func(seen map[string]int, id string) int {
		if _, ok := seen[id]; !ok {
			seen[id] = len(seen) + 1
		}
		return seen[id]
	}
	runs, agents := map[string]int{}, map[string]int{}
	var out []string
	for _, e := range stored {
		l := e.Link
		if l.Side {
			out = append(out, fmt.Sprintf("r%d side", number(runs, l.Run)))
			continue
		}
		out = append(out, fmt.Sprintf("r%d a%d %d.%d", number(runs, l.Run), number(agents, l.Agent), l.Step, l.Attempt))
	}
	return out
}

func with(c *transcript.Capture, headers ...string) *transcript.Capture {
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		c.RequestHeader[name] = []string{value}
	}
	return c
}

// stored reads the exchanges again: side calls may have been found later.
func reread(t *testing.T, db *store.DB, stored []*transcript.Exchange) []*transcript.Exchange {
	t.Helper()
	var out []*transcript.Exchange
	for _, e := range stored {
		again, err := db.Exchange(context.Background(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, again)
	}
	return out
}

const messagesPath = "/v1/messages"

func ask(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }

func messagesRequest(messages ...string) string {
	return `{"model":"m","max_tokens":9,"tools":[{"name":"f","input_schema":{}}],"messages":[` + strings.Join(messages, ",") + `]}`
}

func messagesAnswer(blocks ...string) string {
	return `{"id":"msg","type":"message","role":"assistant","model":"m","content":[` + strings.Join(blocks, ",") + `],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`
}

func use(id, name, input string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, name, input)
}

func TestCommit_AttemptsAreOneStep(t *testing.T) { // D-RUN-03
	db := mustOpen(t)
	request := messagesRequest(ask("Do it"))
	var captures []*transcript.Capture
	for i, status := range []int{529, 529, 200, 200} {
		response := `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
		if status == 200 {
			response = messagesAnswer(`{"type":"text","text":"ok"}`)
		}
		c := capture(i, messagesPath, request, response)
		c.Status = status
		captures = append(captures, c)
	}
	got := tree(commit(t, db, captures...))
	want := []string{"r1 a1 1.1", "r1 a1 1.2", "r1 a1 1.3", "r2 a2 1.1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tree differs (-want +got):\n%s", diff)
	}
}

func TestCommit_AFailedStepInTheMiddleIsTriedAgain(t *testing.T) {
	db := mustOpen(t)
	first := capture(1, "/v1/chat/completions", chatAsk, chatCall)
	failed := capture(2, "/v1/chat/completions", chatReply, `{"error":{"message":"busy"}}`)
	failed.Status = 503
	again := capture(3, "/v1/chat/completions", chatReply, chatAnswer)
	fork := capture(4, "/v1/chat/completions", chatReply, chatAnswer)
	got := tree(commit(t, db, first, failed, again, fork))
	want := []string{"r1 a1 1.1", "r1 a1 2.1", "r1 a1 2.2", "r1 a1 2.1"} // the last is a branch
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tree differs (-want +got):\n%s", diff)
	}
}

func TestCommit_SubAgentsHangAtTheCallThatStartedThem(t *testing.T) { // D-RUN-02
	lines, err := os.ReadFile("testdata/D-RUN-02/exchanges.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		StartMS           int64 `json:"start_ms"`
		EndMS             int64 `json:"end_ms"`
		Headers           map[string]string
		Request, Response json.RawMessage
		Path              string
	}
	db := mustOpen(t)
	var captures []*transcript.Capture
	for i, line := range strings.Split(strings.TrimSpace(string(lines)), "\n") {
		var r row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		c := capture(i+1, r.Path, string(r.Request), string(r.Response))
		c.StartedAt, c.EndedAt = began.Add(time.Duration(r.StartMS)*time.Millisecond), began.Add(time.Duration(r.EndMS)*time.Millisecond)
		for name, value := range r.Headers {
			with(c, canonical(name)+": "+value)
		}
		captures = append(captures, c)
	}
	// They are taken in as they end.
	order := []int{0, 2, 1, 3, 4, 5}
	var ended []*transcript.Capture
	for _, i := range order {
		ended = append(ended, captures[i])
	}
	stored := commit(t, db, ended...)
	got := tree(stored)
	want := []string{"r1 a1 1.1", "r1 a2 1.1", "r1 a3 1.1", "r1 a2 2.1", "r1 a3 2.1", "r1 a1 2.1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tree differs (-want +got):\n%s", diff)
	}
	agents, err := db.Agents(context.Background(), stored[0].Link.Run)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"main – the first of its run", "sub /content/1 prompt_match", "sub /content/0 header"} {
		a := agents[i]
		got := fmt.Sprintf("sub %s %s", at(a.ParentCall), a.Evidence)
		if a.Main {
			got = fmt.Sprintf("main %s %s", at(a.ParentCall), a.Evidence)
		}
		if got != want {
			t.Errorf("agent %d: %s, want %s", i, got, want)
		}
	}
}

func at(p *transcript.Place) string {
	if p == nil {
		return "–"
	}
	return p.At
}

func canonical(name string) string {
	parts := strings.Split(name, "-")
	for i, p := range parts {
		parts[i] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, "-")
}

func TestCommit_ATitleRequestStandsBesideTheAgent(t *testing.T) {
	session := "X-Session-Id: ses_1"
	title := func(n int) *transcript.Capture {
		return with(capture(n, "/v1/chat/completions", chatRequest(user("Make a title")), chatAnswer), session)
	}
	work := func(n int) *transcript.Capture {
		body := strings.Replace(chatRequest(user("Do it")), `{"model"`, `{"tools":[{"type":"function","function":{"name":"f"}}],"model"`, 1)
		return with(capture(n, "/v1/chat/completions", body, chatCall), session)
	}
	for name, captures := range map[string][]*transcript.Capture{"before": {title(1), work(2)}, "after": {work(1), title(2)}} {
		db := mustOpen(t)
		got := tree(reread(t, db, commit(t, db, captures...)))
		want := []string{"r1 side", "r1 a1 1.1"}
		if name == "after" {
			want = []string{"r1 a1 1.1", "r1 side"}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: tree differs (-want +got):\n%s", name, diff)
		}
	}
}

func TestCommit_AnotherAgentsHistoryIsInheritedNotJoined(t *testing.T) {
	db := mustOpen(t)
	parent := []string{"Session-Id: s", "Thread-Id: s"}
	child := []string{"Session-Id: s", "Thread-Id: t", "X-Codex-Parent-Thread-Id: s"}
	got := tree(commit(t, db,
		with(capture(1, "/v1/chat/completions", chatAsk, chatCall), parent...),
		with(capture(2, "/v1/chat/completions", chatReply, chatCall), child...),
		with(capture(3, "/v1/chat/completions", chatReply, chatAnswer), parent...)))
	want := []string{"r1 a1 1.1", "r1 a2 1.1", "r1 a1 2.1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tree differs (-want +got):\n%s", diff)
	}
}

func TestCommit_APromptAloneJoinsNoStrangers(t *testing.T) {
	db := mustOpen(t)
	spawn := use("toolu_1", "Task", `{"prompt":"Study module A"}`)
	answered := messagesRequest(ask("Compare"), `{"role":"assistant","content":[`+spawn+`]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"done"}]}`)
	got := tree(commit(t, db,
		capture(1, messagesPath, messagesRequest(ask("Compare")), messagesAnswer(spawn)),
		capture(2, messagesPath, messagesRequest(ask("Study module A")), messagesAnswer(`{"type":"text","text":"big"}`)),
		capture(3, messagesPath, answered, messagesAnswer(`{"type":"text","text":"ok"}`)),
		capture(4, messagesPath, messagesRequest(ask("Study module A")), messagesAnswer(`{"type":"text","text":"big"}`))))
	want := []string{"r1 a1 1.1", "r1 a2 1.1", "r1 a1 2.1", "r2 a3 1.1"} // the call is answered by then
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tree differs (-want +got):\n%s", diff)
	}
}
