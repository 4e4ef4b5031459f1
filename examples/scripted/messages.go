package scripted

import "encoding/json"

// messages is the Anthropic Messages API.
type messages struct{}

func (messages) read(body []byte) (conversation, error) {
	var req struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return conversation{}, err
	}
	c := conversation{model: req.Model, stream: req.Stream}
	for _, m := range req.Messages {
		var blocks []struct {
			Type    string
			Content json.RawMessage
		}
		_ = json.Unmarshal(m.Content, &blocks)
		called := false
		for _, b := range blocks {
			called = called || b.Type == "tool_use"
			if b.Type == "tool_result" {
				c.results = append(c.results, textOf(b.Content))
			}
		}
		if called {
			c.rounds++
		}
	}
	return c, nil
}

func (messages) whole(r reply) any {
	content := []any{}
	if r.thinking != "" {
		content = append(content, object{"type": "thinking", "thinking": r.thinking, "signature": "c2NyaXB0ZWQ="})
	}
	if r.text != "" {
		content = append(content, object{"type": "text", "text": r.text})
	}
	for i, c := range r.calls {
		content = append(content, object{"type": "tool_use", "id": r.callIDs[i], "name": c.Name, "input": json.RawMessage(c.Arguments)})
	}
	return messageObject(r, content, messagesStop(r), object{"input_tokens": 120, "output_tokens": 30})
}

func messageObject(r reply, content []any, stop any, usage object) object {
	return object{"id": "msg_" + r.id, "type": "message", "role": "assistant", "model": r.model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": usage}
}

func messagesStop(r reply) string {
	if len(r.calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func (messages) events(r reply) []event {
	out := []event{}
	add := func(name string, data object) {
		data["type"] = name
		out = append(out, event{name, data})
	}
	add("message_start", object{"message": messageObject(r, []any{}, nil, object{"input_tokens": 120, "output_tokens": 1})})
	index := 0
	block := func(start object, deltas ...object) {
		add("content_block_start", object{"index": index, "content_block": start})
		for _, d := range deltas {
			add("content_block_delta", object{"index": index, "delta": d})
		}
		add("content_block_stop", object{"index": index})
		index++
	}
	if r.thinking != "" {
		block(object{"type": "thinking", "thinking": "", "signature": ""},
			object{"type": "thinking_delta", "thinking": r.thinking}, object{"type": "signature_delta", "signature": "c2NyaXB0ZWQ="})
	}
	if r.text != "" {
		h := halves(r.text)
		block(object{"type": "text", "text": ""}, object{"type": "text_delta", "text": h[0]}, object{"type": "text_delta", "text": h[1]})
	}
	for i, c := range r.calls {
		h := halves(c.Arguments)
		block(object{"type": "tool_use", "id": r.callIDs[i], "name": c.Name, "input": object{}},
			object{"type": "input_json_delta", "partial_json": h[0]}, object{"type": "input_json_delta", "partial_json": h[1]})
	}
	add("message_delta", object{"delta": object{"stop_reason": messagesStop(r), "stop_sequence": nil}, "usage": object{"output_tokens": 30}})
	add("message_stop", object{})
	return out
}
