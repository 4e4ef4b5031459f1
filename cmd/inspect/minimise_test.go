package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/examples/scripted"
	"github.com/retake-debugger/retake/transcript"
)

// newClerk starts a model that escalates if a request holds RULE-7 and TICKET-41, or
// COIN and it is its turn: two times of three. Otherwise it waits. It takes its time
// where it finds SLOW.
func newClerk(t *testing.T) (url string) {
	escalate := &scripted.Step{Calls: []scripted.Call{{Name: "escalate", Arguments: `{"level":2}`}}}
	wait := &scripted.Step{Calls: []scripted.Call{{Name: "wait", Arguments: `{}`}}}
	var mu sync.Mutex
	coins := 0
	clerk := httptest.NewServer(&scripted.Model{Choose: func(request []byte) *scripted.Step {
		has := func(s string) bool { return bytes.Contains(request, []byte(s)) }
		if has("SLOW") {
			time.Sleep(300 * time.Millisecond)
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case has("COIN"):
			if coins++; coins%3 > 0 {
				return escalate
			}
		case has("RULE-7") && has("TICKET-41"):
			return escalate
		}
		return wait
	}})
	t.Cleanup(clerk.Close)
	return clerk.URL
}

// story writes an exchange of n items: a system prompt, a user, calls with their
// results, some of them three at once. Each of planted is TEXT@ITEM.
func story(dir, speaks, n string, planted []string) error {
	items, err := strconv.Atoi(n)
	if err != nil {
		return err
	}
	body, err := storyBody(items, planted)
	if err != nil {
		return err
	}
	d := transcript.Dialect(speaks)
	if d != transcript.Chat {
		if body, _, err = dialect.Convert(transcript.Chat, d, body); err != nil {
			return err
		}
	}
	path := map[transcript.Dialect]string{transcript.Chat: "/v1/chat/completions", transcript.Responses: "/v1/responses", transcript.Messages: "/v1/messages"}[d]
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, text := range map[string]string{"path": path, "1.request.json": string(body), "1.response.json": storyAnswers[d]} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

var storyAnswers = map[transcript.Dialect]string{
	transcript.Chat:      `{"id":"c1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_z","type":"function","function":{"name":"escalate","arguments":"{\"level\":2}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1000,"completion_tokens":30,"total_tokens":1030}}`,
	transcript.Responses: `{"id":"r1","object":"response","model":"m","status":"completed","output":[{"type":"function_call","id":"fc_z","call_id":"call_z","name":"escalate","arguments":"{\"level\":2}","status":"completed"}]}`,
	transcript.Messages:  `{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"call_z","name":"escalate","input":{"level":2}}],"stop_reason":"tool_use"}`,
}

func storyBody(n int, planted []string) ([]byte, error) {
	type object = map[string]any
	k := -1
	text := func() string {
		k++
		s := fmt.Sprintf("Note %d: all is well.", k)
		for _, p := range planted {
			if what, at, _ := strings.Cut(p, "@"); at == strconv.Itoa(k) {
				s += " " + what
			}
		}
		return s
	}
	messages := []object{{"role": "system", "content": text()}, {"role": "user", "content": text()}}
	for round := 0; k < n-1; round++ {
		var calls, results []object
		for i := range 1 + round%2*2 {
			if k == n-1 {
				break
			}
			id := fmt.Sprintf("call_%d_%d", round, i)
			calls = append(calls, object{"id": id, "type": "function", "function": object{"name": "look", "arguments": fmt.Sprintf(`{"n":%d}`, 10*round+i)}})
			results = append(results, object{"role": "tool", "tool_call_id": id, "content": text()})
		}
		messages = slices.Concat(messages, []object{{"role": "assistant", "content": nil, "tool_calls": calls}}, results)
	}
	var tools []object
	for _, name := range []string{"look", "escalate", "wait"} {
		tools = append(tools, object{"type": "function", "function": object{"name": name, "parameters": object{"type": "object"}}})
	}
	return json.Marshal(object{"model": "m", "max_tokens": 500, "messages": messages, "tools": tools})
}
