package minimise_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// strict is a model that calls "escalate" where a request holds all of the causes, and
// "wait" otherwise. Like the providers it refuses what is not whole.
type strict struct {
	t      *testing.T
	causes []string
	flaky  func(n int, shows bool) bool // may change its mind at the nth request
	status func(n int) int              // what it answers instead, 0 for an answer
	mu     sync.Mutex
	bodies []string
	broken []string // why requests were refused
	server *httptest.Server
}

func newStrict(t *testing.T, causes ...string) *strict {
	s := &strict{t: t, causes: causes}
	s.server = httptest.NewServer(s)
	t.Cleanup(s.server.Close)
	return s
}

func (s *strict) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	fault := faultOf(r.URL.Path, raw)
	s.mu.Lock()
	n := len(s.bodies)
	s.bodies = append(s.bodies, string(raw))
	if fault != "" {
		s.broken = append(s.broken, fault)
	}
	shows := !slices.ContainsFunc(s.causes, func(c string) bool { return !strings.Contains(string(raw), c) })
	if s.flaky != nil {
		shows = s.flaky(n, shows)
	}
	status := 0
	if s.status != nil {
		status = s.status(n)
	}
	s.mu.Unlock()
	if fault != "" {
		status = http.StatusBadRequest
	}
	if status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"type":"invalid_request_error","message":%q}}`, fault)
		return
	}
	tool := "wait"
	if shows {
		tool = "escalate"
	}
	s.answer(w, r.URL.Path, tool)
}

func (s *strict) answer(w http.ResponseWriter, path, tool string) {
	switch path {
	case "/v1/messages":
		send(w, m{"id": "msg", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
			"content": []m{{"type": "tool_use", "id": "toolu_new", "name": tool, "input": m{"level": 2}}}, "usage": m{"input_tokens": 10, "output_tokens": 5}})
	case "/v1/responses":
		send(w, m{"id": "resp", "object": "response", "model": "m", "status": "completed", "usage": m{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
			"output": []m{{"type": "function_call", "id": "fc_new", "call_id": "call_new", "name": tool, "arguments": `{"level":2}`, "status": "completed"}}})
	default:
		send(w, m{"id": "c", "object": "chat.completion", "model": "m", "usage": m{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
			"choices": []m{{"index": 0, "finish_reason": "tool_calls", "message": m{"role": "assistant", "content": nil, "tool_calls": []m{
				{"id": "call_new", "type": "function", "function": m{"name": tool, "arguments": `{"level":2}`}}}}}}})
	}
}

// strictBody is what a provider looks at before it answers.
type strictBody struct {
	Messages []strictMessage
	Input    []struct {
		Type, Role, ID string
		CallID         string `json:"call_id"`
	}
	Tools      *[]json.RawMessage
	ToolChoice json.RawMessage `json:"tool_choice"`
}

type strictMessage struct {
	Role       string
	Content    json.RawMessage
	ToolCalls  *[]struct{ ID string } `json:"tool_calls"`
	ToolCallID string                 `json:"tool_call_id"`
}

// faultOf says what a provider would refuse in a request, in words of its own: nothing
// of lint is asked.
func faultOf(path string, raw []byte) string {
	var body strictBody
	if err := json.Unmarshal(raw, &body); err != nil {
		return err.Error()
	}
	body.Messages = slices.DeleteFunc(body.Messages, func(x strictMessage) bool { return x.Role == "system" })
	switch {
	case body.Tools != nil && len(*body.Tools) == 0:
		return "tools are empty"
	case body.Tools == nil && body.ToolChoice != nil:
		return "tool_choice without tools"
	case len(body.Messages)+len(body.Input) == 0:
		return "no messages"
	case path == "/v1/responses":
		return responsesFault(&body)
	case body.Messages[len(body.Messages)-1].Role == "assistant":
		return "prefill is not supported"
	case path == "/v1/messages":
		return messagesFault(body.Messages)
	}
	return chatFault(body.Messages)
}

func responsesFault(body *strictBody) string {
	open, thought := map[string]bool{}, ""
	for _, it := range body.Input {
		if model := it.Type == "function_call" || it.Role == "assistant"; thought != "" && !model {
			return "reasoning " + thought + " without its following item"
		}
		if it.Type == "function_call" && thought != "rs_"+it.ID && !strings.HasPrefix(it.ID, "fc_free") {
			return "function_call " + it.ID + " without its reasoning"
		}
		thought = ""
		switch it.Type {
		case "reasoning":
			thought = it.ID
		case "function_call":
			open[it.CallID] = true
		case "function_call_output":
			if !open[it.CallID] {
				return "no call for the output " + it.CallID
			}
			delete(open, it.CallID)
		}
	}
	if len(open) > 0 {
		return "no output for a call"
	}
	return ""
}

func without(list []string, s string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(x string) bool { return x == s })
}

func messagesFault(messages []strictMessage) string {
	var open []string
	for i, x := range messages {
		var blocks []struct {
			Type, ID, Text string
			ToolUseID      string `json:"tool_use_id"`
		}
		if json.Unmarshal(x.Content, &blocks) == nil && len(blocks) == 0 || string(x.Content) == `""` {
			return "no content"
		}
		if i == 0 && x.Role != "user" {
			return "the first message is not a user's"
		}
		had, thought := open, false
		open = nil
		for _, b := range blocks {
			switch {
			case b.Type == "text" && b.Text == "":
				return "empty text"
			case b.Type == "thinking":
				thought = true
			case b.Type == "tool_use" && !thought:
				return "Expected thinking, but found tool_use"
			case b.Type == "tool_use":
				open = append(open, b.ID)
			case b.Type == "tool_result" && !slices.Contains(had, b.ToolUseID):
				return "unexpected tool_use_id " + b.ToolUseID
			case b.Type == "tool_result":
				had = without(had, b.ToolUseID)
			}
		}
		if len(had) > 0 {
			return "tool_use without tool_result right behind: " + had[0]
		}
		if thought && len(blocks) == 1 {
			return "nothing but thinking"
		}
	}
	return ""
}

func chatFault(messages []strictMessage) string {
	var open []string
	for _, x := range messages {
		switch {
		case x.Role == "tool" && !slices.Contains(open, x.ToolCallID):
			return "no call before " + x.ToolCallID
		case x.Role == "tool":
			open = without(open, x.ToolCallID)
		case len(open) > 0:
			return "tool_calls without results: " + open[0]
		case x.ToolCalls != nil && len(*x.ToolCalls) == 0:
			return "tool_calls are empty"
		case x.ToolCalls != nil:
			for _, c := range *x.ToolCalls {
				open = append(open, c.ID)
			}
		case len(x.Content) == 0 || string(x.Content) == "null":
			return "no content"
		}
	}
	if len(open) > 0 {
		return "calls without results at the end"
	}
	return ""
}
