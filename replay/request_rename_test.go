package replay_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/replaytest"
	"github.com/retake-debugger/retake/transcript"
)

// A conversion gives a tool another name where the dialect does not take its own. The
// tape, and commands that were named, know it by the recorded one; so do takes that go
// on from such a take.
func TestPlay_AToolThatAConversionRenamedMatchesTheTape(t *testing.T) {
	const tools = `"tools":[{"type":"function","function":{"name":"files.read","parameters":{"type":"object"}}}]`
	call := func(id, path string) string {
		return `{"role":"assistant","content":null,"tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"files.read","arguments":"{\"path\":\"` + path + `\"}"}}]}`
	}
	const user = `{"role":"user","content":"go"}`
	answer := func(message string) string {
		return `{"id":"c","model":"m","choices":[{"index":0,"message":` + message + `,"finish_reason":"tool_calls"}]}`
	}
	second := user + "," + call("call_1", "a") + `,{"role":"tool","tool_call_id":"call_1","content":"text of a"}`
	third := second + "," + call("call_2", "b") + `,{"role":"tool","tool_call_id":"call_2","content":"text of b"}`
	b := newBench(t)
	var list []spoken
	for i, history := range []string{user, second, third} {
		message := `{"role":"assistant","content":"done"}`
		if i < 2 {
			message = call([]string{"call_1", "call_2"}[i], []string{"a", "b"}[i])
		}
		list = append(list, spoken{url: "https://api.openai.com/v1/chat/completions", request: `{"model":"m","messages":[` + history + `],` + tools + `}`, response: answer(message)})
	}
	recorded := commitAll(t, b.DB, list...)
	calls := 0
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), `"files_read"`) {
			t.Errorf("the tool was to be called files_read: %s", body)
		}
		content := m{"type": "text", "text": "done"}
		stop := "end_turn"
		if calls++; calls <= 2 {
			content, stop = m{"type": "tool_use", "id": []string{"toolu_1", "toolu_2"}[calls-1], "name": "files_read", "input": m{"path": []string{"a", "b"}[calls-1]}}, "tool_use"
		}
		send(w, m{"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": []m{content}, "stop_reason": stop, "usage": m{"input_tokens": 1, "output_tokens": 1}})
	}))
	t.Cleanup(model.Close)
	tape, err := replay.ReadRecorded(t.Context(), b.DB, recorded[0])
	if err != nil {
		t.Fatal(err)
	}
	req := replaytest.Prepare(t, b.DB, recorded[0])
	if _, err := req.ConvertTo(transcript.Messages, ""); err != nil {
		t.Fatal(err)
	}
	if err := req.SendTo(model.URL); err != nil {
		t.Fatal(err)
	}
	_, rec := tape.Sources(nil, nil)
	take, err := b.Player().Play(t.Context(), req, replay.Options{Sources: []replay.Source{rec}})
	if err != nil || take.StopReason != transcript.StopAnswered || sources(take) != "recorded recorded" {
		t.Fatalf("%+v, %v: %s", take, err, sources(take))
	}

	calls = 0
	_, rec = tape.Sources(nil, nil)
	stopped, err := b.Player().Play(t.Context(), req, replay.Options{Sources: []replay.Source{rec}, Limits: replay.Limits{Steps: 2}})
	if err != nil || stopped.StopReason != transcript.StopSteps {
		t.Fatalf("%+v, %v", stopped, err)
	}
	b.Exchange(stopped.Steps[1])
	again, resumed, err := replay.Resume(t.Context(), b.DB, stopped.Stored)
	if err != nil || len(resumed.Used) != 1 || !resumed.Calls[0].Is("files.read") || !resumed.Calls[0].Is("files_read") || resumed.Calls[0].Is("files") {
		t.Fatalf("%+v, %v", resumed, err)
	}
	if err := again.SendTo(model.URL); err != nil {
		t.Fatal(err)
	}
	_, rec = tape.Sources(nil, resumed.Used)
	take, err = b.Player().Play(t.Context(), again, replay.Options{Resume: resumed, Sources: []replay.Source{rec}})
	if err != nil || take.StopReason != transcript.StopAnswered || sources(take) != "recorded recorded" {
		t.Fatalf("%+v, %v: %s", take, err, sources(take))
	}
}
