package formats

import (
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/retake-debugger/retake/transcript"
)

// attributes of a span.
type attributes []otlpAttribute

func (a *attributes) text(key, value string) {
	if value != "" {
		*a = append(*a, otlpAttribute{key, otlpValue{String: &value}})
	}
}

func (a *attributes) texts(key string, values []string) {
	list := &otlpArray{}
	for i := range values {
		list.Values = append(list.Values, otlpValue{String: &values[i]})
	}
	*a = append(*a, otlpAttribute{key, otlpValue{Array: list}})
}

func (a *attributes) count(key string, n int64) {
	*a = append(*a, otlpAttribute{key, otlpValue{Int: strconv.FormatInt(n, 10)}})
}

func (a *attributes) flag(key string, v bool) {
	*a = append(*a, otlpAttribute{key, otlpValue{Bool: &v}})
}

// numbers are the parameters that the conventions name.
var numbers = []struct{ parameter, key string }{
	{"temperature", "gen_ai.request.temperature"}, {"top_p", "gen_ai.request.top_p"}, {"top_k", "gen_ai.request.top_k"},
	{"frequency_penalty", "gen_ai.request.frequency_penalty"}, {"presence_penalty", "gen_ai.request.presence_penalty"},
}

// limits are the names of the parameter that limits the answer.
var limits = []string{"max_completion_tokens", "max_output_tokens", "max_tokens"}

func (a *attributes) parameters(p map[string]json.RawMessage) {
	for _, n := range numbers {
		var v float64
		if json.Unmarshal(p[n.parameter], &v) == nil {
			*a = append(*a, otlpAttribute{n.key, otlpValue{Double: &v}})
		}
	}
	for _, name := range limits {
		var v int64
		if json.Unmarshal(p[name], &v) == nil {
			a.count("gen_ai.request.max_tokens", v)
			return
		}
	}
}

func (a *attributes) usage(u *transcript.Usage) {
	if u == nil {
		return
	}
	a.count("gen_ai.usage.input_tokens", u.InputTotal)
	a.count("gen_ai.usage.output_tokens", u.Output)
	a.count("gen_ai.usage.cache_read.input_tokens", u.CacheRead)
	a.count("gen_ai.usage.cache_creation.input_tokens", u.CacheWrite)
}

func (a *attributes) server(e *transcript.Exchange) {
	if u, err := url.Parse(e.URL); err == nil && u.Host != "" {
		a.text("server.address", u.Hostname())
		port := int64(443)
		if n, err := strconv.ParseInt(u.Port(), 10, 32); err == nil {
			port = n
		} else if u.Scheme == "http" {
			port = 80
		}
		a.count("server.port", port)
	}
	if e.Status > 0 {
		a.count("http.response.status_code", int64(e.Status))
	}
}

// genMessage is a message by the JSON schema of the conventions.
type genMessage struct {
	Role         string    `json:"role"`
	Parts        []genPart `json:"parts"`
	FinishReason *string   `json:"finish_reason,omitempty"` // of an output
}

type genPart struct {
	Type      string          `json:"type"`
	Content   *string         `json:"content,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Response  *string         `json:"response,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	URI       string          `json:"uri,omitempty"`
	Modality  string          `json:"modality,omitempty"`
}

// messages writes what was said as attributes that hold JSON.
func (a *attributes) messages(c *Conversation, lost *Losses) {
	var system []genPart
	var input, output []genMessage
	for i := range c.Items {
		it := &c.Items[i]
		if it.Choice > 0 {
			lost.add("further choices")
			continue
		}
		parts := genParts(it, lost)
		switch {
		case len(parts) == 0:
		case it.Kind == transcript.System && i < c.Output:
			system = append(system, parts...)
		case i < c.Output:
			input = addParts(input, roleOf(it), parts)
		default:
			output = addParts(output, "assistant", parts)
		}
	}
	reason := firstOf(c.Exchange.FinishReason, "unknown")
	for i := range output {
		output[i].FinishReason = &reason
	}
	a.json("gen_ai.system_instructions", system, len(system))
	a.json("gen_ai.input.messages", input, len(input))
	a.json("gen_ai.output.messages", output, len(output))
	var tools []any
	for _, f := range c.functions(lost) {
		tools = append(tools, struct {
			Type string `json:"type"`
			function
		}{"function", f})
	}
	a.json("gen_ai.tool.definitions", tools, len(tools))
}

func (a *attributes) json(key string, v any, n int) {
	if n == 0 {
		return
	}
	if text, err := line(v); err == nil {
		a.text(key, string(text))
	}
}

func roleOf(it *transcript.Item) string {
	switch it.Kind {
	case transcript.ToolCall, transcript.Reasoning:
		return "assistant"
	case transcript.ToolResult:
		return "tool"
	}
	return firstOf(it.Role, "user")
}

func addParts(list []genMessage, role string, parts []genPart) []genMessage {
	if n := len(list); n > 0 && list[n-1].Role == role {
		list[n-1].Parts = append(list[n-1].Parts, parts...)
		return list
	}
	return append(list, genMessage{Role: role, Parts: parts})
}

func genParts(it *transcript.Item, lost *Losses) []genPart {
	switch it.Kind {
	case transcript.ToolCall:
		raw := json.RawMessage(arguments(it))
		if !json.Valid(raw) {
			raw, _ = line(string(raw))
		}
		return []genPart{{Type: "tool_call", ID: it.CallID, Name: it.Name, Arguments: raw}}
	case transcript.ToolResult:
		leaveParts(it, lost)
		return []genPart{{Type: "tool_call_response", ID: it.CallID, Response: &it.Text, IsError: it.IsError}}
	case transcript.Reasoning:
		if it.Text == "" {
			lost.add("encrypted reasoning")
			return nil
		}
		return []genPart{{Type: "reasoning", Content: &it.Text}}
	}
	if leaveKind(it, lost) {
		return nil
	}
	var out []genPart
	for _, p := range partsOf(it) {
		switch {
		case p.isText:
			out = append(out, genPart{Type: "text", Content: &p.text})
		case p.image != "":
			out = append(out, genPart{Type: "uri", Modality: "image", URI: p.image})
		default:
			lost.add("parts of type " + p.other)
		}
	}
	return out
}
