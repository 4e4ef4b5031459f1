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
		} else if c.Results[0].LatencyMS != 59_000 {
			t.Errorf("latency of %s = %v ms, want the time between answer and request", c.CallID, c.Results[0].LatencyMS)
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
	reply := strings.Replace(chatReply, `"Weather?"`, `"What is the weather, please?"`, 1)
	stored := commit(t, db, capture(1, "/v1/chat/completions", chatAsk, chatCall), capture(2, "/v1/chat/completions", reply, chatAnswer))
	if l := stored[1].Link; l.Parent != stored[0].ID || l.By != "call" || l.Run != stored[0].Link.Run || !strings.Contains(l.Evidence, "call_b") {
		t.Errorf("link = %+v, want a child of %s by the call that it repeats", l, stored[0].ID)
	}
	calls, err := db.Calls(context.Background(), []string{stored[0].ID})
	if err != nil || len(calls) != 2 || len(calls[0].Results) != 1 || len(calls[1].Results) != 1 {
		t.Fatalf("calls = %+v, %v; want two with their results", calls, err)
	}
}
