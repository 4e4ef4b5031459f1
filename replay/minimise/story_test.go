package minimise_test

import (
	"encoding/json"
	"fmt"
)

// story is a request of n units, the system prompt first, in a dialect: words of a
// user, single calls, batches of three, what the model says. plant adds to the text of
// some. Behind them stand three tools.
type story struct {
	path  string
	n     int
	plant map[int]string
	unit  int
}

func (y *story) text() string {
	text := fmt.Sprintf("This is note %d, and nothing is special about it.", y.unit)
	if p := y.plant[y.unit]; p != "" {
		text += " " + p
	}
	y.unit++
	return text
}

func (y *story) body() string {
	y.unit = 0
	req := m{"model": "m", "max_tokens": 100}
	system := y.text()
	var list []m
	switch y.path {
	case "/v1/messages":
		req["system"] = []m{{"type": "text", "text": system, "cache_control": m{"type": "ephemeral"}}}
		req["thinking"] = m{"type": "enabled", "budget_tokens": 1024}
	case "/v1/responses":
		req["instructions"] = system
	default:
		list = append(list, m{"role": "system", "content": system})
	}
	list = append(list, y.user(y.text()))
	for round := 0; y.unit < y.n; round++ {
		calls := 1
		if round%3 == 1 {
			calls = min(3, y.n-y.unit)
		}
		says := ""
		if round%4 == 2 && y.n-y.unit > 1 {
			says = y.text()
		}
		list = append(list, y.calls(round, calls, says)...)
		if round%5 == 3 && y.unit < y.n {
			list = append(list, y.user(y.text()))
		}
	}
	tools := []m{}
	for _, name := range []string{"look", "escalate", "wait"} {
		switch y.path {
		case "/v1/messages":
			tools = append(tools, m{"name": name, "input_schema": m{"type": "object"}})
		case "/v1/responses":
			tools = append(tools, m{"type": "function", "name": name, "parameters": m{"type": "object"}})
		default:
			tools = append(tools, m{"type": "function", "function": m{"name": name, "parameters": m{"type": "object"}}})
		}
	}
	req["tools"] = tools
	switch y.path {
	case "/v1/responses":
		req["input"] = list
		req["tool_choice"] = "auto"
	case "/v1/messages":
		req["messages"] = list
		req["tool_choice"] = m{"type": "auto"}
	default:
		req["messages"] = list
		req["tool_choice"] = "auto"
	}
	raw, err := json.Marshal(req)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func (y *story) user(text string) m {
	if y.path == "/v1/responses" {
		return m{"type": "message", "role": "user", "content": []m{{"type": "input_text", "text": text}}}
	}
	return m{"role": "user", "content": text}
}

// calls makes calls at once, with their results.
func (y *story) calls(round, n int, says string) (list []m) {
	var calls, results []m
	for i := range n {
		id := fmt.Sprintf("call_%d_%d", round, i)
		arguments, _ := json.Marshal(m{"n": round*10 + i})
		switch text := y.text(); y.path {
		case "/v1/messages":
			calls = append(calls, m{"type": "tool_use", "id": id, "name": "look", "input": json.RawMessage(arguments)})
			results = append(results, m{"type": "tool_result", "tool_use_id": id, "content": text})
		case "/v1/responses":
			item := fmt.Sprintf("fc_%d_%d", round, i)
			if i > 0 {
				item = fmt.Sprintf("fc_free_%d_%d", round, i)
			} else {
				calls = append(calls, m{"type": "reasoning", "id": "rs_" + item, "summary": []m{}, "encrypted_content": "abc"})
			}
			calls = append(calls, m{"type": "function_call", "id": item, "call_id": id, "name": "look", "arguments": string(arguments)})
			results = append(results, m{"type": "function_call_output", "call_id": id, "output": text})
		default:
			calls = append(calls, m{"id": id, "type": "function", "function": m{"name": "look", "arguments": string(arguments)}})
			results = append(results, m{"role": "tool", "tool_call_id": id, "content": text})
		}
	}
	switch y.path {
	case "/v1/messages":
		blocks := []m{{"type": "thinking", "thinking": "hm", "signature": "c2ln"}}
		if says != "" {
			blocks = append(blocks, m{"type": "text", "text": says})
		}
		return []m{{"role": "assistant", "content": append(blocks, calls...)}, {"role": "user", "content": results}}
	case "/v1/responses":
		if says != "" {
			list = append(list, m{"type": "message", "role": "assistant", "content": []m{{"type": "output_text", "text": says}}})
		}
		return append(append(list, calls...), results...)
	}
	message := m{"role": "assistant", "content": nil, "tool_calls": calls}
	if says != "" {
		message["content"] = says
	}
	return append([]m{message}, results...)
}
