package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// body is a captured body in memory.
type body string

func (b body) Size() int64                  { return int64(len(b)) }
func (b body) Open() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(b))), nil }

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// capture makes the n-th capture: each begins a minute after the one before
// and lasts a second.
func capture(n int, path, request, response string) *transcript.Capture {
	contentType := "application/json"
	if strings.HasPrefix(response, "event:") || strings.HasPrefix(response, "data:") {
		contentType = "text/event-stream"
	}
	at := began.Add(time.Duration(n) * time.Minute)
	return &transcript.Capture{
		ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", n), StartedAt: at, EndedAt: at.Add(time.Second),
		Method: "POST", URL: "https://api.example.com" + path, Status: 200, Outcome: transcript.OK,
		RequestHeader:  map[string][]string{"Content-Type": {"application/json"}},
		ResponseHeader: map[string][]string{"Content-Type": {contentType}},
		Request:        body(request), Response: body(response),
		Chunks: []transcript.Chunk{{Offset: 0, At: 200 * time.Millisecond}},
	}
}

func mustOpen(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func commit(t *testing.T, db *store.DB, captures ...*transcript.Capture) []*transcript.Exchange {
	t.Helper()
	stored, err := ingest.Commit(context.Background(), db, captures)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

const (
	chatCall   = `{"id":"chatcmpl-1","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_a","type":"function","function":{"name":"weather","arguments":"{\"city\": \"Oslo\"}"}},{"id":"call_b","type":"function","function":{"name":"time","arguments":""}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`
	chatAnswer = `{"id":"chatcmpl-2","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}],"usage":{"prompt_tokens":30,"completion_tokens":2,"total_tokens":32}}`
	chatAsk    = `{"model":"m","messages":[{"role":"system","content":"Today is Monday."},{"role":"user","content":"Weather?"}]}`
	chatReply  = `{"model":"m","messages":[{"role":"system","content":"Today is Tuesday."},{"role":"user","content":[{"type":"text","text":"Weather?"}]},{"role":"assistant","tool_calls":[{"type":"function","id":"call_a","function":{"arguments":"{\"city\":\"Oslo\"}","name":"weather"}},{"id":"call_b","type":"function","function":{"name":"time","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_b","content":"noon"},{"role":"tool","tool_call_id":"call_a","content":"rain"}]}`
)

func TestCommit_LinksARequestToTheAnswerThatItContinues(t *testing.T) {
	db := mustOpen(t)
	stored := commit(t, db, capture(1, "/v1/chat/completions", chatAsk, chatCall), capture(2, "/v1/chat/completions", chatReply, chatAnswer))
	first, second := stored[0], stored[1]
	if second.Link.Parent != first.ID || second.Link.By != "history" || second.Link.Run != first.Link.Run {
		t.Errorf("link = %+v, want a child of %s in its run", second.Link, first.ID)
	}
	if second.Link.Shared != 3 || second.Results != 2 || first.Calls != 2 {
		t.Errorf("shared %d, results %d, calls %d; want 3, 2, 2", second.Link.Shared, second.Results, first.Calls)
	}
	calls, err := db.Calls(context.Background(), []string{first.ID})
	if err != nil || len(calls) != 2 {
		t.Fatalf("calls = %v, %v; want two", calls, err)
	}
	for _, c := range calls {
		want := map[string]string{"call_a": "/messages/4", "call_b": "/messages/3"}[c.CallID]
		if len(c.Results) != 1 || c.Results[0].Exchange != second.ID || c.Results[0].At != want {
			t.Errorf("results of %s = %+v, want one at %s", c.CallID, c.Results, want)
		} else if l := c.Results[0].LatencyMS; l == nil || *l != 59_000 {
			t.Errorf("latency of %s = %v ms, want the time between answer and request", c.CallID, l)
		}
	}
}

func TestCommit_LinksAcrossCommits(t *testing.T) {
	db := mustOpen(t)
	first := commit(t, db, capture(1, "/v1/chat/completions", chatAsk, chatCall))[0]
	second := commit(t, db, capture(2, "/v1/chat/completions", chatReply, chatAnswer))[0]
	if second.Link.Parent != first.ID {
		t.Errorf("parent = %q, want %q", second.Link.Parent, first.ID)
	}
}

func TestCommit_KeepsIdenticalTasksApart(t *testing.T) {
	db := mustOpen(t)
	stored := commit(t, db, capture(1, "/v1/chat/completions", chatAsk, chatCall), capture(2, "/v1/chat/completions", chatAsk, chatCall),
		capture(3, "/v1/chat/completions", chatReply, chatAnswer), capture(4, "/v1/chat/completions", chatReply, chatAnswer))
	if stored[0].Link.Run == stored[1].Link.Run {
		t.Error("two identical tasks are one run")
	}
	if stored[2].Link.Parent != stored[1].ID || stored[3].Link.Parent != stored[0].ID {
		t.Errorf("parents %s and %s: want each first request continued once", stored[2].Link.Parent, stored[3].Link.Parent)
	}
	if !strings.Contains(stored[2].Link.Evidence, "ambiguous") {
		t.Errorf("evidence %q does not say that it was a choice", stored[2].Link.Evidence)
	}
}

func TestCommit_FollowsHistoryHeldByTheProvider(t *testing.T) {
	db := mustOpen(t)
	stored := commit(t, db,
		capture(1, "/v1/responses", `{"model":"m","input":"Weather?"}`, `{"id":"resp_1","object":"response","status":"completed","model":"m","output":[{"type":"function_call","id":"fc_1","call_id":"call_a","name":"weather","arguments":"{}"}]}`),
		capture(2, "/v1/responses", `{"model":"m","previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"call_a","output":"rain"}]}`, `{"id":"resp_2","object":"response","status":"completed","model":"m","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}]}`),
		capture(3, "/v1/responses", `{"model":"m","previous_response_id":"resp_never","input":"And now?"}`, `{"id":"resp_3","object":"response","status":"completed","output":[]}`))
	if l := stored[1].Link; l.Parent != stored[0].ID || l.By != "previous_response_id" {
		t.Errorf("link = %+v, want a child of %s by previous_response_id", l, stored[0].ID)
	}
	calls, err := db.Calls(context.Background(), []string{stored[0].ID})
	if err != nil || len(calls) != 1 || len(calls[0].Results) != 1 {
		t.Fatalf("calls = %+v, %v; want one with its result", calls, err)
	}
	if w := strings.Join(stored[2].Warnings, "; "); !strings.Contains(w, "resp_never was not recorded") {
		t.Errorf("warnings %q do not say that the history is missing", w)
	}
}

func TestCommit_FollowsThreadsHeldByTheProvider(t *testing.T) {
	db := mustOpen(t)
	stored := commit(t, db,
		capture(1, "/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Weather?"}],"thread":{"type":"create"}}`, `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_1","name":"weather","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`),
		capture(2, "/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"rain"}]}],"thread":{"type":"continue","previous_message_id":"msg_1"}}`, `{"id":"msg_2","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`))
	if l := stored[1].Link; l.Parent != stored[0].ID || l.OutLen != 4 {
		t.Errorf("link = %+v, want a child of %s with a history of four items", l, stored[0].ID)
	}
	calls, err := db.Calls(context.Background(), []string{stored[0].ID})
	if err != nil || len(calls) != 1 || len(calls[0].Results) != 1 {
		t.Fatalf("calls = %+v, %v; want one with its result", calls, err)
	}
}

