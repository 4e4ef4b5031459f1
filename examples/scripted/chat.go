package scripted

import "encoding/json"

// chat is the OpenAI Chat Completions API.
type chat struct{}

func (chat) read(body []byte) (conversation, error) {
	var req struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role      string
			Content   json.RawMessage
			ToolCalls []json.RawMessage `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return conversation{}, err
	}
	c := conversation{model: req.Model, stream: req.Stream}
	for _, m := range req.Messages {
		if len(m.ToolCalls) > 0 {
			c.rounds++
		}
		if m.Role == "tool" {
			c.results = append(c.results, textOf(m.Content))
		}
	}
	return c, nil
}

func chatStop(r reply) string {
	if len(r.calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func chatUsage() object {
	return object{"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150}
}

func (chat) whole(r reply) any {
	message := object{"role": "assistant", "content": nil}
	if r.text != "" {
		message["content"] = r.text
	}
	var calls []object
	for i, c := range r.calls {
		calls = append(calls, object{"id": r.callIDs[i], "type": "function", "function": object{"name": c.Name, "arguments": c.Arguments}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return object{"id": "chatcmpl-" + r.id, "object": "chat.completion", "created": 1700000000, "model": r.model,
		"choices": []object{{"index": 0, "message": message, "finish_reason": chatStop(r)}}, "usage": chatUsage()}
}

func (chat) events(r reply) []event {
	out := []event{}
	chunk := func(choices []object, usage any) {
		out = append(out, event{"", object{"id": "chatcmpl-" + r.id, "object": "chat.completion.chunk", "created": 1700000000,
			"model": r.model, "choices": choices, "usage": usage}})
	}
	delta := func(d object) { chunk([]object{{"index": 0, "delta": d, "finish_reason": nil}}, nil) }
	delta(object{"role": "assistant", "content": ""})
	if r.text != "" {
		for _, h := range halves(r.text) {
			delta(object{"content": h})
		}
	}
	for i, c := range r.calls {
		delta(object{"tool_calls": []object{{"index": i, "id": r.callIDs[i], "type": "function", "function": object{"name": c.Name, "arguments": ""}}}})
		for _, h := range halves(c.Arguments) {
			delta(object{"tool_calls": []object{{"index": i, "function": object{"arguments": h}}}})
		}
	}
	chunk([]object{{"index": 0, "delta": object{}, "finish_reason": chatStop(r)}}, nil)
	chunk([]object{}, chatUsage())
	return append(out, event{"", "[DONE]"})
}
