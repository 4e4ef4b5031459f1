package chat

import (
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// message reads one message of a request or a choice into items: its
// reasoning, what it says, its tool calls. The same message gives items with
// the same keys wherever it stands.
type message struct {
	*api.Reader
	at      string
	role    string // if the message names none
	choice  int
	add     func(transcript.Item)
	visible string // the text, refusals not included

	text      strings.Builder
	parts     []string
	reasoning reasoning
	calls     []transcript.Item
	name      string
	callID    string
}

func (m *message) read(v []byte) {
	var refusal []byte
	for c := rawjson.Walk(v); c.Object && c.Next(); {
		switch v := c.Value(); string(c.Key()) {
		case "role":
			if r := rawjson.String(v); r != "" {
				m.role = r
			}
		case "content":
			m.content(v)
		case "refusal":
			refusal = v
		case "audio": // sent again as its id alone
			if id := rawjson.Get(v, "id"); !rawjson.IsEmpty(id) {
				m.part([]byte(`{"audio":` + string(id) + `}`))
			}
		case "images": // OpenRouter, images that the model made
			for e := rawjson.Walk(v); !e.Object && e.Next(); {
				m.part(e.Value())
			}
		case "reasoning_content", "reasoning", "thinking", "reasoning_details":
			m.reasoning.take(string(c.Key()), v)
		case "tool_calls":
			n := 0
			for e := rawjson.Walk(v); !e.Object && e.Next(); n++ {
				m.call(e.Value(), "/tool_calls/"+strconv.Itoa(n))
			}
		case "function_call": // before tool_calls there were; it has no id
			if !blank(v) {
				m.call(v, "/function_call")
			}
		case "tool_call_id":
			m.callID = rawjson.String(v)
		case "name":
			m.name = rawjson.String(v)
		}
	}
	m.visible = m.text.String()
	m.text.WriteString(rawjson.String(refusal))
	m.emit(v)
}

func (m *message) part(v []byte) { m.parts = append(m.parts, transcript.HashJSON(v)) }

// content is a string or a list of parts. Mistral puts its thinking there.
func (m *message) content(v []byte) {
	if rawjson.IsString(v) {
		m.text.WriteString(rawjson.Unquote(v))
		return
	}
	n := 0
	for e := rawjson.Walk(v); !e.Object && e.Next(); n++ {
		p := e.Value()
		switch kind := rawjson.String(rawjson.Get(p, "type")); {
		case rawjson.IsString(p):
			m.text.WriteString(rawjson.Unquote(p))
		case kind == "text", kind == "input_text", kind == "output_text":
			m.text.WriteString(rawjson.String(rawjson.Get(p, "text")))
		case kind == "refusal":
			m.text.WriteString(rawjson.String(rawjson.Get(p, "refusal")))
		case kind == "thinking", kind == "reasoning":
			m.reasoning.take("content/"+strconv.Itoa(n), p)
		case kind == "tool_reference": // names a tool that a search found
		default:
			m.part(p)
		}
	}
}

func (m *message) call(v []byte, at string) {
	it := transcript.Item{Kind: transcript.ToolCall, Role: "assistant", Choice: m.choice, At: m.at + at, Raw: v, CallID: rawjson.String(rawjson.Get(v, "id"))}
	f := v
	for _, kind := range [...]string{"function", "custom"} {
		if inner := rawjson.Get(v, kind); !blank(inner) {
			f = inner
		}
	}
	it.Name = rawjson.String(rawjson.Get(f, "name"))
	if input := rawjson.Get(f, "input"); rawjson.IsString(input) {
		it.ArgumentsRaw = rawjson.Unquote(input) // free text of a custom tool
	} else {
		api.SetArguments(&it, rawjson.Get(f, "arguments"))
	}
	m.calls = append(m.calls, it)
}

// blank tells whether a call's function says nothing. Snowflake fills in
// every member that is not there with an empty one.
func blank(function []byte) bool {
	if !rawjson.IsObject(function) {
		return true
	}
	for _, name := range [...]string{"name", "arguments", "input"} {
		if !rawjson.IsEmpty(rawjson.Get(function, name)) {
			return false
		}
	}
	return true
}

func (m *message) emit(raw []byte) {
	it := transcript.Item{Role: m.role, Choice: m.choice, At: m.at, Raw: raw, Text: m.text.String(), Parts: m.parts}
	switch m.role {
	case "system", "developer":
		it.Kind = transcript.System
	case "tool", "function":
		it.Kind, it.CallID, it.Name = transcript.ToolResult, m.callID, m.name
	case "":
		it.Kind = transcript.Other
		m.Warn("%s has no role", m.at)
	default:
		it.Kind = transcript.MessageItem
	}
	thoughts := m.reasoning.item()
	if thoughts != nil {
		thoughts.At, thoughts.Choice = m.at+thoughts.At, m.choice
		m.add(*thoughts)
	}
	silent := it.Text == "" && len(it.Parts) == 0 && (len(m.calls) > 0 || thoughts != nil)
	if it.Kind != transcript.MessageItem || !silent {
		m.add(it)
	}
	for _, c := range m.calls {
		m.add(c)
	}
}

// reasoning gathers what a message says it thought, from whichever members
// the vendor uses:
//
//	reasoning_content   DeepSeek, Qwen, Moonshot, Z.ai, xAI, vLLM, llama.cpp
//	reasoning           OpenRouter, Groq, Cerebras, newer vLLM
//	reasoning_details   OpenRouter, beside reasoning; holds signatures
//	content parts       Mistral, of type thinking
type reasoning struct {
	text   string // of the first plain member that says something
	detail strings.Builder
	at     string
	raw    []byte
	rank   int
}

func (r *reasoning) take(member string, v []byte) {
	if rawjson.IsEmpty(v) {
		return
	}
	rank := 1
	switch {
	case member == "reasoning_details": // the fullest, and what must be sent back
		rank = 3
		for e := rawjson.Walk(v); !e.Object && e.Next(); {
			for _, name := range [...]string{"text", "summary"} {
				r.detail.WriteString(rawjson.String(rawjson.Get(e.Value(), name)))
			}
		}
	case strings.HasPrefix(member, "content/"): // the first part stands for all
		rank = 2
		r.thinking(v)
	case rawjson.IsString(v):
		if r.text == "" {
			r.text = rawjson.Unquote(v)
		}
	}
	if rank > r.rank {
		r.rank, r.at, r.raw = rank, "/"+member, v
	}
}

// thinking reads a content part {"type":"thinking","thinking":"…"} or, from
// Mistral, with a list of text parts.
func (r *reasoning) thinking(part []byte) {
	for _, name := range [...]string{"thinking", "text", "reasoning"} {
		v := rawjson.Get(part, name)
		r.detail.WriteString(rawjson.String(v))
		for e := rawjson.Walk(v); !e.Object && e.Next(); {
			r.detail.WriteString(rawjson.String(rawjson.Get(e.Value(), "text")))
		}
	}
}

func (r *reasoning) item() *transcript.Item {
	if r.rank == 0 {
		return nil
	}
	text := r.text
	if text == "" {
		text = r.detail.String()
	}
	return &transcript.Item{Kind: transcript.Reasoning, Role: "assistant", Text: text, At: r.at, Raw: r.raw}
}