func TestCommit_TwiceStoresOnce(t *testing.T) {
	db := mustOpen(t)
	c := capture(1, "/v1/chat/completions", chatAsk, chatCall)
	commit(t, db, c)
	if again := commit(t, db, c); len(again) != 0 {
		t.Errorf("a second commit stored %d exchanges", len(again))
	}
}

func TestCommit_BodiesComeBack(t *testing.T) {
	db := mustOpen(t)
	large := strings.Repeat("0123456789abcdef", 1<<17)
	for i, request := range []string{chatAsk, "not json \x00\xff", large} {
		e := commit(t, db, capture(i+1, "/v1/chat/completions", request, chatCall))[0]
		r, err := db.Body(context.Background(), e.Request.Body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		r.Close()
		if err != nil || !bytes.Equal(got, []byte(request)) {
			t.Errorf("body %d comes back with %d bytes (%v), want %d", i, len(got), err, len(request))
		}
	}
}

func TestCommit_SaysHowAnExchangeEnded(t *testing.T) {
	const start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n"
	const stop = "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	const failed = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
	tests := []struct {
		name     string
		saw      transcript.Outcome
		status   int
		response string
		want     transcript.Outcome
		complete bool
	}{
		{"whole", transcript.OK, 200, start + stop, transcript.OK, true},
		{"error inside a 200", transcript.OK, 200, start + failed, transcript.StreamError, false},
		{"refused", transcript.OK, 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, transcript.HTTPError, true},
		{"hang-up after the last event", transcript.ClientDisconnect, 200, start + stop, transcript.OK, true},
		{"hang-up in the middle", transcript.ClientDisconnect, 200, start, transcript.ClientDisconnect, false},
		{"crash", transcript.RecorderCrashed, 200, start, transcript.RecorderCrashed, false},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := capture(i, "/v1/messages", `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`, tt.response)
			c.Outcome, c.Status = tt.saw, tt.status
			e := commit(t, mustOpen(t), c)[0]
			if e.Outcome != tt.want || e.Complete != tt.complete {
				t.Errorf("outcome %s complete %v, want %s %v", e.Outcome, e.Complete, tt.want, tt.complete)
			}
		})
	}
}

