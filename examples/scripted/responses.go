package scripted

import "encoding/json"

// responses is the OpenAI Responses API.
type responses struct{}

func (responses) read(body []byte) (conversation, error) {
	var req struct {
		Model  string
		Stream bool
		Input  json.RawMessage
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return conversation{}, err
	}
	c := conversation{model: req.Model, stream: req.Stream}
	var items []struct {
		Type   string
		Output json.RawMessage
	}
	_ = json.Unmarshal(req.Input, &items)
	called := false
	for _, it := range items {
		switch it.Type {
		case "function_call":
			if !called {
				c.rounds++
			}
			called = true
		case "function_call_output":
			called = false
			c.results = append(c.results, textOf(it.Output))
		}
	}
	return c, nil
}

func (responses) items(r reply) []object {
	var items []object
	if r.text != "" {
		items = append(items, object{"id": "msg_" + r.id, "type": "message", "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": r.text, "annotations": []any{}}}})
	}
	for i, c := range r.calls {
		items = append(items, object{"id": "fc_" + r.callIDs[i], "type": "function_call", "status": "completed",
			"call_id": r.callIDs[i], "name": c.Name, "arguments": c.Arguments})
	}
	return items
}

func (a responses) whole(r reply) any {
	return object{"id": "resp_" + r.id, "object": "response", "created_at": 1700000000, "status": "completed", "model": r.model,
		"output": a.items(r), "error": nil, "incomplete_details": nil,
		"usage": object{"input_tokens": 120, "output_tokens": 30, "total_tokens": 150}}
}

func (a responses) events(r reply) []event {
	out := []event{}
	add := func(name string, data object) {
		data["type"], data["sequence_number"] = name, len(out)
		out = append(out, event{name, data})
	}
	add("response.created", object{"response": object{"id": "resp_" + r.id, "object": "response", "status": "in_progress", "model": r.model, "output": []any{}, "usage": nil}})
	for i, item := range a.items(r) {
		started := object{}
		for k, v := range item {
			started[k] = v
		}
		started["status"] = "in_progress"
		if item["type"] == "function_call" {
			started["arguments"] = ""
		} else {
			started["content"] = []any{}
		}
		add("response.output_item.added", object{"output_index": i, "item": started})
		if item["type"] == "function_call" {
			for _, h := range halves(item["arguments"].(string)) {
				add("response.function_call_arguments.delta", object{"item_id": item["id"], "output_index": i, "delta": h})
			}
			add("response.function_call_arguments.done", object{"item_id": item["id"], "output_index": i, "arguments": item["arguments"]})
		} else {
			for _, h := range halves(r.text) {
				add("response.output_text.delta", object{"item_id": item["id"], "output_index": i, "content_index": 0, "delta": h})
			}
			add("response.output_text.done", object{"item_id": item["id"], "output_index": i, "content_index": 0, "text": r.text})
		}
		add("response.output_item.done", object{"output_index": i, "item": item})
	}
	add("response.completed", object{"response": a.whole(r)})
	return out
}
