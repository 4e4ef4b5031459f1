package replay_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/sample"
	"github.com/retake-debugger/retake/transcript"
)

// bodyReads counts how often a body is read.
type bodyReads struct {
	transcript.Store
	body  transcript.BodyID
	reads atomic.Int64
}

func (r *bodyReads) Body(ctx context.Context, b transcript.BodyID) (io.ReadCloser, error) {
	if b == r.body {
		r.reads.Add(1)
	}
	return r.Store.Body(ctx, b)
}

// One edit, from a part of a call id to the answer: the recorded body is read once, and
// it and the edited one are decoded once each.
func TestPlan_DecodesABodyOnce(t *testing.T) {
	bodies := map[transcript.Dialect]struct{ path, request, answer string }{
		transcript.Chat: {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"Weather?"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"w","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":"rain"}]}`,
			`{"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}]}`},
		transcript.Responses: {"/v1/responses", `{"model":"m","input":[{"role":"user","content":"Weather?"},{"type":"function_call","call_id":"call_1","name":"w","arguments":"{}"},{"type":"function_call_output","call_id":"call_1","output":"rain"}]}`,
			`{"object":"response","model":"m","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}]}`},
		transcript.Messages: {"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Weather?"},{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"w","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"rain"}]}],"tools":[{"name":"w","input_schema":{"type":"object"}}]}`,
			`{"type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn"}`},
	}
	edit := func(op, call, text string) transcript.Edit {
		return transcript.Edit{Op: op, CallID: call, Text: text}
	}
	temperature := transcript.Edit{Op: transcript.SetParam, Text: "temperature", Value: json.RawMessage("0")}
	arguments := transcript.Edit{Op: transcript.SetArgs, CallID: "all_1", Value: json.RawMessage(`{"city":"Oslo"}`)}
	for _, c := range []struct {
		name  string
		edits []transcript.Edit
		takes int
		want  int64
	}{
		{"no edit", nil, 0, 1},
		{"a result", []transcript.Edit{edit(transcript.SetResult, "all_1", "snow")}, 0, 2},
		{"four edits", []transcript.Edit{edit(transcript.SetModel, "", "m2"), temperature, arguments, edit(transcript.SetResult, "call_1", "snow")}, 0, 2},
		{"ten takes of two arms", []transcript.Edit{edit(transcript.SetResult, "call_1", "snow")}, 5, 2},
	} {
		for d, b := range bodies {
			t.Run(c.name+"/"+string(d), func(t *testing.T) {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					io.WriteString(w, b.answer)
				}))
				defer server.Close()
				bench := newBench(t)
				const first = "0190a000-0000-7000-8000-000000000001"
				resp, err := http.NewRequestWithContext(recorder.WithID(context.Background(), first), "POST", server.URL+b.path, strings.NewReader(b.request))
				if err != nil {
					t.Fatal(err)
				}
				answer, err := bench.Transport.RoundTrip(resp)
				if err != nil {
					t.Fatal(err)
				}
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
				origin := bench.Exchange(first)

				counted := &bodyReads{Store: bench.DB, body: origin.Request.Body}
				plan := replay.Plan{Origin: origin, Edits: c.edits, Takes: c.takes}
				ready, err := plan.Prepare(t.Context(), counted)
				if err != nil {
					t.Fatal(err)
				}
				player := bench.Player()
				player.Store = counted
				if c.takes == 0 {
					_, err = ready.Play(t.Context(), player, nil)
				} else {
					sampler := sample.Sampler{Player: player, Arms: ready.Arms, N: c.takes, Parallel: 2, Predicate: ready.Predicate, Group: "g"}
					_, err = sampler.Run(t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := ready.Decodes(); got != c.want {
					t.Errorf("%d request bodies were decoded, want %d", got, c.want)
				}
				if got := counted.reads.Load(); got != 1 {
					t.Errorf("the recorded request was read %d times", got)
				}
			})
		}
	}
}

// A request that was put together by hand is played like any other.
func TestPlayer_PlaysARequestMadeByHand(t *testing.T) {
	model := newScripted(t, 1)
	b := newBench(t)
	origin := b.first(model, "/v1/chat/completions")
	body := firsts["/v1/chat/completions"]
	req := &replay.Request{Origin: origin, Method: "POST", URL: origin.URL, Header: http.Header{}, Body: []byte(strings.Replace(body, "go", "stop", 1)), Recorded: []byte(body),
		Edits: []transcript.Edit{{Op: transcript.SetValue, At: "/messages/0/content", Value: json.RawMessage(`"stop"`)}}}
	take, err := b.Player().Play(t.Context(), req, replay.Options{Limits: replay.Limits{Steps: 1}})
	if err != nil || take.Outcome != transcript.OK || len(req.NewErrors()) > 0 {
		t.Errorf("%+v, %v", take, err)
	}
}