func TestCommit_FollowsAClientThatRewritesItsHistory(t *testing.T) {
	db := mustOpen(t)
	minted := strings.NewReplacer("call_a", "call_Qz81hTn4Ka", "call_b", "call_7fLm20XcPq", `"Weather?"`, `"Weather, please?"`)
	stored := commit(t, db, capture(1, "/v1/chat/completions", chatAsk, strings.NewReplacer("call_a", "call_Qz81hTn4Ka", "call_b", "call_7fLm20XcPq").Replace(chatCall)),
		capture(2, "/v1/chat/completions", minted.Replace(chatReply), chatAnswer))
	if l := stored[1].Link; l.Parent != stored[0].ID || l.By != "call" || l.Run != stored[0].Link.Run || !strings.Contains(l.Evidence, "call_7fLm20XcPq") {
		t.Errorf("link = %+v, want a child of %s by the call that it repeats", l, stored[0].ID)
	}
	calls, err := db.Calls(context.Background(), []string{stored[0].ID})
	if err != nil || len(calls) != 2 || len(calls[0].Results) != 1 || len(calls[1].Results) != 1 {
		t.Fatalf("calls = %+v, %v; want two with their results", calls, err)
	}
}

// answered is how many results each recorded call of an exchange has.
func answered(t *testing.T, db *store.DB, exchange string) []int {
	t.Helper()
	calls, err := db.Calls(context.Background(), []string{exchange})
	if err != nil {
		t.Fatal(err)
	}
	var n []int
	for _, c := range calls {
		n = append(n, len(c.Results))
	}
	return n
}

// chatTurn is a message list and an answer in which calls have counted ids.
func chatAnswerWith(calls ...string) string {
	return fmt.Sprintf(`{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[%s]},"finish_reason":"tool_calls"}]}`, strings.Join(calls, ","))
}

