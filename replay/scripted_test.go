package replay_test

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// scripted is a model of three dialects that needs nothing but the request: it calls
// a tool until it has had as many results as it wants, then answers with the sum of
// them. Ids differ from request to request.
type scripted struct {
	t        *testing.T
	rounds   int
	parallel int // calls of the first round
	stream   bool
	refuse   []int // statuses of the first requests
	mu       sync.Mutex
	requests []string
	server   *httptest.Server
}

func newScripted(t *testing.T, rounds int) *scripted {
	s := &scripted{t: t, rounds: rounds, parallel: 1}
	s.server = httptest.NewServer(s)
	t.Cleanup(s.server.Close)
	return s
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, string(body))
	status := 0
	if n < len(s.refuse) {
		status = s.refuse[n]
	}
	s.mu.Unlock()
	if status != 0 {
		w.Header().Set("Retry-After", "0.001")
		w.WriteHeader(status)
		io.WriteString(w, `{"error":{"type":"busy","message":"later"}}`)
		return
	}
	switch r.URL.Path {
	case "/v1/messages":
		s.messages(w, body, n)
	case "/v1/responses":
		s.responses(w, body, n)
	default:
		s.chat(w, body, n)
	}
}

// next says what the model does after so many results: the arguments of its calls,
// or its last word.
func (s *scripted) next(results []string) (calls []string, text string) {
	rounds := 0
	for left := len(results); left > 0; rounds++ {
		if rounds == 0 {
			left -= s.parallel
		} else {
			left--
		}
	}
	switch {
	case rounds >= s.rounds:
		return nil, sum(results)
	case rounds == 0:
		for i := range s.parallel {
			calls = append(calls, fmt.Sprintf(`{"n": %d}`, i))
		}
		return calls, ""
	}
	return []string{fmt.Sprintf(`{"n":%d.0}`, rounds+s.parallel-1)}, ""
}

func sum(results []string) string {
	h := sha1.Sum([]byte(strings.Join(results, "\n")))
	return "FINAL " + hex.EncodeToString(h[:])
}

func send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

type m = map[string]any

func (s *scripted) chat(w http.ResponseWriter, body []byte, n int) {
	var req struct {
		Messages []struct{ Role, Content string }
	}
	_ = json.Unmarshal(body, &req)
	var results []string
	for _, x := range req.Messages {
		if x.Role == "tool" {
			results = append(results, x.Content)
		}
	}
	calls, text := s.next(results)
	message, finish := m{"role": "assistant", "content": text}, "stop"
	if calls != nil {
		var list []m
		for i, c := range calls {
			list = append(list, m{"index": i, "id": fmt.Sprintf("call_%d_%d", n, i), "type": "function", "function": m{"name": "look", "arguments": c}})
		}
		message, finish = m{"role": "assistant", "content": nil, "tool_calls": list}, "tool_calls"
	}
	usage := m{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
	if !s.stream {
		send(w, m{"id": "c", "object": "chat.completion", "model": "m", "choices": []m{{"index": 0, "message": message, "finish_reason": finish}}, "usage": usage})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, c := range []m{
		{"object": "chat.completion.chunk", "model": "m", "choices": []m{{"index": 0, "delta": message}}},
		{"object": "chat.completion.chunk", "model": "m", "choices": []m{{"index": 0, "delta": m{}, "finish_reason": finish}}},
		{"object": "chat.completion.chunk", "model": "m", "choices": []m{}, "usage": usage},
	} {
		b, _ := json.Marshal(c)
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
	io.WriteString(w, "data: [DONE]\n\n")
}

func (s *scripted) messages(w http.ResponseWriter, body []byte, n int) {
	var req struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	_ = json.Unmarshal(body, &req)
	var results []string
	for _, x := range req.Messages {
		var blocks []struct{ Type, Content string }
		_ = json.Unmarshal(x.Content, &blocks)
		for _, b := range blocks {
			if b.Type == "tool_result" {
				results = append(results, b.Content)
			}
		}
	}
	calls, text := s.next(results)
	content, finish := []m{{"type": "text", "text": text}}, "end_turn"
	if calls != nil {
		content, finish = nil, "tool_use"
		for i, c := range calls {
			content = append(content, m{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", n, i), "name": "look", "input": json.RawMessage(c)})
		}
	}
	usage := m{"input_tokens": 100, "output_tokens": 10}
	if !s.stream {
		send(w, m{"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": finish, "usage": usage})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(name string, v m) {
		v["type"] = name
		b, _ := json.Marshal(v)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, b)
	}
	event("message_start", m{"message": m{"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": []m{}, "usage": usage}})
	for i, b := range content {
		input, isCall := b["input"]
		if isCall {
			b["input"] = m{}
		}
		event("content_block_start", m{"index": i, "content_block": b})
		if isCall {
			event("content_block_delta", m{"index": i, "delta": m{"type": "input_json_delta", "partial_json": string(input.(json.RawMessage))}})
		}
		event("content_block_stop", m{"index": i})
	}
	event("message_delta", m{"delta": m{"stop_reason": finish}, "usage": m{"output_tokens": 10}})
	event("message_stop", m{})
}

func (s *scripted) responses(w http.ResponseWriter, body []byte, n int) {
	var req struct {
		Input []struct {
			Type   string
			Output json.RawMessage
		}
	}
	_ = json.Unmarshal(body, &req)
	var results []string
	for _, x := range req.Input {
		if x.Type == "function_call_output" {
			var text string
			_ = json.Unmarshal(x.Output, &text)
			results = append(results, text)
		}
	}
	calls, text := s.next(results)
	output := []m{{"type": "reasoning", "id": fmt.Sprintf("rs_%d", n), "summary": []m{}, "encrypted_content": fmt.Sprintf("blob%d", n)}}
	if calls == nil {
		output = append(output, m{"type": "message", "id": "msg", "role": "assistant", "status": "completed", "content": []m{{"type": "output_text", "text": text, "annotations": []m{}}}})
	}
	for i, c := range calls {
		output = append(output, m{"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", n, i), "call_id": fmt.Sprintf("call_%d_%d", n, i), "name": "look", "arguments": c, "status": "completed"})
	}
	object := m{"id": fmt.Sprintf("resp_%d", n), "object": "response", "model": "m", "status": "completed", "output": output, "usage": m{"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}}
	if !s.stream {
		send(w, object)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	b, _ := json.Marshal(m{"type": "response.completed", "response": object})
	fmt.Fprintf(w, "event: response.completed\ndata: %s\n\n", b)
}
