package replay_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// spoken is one exchange with a provider; url "" is that of the Responses API.
type spoken struct{ url, request, response string }

const (
	responsesURL = "https://api.openai.com/v1/responses"
	messagesURL  = "https://api.anthropic.com/v1/messages"
)

// recordAll records exchanges one after the other.
func recordAll(t *testing.T, all ...spoken) (*store.DB, []*transcript.Exchange) {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db, commitAll(t, db, all...)
}

func commitAll(t *testing.T, db *store.DB, all ...spoken) (stored []*transcript.Exchange) {
	t.Helper()
	for i, s := range all {
		if s.url == "" {
			s.url = responsesURL
		}
		at := time.Unix(int64(10*i+1), 0)
		done, err := ingest.Commit(context.Background(), db, []*transcript.Capture{{
			ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", i+1), StartedAt: at, EndedAt: at.Add(time.Second), Method: "POST", URL: s.url,
			Status: 200, Outcome: transcript.OK, Request: body(s.request), Response: body(s.response)}})
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, done...)
	}
	return stored
}

func answered(id, output string) string {
	return `{"id":"` + id + `","object":"response","status":"completed","model":"m","output":[` + output + `]}`
}

const (
	heldCall   = `{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{ }","status":"completed"}`
	heldThink  = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA\/="}`
	heldResult = `{"type":"function_call_output","call_id":"c1","output":"old"}`
	heldText   = `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Done.","annotations":[]}]}`
)

func TestFull_PutsInWhatTheProviderHolds(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []spoken
		want  string // of the last one
		held  bool
	}{
		{"nothing", []spoken{{request: `{ "model":"m","input":"hi"}`, response: answered("resp_1", heldText)}}, `{ "model":"m","input":"hi"}`, false},
		{"answers before", []spoken{
			{request: `{"model":"m","instructions":"not inherited","input":"hi"}`, response: answered("resp_1", heldThink+","+heldCall)},
			{request: `{"model":"m","previous_response_id":"resp_1","input":[` + heldResult + `]}`, response: answered("resp_2", heldText)},
			{request: `{ "model":"m", "previous_response_id":"resp_2", "input":"more" }`, response: answered("resp_3", heldText)}},
			`{ "model":"m", "input":[{"role":"user","content":"hi"},` + heldThink + `,` + heldCall + `,` + heldResult + `,` + heldText + `,{"role":"user","content":"more"}] }`, true},
		{"a conversation", []spoken{
			{url: "https://api.openai.com/v1/conversations", request: `{}`, response: `{"id":"conv_1","object":"conversation"}`},
			{request: `{"model":"m","conversation":"conv_1","input":"hi"}`, response: answered("resp_1", heldCall)},
			{request: `{"model":"m","conversation":{"id":"conv_1"},"input":[` + heldResult + `]}`, response: answered("resp_2", heldText)}},
			`{"model":"m","input":[{"role":"user","content":"hi"},` + heldCall + `,` + heldResult + `]}`, true},
		{"references to items", []spoken{
			{request: `{"model":"m","input":"hi"}`, response: answered("resp_1", heldThink+","+heldCall)},
			{request: `{"model":"m","input":[{"role":"user","content":"hi"},{"type":"item_reference","id":"rs_1"},{"type":"item_reference","id":"fc_1"},` + heldResult + `]}`, response: answered("resp_2", heldText)}},
			`{"model":"m","input":[{"role":"user","content":"hi"},` + heldThink + `,` + heldCall + `,` + heldResult + `]}`, true},
		{"a thread", []spoken{
			{url: messagesURL, request: `{"model":"m","max_tokens":9,"thread":{"type":"create"},"messages":[{"role":"user","content":"hi"}]}`, response: `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c1","name":"f","input":{"n":1.10}}],"stop_reason":"tool_use"}`},
			{url: messagesURL, request: `{"model":"m","max_tokens":9,"thread":{"type":"continue","previous_message_id":"msg_1"},"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"old"}]}]}`, response: `{"id":"msg_2","type":"message","role":"assistant","model":"m","content":[],"stop_reason":"end_turn"}`}},
			`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{"n":1.10}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"old"}]}]}`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, stored := recordAll(t, c.steps...)
			got, held, err := replay.Full(context.Background(), db, stored[len(stored)-1])
			if err != nil || string(got) != c.want || held != c.held {
				t.Errorf("held %v (%v)\n%s\nwant\n%s", held, err, got, c.want)
			}
		})
	}
}

func TestPrepare_EditsAResultThatTheProviderHolds(t *testing.T) {
	db, stored := recordAll(t,
		spoken{request: `{"model":"m","input":"hi"}`, response: answered("resp_1", heldCall)},
		spoken{request: `{"model":"m","previous_response_id":"resp_1","input":[` + heldResult + `]}`, response: answered("resp_2", heldText)},
		spoken{request: `{"model":"m","previous_response_id":"resp_2","input":"more"}`, response: answered("resp_3", heldText)})
	r, err := replay.NewRequest(context.Background(), db, stored[2], []transcript.Edit{{Op: transcript.SetResult, CallID: "c1", Text: "new"}})
	if err != nil || !r.Held {
		t.Fatalf("held %v: %v", r != nil && r.Held, err)
	}
	if want := strings.Replace(string(r.Recorded), `"old"`, `"new"`, 1); string(r.Body) != want || !strings.Contains(want, `"new"`) {
		t.Errorf("body %s, want %s", r.Body, want)
	}
}

func TestFull_RefusesAndSaysWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []spoken
		want  string
	}{
		{"an answer", []spoken{{request: `{"model":"m","previous_response_id":"resp_0","input":"x"}`, response: answered("resp_1", "")}}, "resp_0"},
		{"an answer that broke off", []spoken{
			{request: `{"model":"m","stream":true,"input":"hi"}`, response: "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"in_progress\",\"output\":[]}}\n\n"},
			{request: `{"model":"m","previous_response_id":"resp_1","input":"x"}`, response: answered("resp_2", "")}}, "x1"},
		{"a conversation", []spoken{{request: `{"model":"m","conversation":"conv_0","input":"x"}`, response: answered("resp_1", "")}}, "conv_0"},
		{"a conversation that was filled", []spoken{
			{url: "https://api.openai.com/v1/conversations", request: `{"items":[{"role":"user","content":"hi"}]}`, response: `{"id":"conv_1","object":"conversation"}`},
			{request: `{"model":"m","conversation":"conv_1","input":"hi"}`, response: answered("resp_1", heldText)}}, "x1"},
		{"an item", []spoken{{request: `{"model":"m","input":[{"type":"item_reference","id":"rs_0"}]}`, response: answered("resp_1", "")}}, "rs_0"},
		{"a message of a thread", []spoken{{url: messagesURL, request: `{"model":"m","max_tokens":9,"thread":{"type":"continue","previous_message_id":"msg_0"},"messages":[]}`, response: `{"id":"msg_2","type":"message","role":"assistant","model":"m","content":[],"stop_reason":"end_turn"}`}}, "msg_0"},
	} {
		db, stored := recordAll(t, c.steps...)
		got, _, err := replay.Full(context.Background(), db, stored[len(stored)-1])
		if !errors.Is(err, replay.ErrHeld) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want ErrHeld that names %s; body %s", c.name, err, c.want, got)
		}
	}
}
