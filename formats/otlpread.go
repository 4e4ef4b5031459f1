package formats

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

func fitsOTLP(head []byte) bool { return begins(head, '{') && holds(head, `"resourceSpans"`) }

// readOTLP imports the spans of model calls that hold messages, by the GenAI
// conventions. They are rebuilt in Chat Completions.
func readOTLP(s *Source, emit emitter) error {
	return s.elements([]string{"spans"}, nil, func(_ string, raw json.RawMessage) error {
		var sp otlpSpan
		if err := json.Unmarshal(raw, &sp); err != nil {
			return bad("read span: %w", err)
		}
		a := map[string]otlpValue{}
		for _, at := range sp.Attributes {
			a[at.Key] = at.Value
		}
		if otlpText(a, "gen_ai.input.messages") == "" && otlpText(a, "gen_ai.output.messages") == "" {
			return nil
		}
		return s.otlpCall(&sp, a, emit)
	})
}

func (s *Source) otlpCall(sp *otlpSpan, a map[string]otlpValue, emit emitter) error {
	c := s.chatLog("otlp\x00"+sp.TraceID+sp.SpanID, emit)
	began, ended := otlpTime(sp.Start), otlpTime(sp.End)
	c.at(began)
	if c.label = firstOf(otlpText(a, "gen_ai.conversation.id"), sp.TraceID); c.label != "" {
		c.label = "trace " + c.label
	}
	c.model = firstOf(otlpText(a, "gen_ai.response.model"), otlpText(a, "gen_ai.request.model"))
	var input, output []genMessage
	var system []genPart
	for name, v := range map[string]any{"gen_ai.input.messages": &input, "gen_ai.output.messages": &output, "gen_ai.system_instructions": &system} {
		if text := otlpText(a, name); text != "" {
			if err := json.Unmarshal([]byte(text), v); err != nil {
				return bad("read %s: %w", name, err)
			}
		}
	}
	if len(system) > 0 {
		input = append([]genMessage{{Role: "system", Parts: system}}, input...)
	}
	for _, m := range input {
		if err := c.gen(&m, true); err != nil {
			return err
		}
	}
	if tools := otlpTools(otlpText(a, "gen_ai.tool.definitions")); tools != nil {
		c.tail = append([]byte(`,"tools":`), tools...)
	}
	if c.model != "" {
		c.grade = transcript.Rebuilt
	}
	c.otlpUsage(a)
	if list := a["gen_ai.response.finish_reasons"].Array; list != nil && len(list.Values) > 0 && list.Values[0].String != nil {
		c.reason = *list.Values[0].String
	}
	c.ended = ended
	for _, m := range output {
		m.Role = "assistant"
		return c.gen(&m, false) // further ones are other choices
	}
	return nil
}

// gen adds a message of the conventions as messages of Chat Completions.
func (c *chatLog) gen(m *genMessage, history bool) error {
	var text strings.Builder
	var calls []chatCall
	said := object{"role": m.Role}
	for _, p := range m.Parts {
		switch p.Type {
		case "text":
			text.WriteString(textOr(p.Content))
		case "reasoning":
			said["reasoning_content"] = textOr(p.Content)
		case "tool_call":
			arguments := string(p.Arguments)
			if s := stringOf(p.Arguments); s != "" {
				arguments = s
			}
			calls = append(calls, chatCall{p.ID, "function", chatFunction{p.Name, firstOf(arguments, "{}")}})
		case "tool_call_response":
			raw, err := line(object{"role": "tool", "tool_call_id": p.ID, "content": textOr(p.Response)})
			if err != nil {
				return bad("read result: %w", err)
			}
			if err := c.message(raw, true); err != nil {
				return err
			}
		}
	}
	if text.Len() == 0 && calls == nil {
		return nil
	}
	said["content"] = text.String()
	if calls != nil {
		said["tool_calls"] = calls
	}
	raw, err := line(said)
	if err != nil {
		return bad("read message: %w", err)
	}
	return c.message(raw, history)
}

func textOr(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (c *chatLog) otlpUsage(a map[string]otlpValue) {
	count := func(name string) (n int64) {
		n, _ = strconv.ParseInt(a[name].Int, 10, 64)
		return n
	}
	in, out := count("gen_ai.usage.input_tokens"), count("gen_ai.usage.output_tokens")
	if in+out > 0 {
		c.usage = object{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out, "prompt_tokens_details": object{"cached_tokens": count("gen_ai.usage.cache_read.input_tokens")}}
	}
}

// otlpTools writes tool definitions in the form of Chat Completions.
func otlpTools(text string) []byte {
	var list []json.RawMessage
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil
	}
	var tools []chatTool
	for _, raw := range list {
		if f, ok := functionOf(&transcript.Item{Raw: raw}); ok {
			tools = append(tools, chatTool{"function", f})
		}
	}
	if tools == nil {
		return nil
	}
	out, err := line(tools)
	if err != nil {
		return nil
	}
	return out
}

func otlpText(a map[string]otlpValue, key string) string { return textOr(a[key].String) }

func otlpTime(nanos string) time.Time {
	n, err := strconv.ParseInt(nanos, 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