func chatCalls(ids ...string) []string {
	var calls []string
	for _, id := range ids {
		calls = append(calls, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"ls","arguments":"{}"}}`, id))
	}
	return calls
}

func chatRequest(messages ...string) string {
	return `{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`
}

func assistant(calls ...string) string {
	return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `]}`
}

func user(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }

func tool(id, text string) string {
	return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, text)
}

func TestCommit_CountedCallIDsDoNotJoinStrangers(t *testing.T) {
	const path = "/v1/chat/completions"
	db := mustOpen(t)
	call := chatCalls("call_0")
	stored := commit(t, db,
		capture(1, path, chatRequest(user("One task")), chatAnswerWith(call...)),
		capture(2, path, chatRequest(user("Another, not recorded before"), assistant(call...), tool("call_0", "x")), chatAnswer))
	if stored[1].Link.Parent != "" || stored[1].Link.Run == stored[0].Link.Run {
		t.Errorf("link = %+v, want a run of its own", stored[1].Link)
	}
	if got := answered(t, db, stored[0].ID); got[0] != 0 {
		t.Errorf("the call of a stranger has %d results", got[0])
	}
}

func TestCommit_ARepeatedCallNeverLeavesTheRunOfItsHistory(t *testing.T) {
	const path = "/v1/chat/completions"
	db := mustOpen(t)
	own, other := chatCalls("call_1"), chatCalls("call_0")
	stored := commit(t, db,
		capture(1, path, chatRequest(user("A")), chatAnswerWith(own...)),
		capture(2, path, chatRequest(user("B")), chatAnswerWith(other...)),
		capture(3, path, chatRequest(user("A"), assistant(own...), tool("call_1", "x"), assistant(other...), tool("call_0", "injected")), chatAnswer))
	if stored[2].Link.Parent != stored[0].ID || stored[2].Link.By != "history" {
		t.Errorf("link = %+v, want a child of %s by history", stored[2].Link, stored[0].ID)
	}
	if got := answered(t, db, stored[1].ID); got[0] != 0 {
		t.Error("a stranger's call was given a result")
	}
}

func TestCommit_ALabelDecidesBetweenEqualHistories(t *testing.T) {
	const path = "/v1/chat/completions"
	db := mustOpen(t)
	label := func(c *transcript.Capture, l string) *transcript.Capture { c.Label = l; return c }
	call := chatCalls("call_0")
	next := chatRequest(user("Go"), assistant(call...), tool("call_0", "x"))
	stored := commit(t, db,
		label(capture(1, path, chatRequest(user("Go")), chatAnswerWith(call...)), "a"),
		label(capture(2, path, chatRequest(user("Go")), chatAnswerWith(call...)), "b"),
		label(capture(3, path, next, chatAnswer), "a"), label(capture(4, path, next, chatAnswer), "b"))
	if stored[2].Link.Parent != stored[0].ID || stored[3].Link.Parent != stored[1].ID {
		t.Errorf("parents %s and %s, want each of its own label", stored[2].Link.Parent, stored[3].Link.Parent)
	}
}

func TestCommit_AReplayDoesNotTakeOverTheLiveAgent(t *testing.T) {
	const path = "/v1/chat/completions"
	db := mustOpen(t)
	call := chatCalls("call_0")
	stored := commit(t, db,
		capture(1, path, chatRequest(user("Go")), chatAnswerWith(call...)), capture(2, path, chatRequest(user("Go")), chatAnswerWith(call...)))
	err := db.Update(context.Background(), func(tx transcript.Tx) error {
		return tx.PutTake(&transcript.Take{ID: "0190a000-0000-7000-8000-0000000000f0", Origin: stored[0].ID, Steps: oneStep(stored[1].ID), Edits: "[]"})
	})
	if err != nil {
		t.Fatal(err)
	}
	next := commit(t, db, capture(3, path, chatRequest(user("Go"), assistant(call...), tool("call_0", "x")), chatAnswer))[0]
	if next.Link.Parent != stored[0].ID {
		t.Errorf("parent = %s, want the agent's own step %s", next.Link.Parent, stored[0].ID)
	}
}

func TestCommit_EqualCallsKeepTheirOwnResults(t *testing.T) {
	const path = "/v1/chat/completions"
	tests := []struct {
		name    string
		results []string
		want    []int
	}{
		{"both answered", []string{tool("", "one"), tool("", "two")}, []int{1, 1}},
		{"only the first", []string{tool("", "one")}, []int{1, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := mustOpen(t)
			calls := chatCalls("", "")
			stored := commit(t, db, capture(1, path, chatRequest(user("Go")), chatAnswerWith(calls...)),
				capture(2, path, chatRequest(append([]string{user("Go"), assistant(calls...)}, tt.results...)...), chatAnswer))
			got := answered(t, db, stored[0].ID)
			if len(got) != 2 || got[0] != tt.want[0] || got[1] != tt.want[1] {
				t.Errorf("results = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestCommit_ADoubledResultGoesToNoOtherCall(t *testing.T) {
	const path = "/v1/chat/completions"
	db := mustOpen(t)
	call := chatCalls("call_0")
	first := []string{user("Go"), assistant(call...), tool("call_0", "r1")}
	second := append(append([]string{}, first...), assistant(call...), tool("call_0", "r2"), tool("call_0", "r2 again"))
	stored := commit(t, db,
		capture(1, path, chatRequest(user("Go")), chatAnswerWith(call...)),
		capture(2, path, chatRequest(first...), chatAnswerWith(call...)),
		capture(3, path, chatRequest(second...), chatAnswer))
	for i, want := range []string{"/messages/2", "/messages/4"} {
		calls, err := db.Calls(context.Background(), []string{stored[i].ID})
		if err != nil || len(calls) != 1 || len(calls[0].Results) != 1 || calls[0].Results[0].At != want {
			t.Errorf("x%d: calls = %+v (%v), want one result at %s", i+1, calls, err, want)
		}
	}
}

// broken is a body whose second half cannot be read.
type broken int64

func (b broken) Size() int64 { return int64(b) }
func (b broken) Open() (io.ReadCloser, error) {
	return io.NopCloser(io.MultiReader(io.LimitReader(zeros{}, int64(b)/2), failing{})), nil
}

type (
	zeros   struct{}
	failing struct{}
)

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
func (failing) Read([]byte) (int, error) { return 0, fmt.Errorf("input/output error") }

func TestCommit_AnUnreadableBodyStopsNobodyElse(t *testing.T) {
	for _, size := range []int64{1000, 65 << 20} {
		db := mustOpen(t)
		bad := capture(1, "/v1/chat/completions", chatAsk, chatCall)
		bad.Response = broken(size)
		stored := commit(t, db, bad, capture(2, "/v1/chat/completions", chatAsk, chatCall))
		if len(stored) != 2 || !stored[0].Lossy || stored[0].Response.DecodeError == "" || stored[0].Response.Bytes != size/2 || stored[1].Lossy {
			t.Errorf("size %d: %d stored, first lossy %v with %d bytes (%s)", size, len(stored), stored[0].Lossy, stored[0].Response.Bytes, stored[0].Response.DecodeError)
		}
		if problems, err := db.Verify(context.Background(), nil); err != nil || len(problems) != 0 {
			t.Errorf("size %d: verify finds %v (%v)", size, problems, err)
		}
	}
}
