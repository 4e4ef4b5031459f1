package formats

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// FewShot writes a conversation as a messages array that can be put before a
// real question: in the form of the Messages API for that dialect, else in that
// of Chat Completions. System prompts and tool definitions are not part of it;
// left names what else could not be carried.
func FewShot(d transcript.Dialect, items []transcript.Item) (out []byte, left []string, err error) {
	if d == transcript.Unknown {
		return nil, nil, fmt.Errorf("write few-shot: no known dialect, so there is no transcript")
	}
	w := fewShot{left: map[string]int{}}
	add := w.chat
	if d == transcript.Messages {
		add = w.anthropic
	}
	for i := range items {
		add(&items[i])
	}
	out, err = marshal(w.messages)
	return out, w.leftOut(), err
}

type message struct {
	Role       string     `json:"role"`
	Content    any        `json:"content"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
}

type fewShot struct {
	messages []*message
	left     map[string]int
	order    []string
}

func (w *fewShot) leave(what string) {
	if w.left[what] == 0 {
		w.order = append(w.order, what)
	}
	w.left[what]++
}

func (w *fewShot) leftOut() []string {
	out := make([]string, len(w.order))
	for i, what := range w.order {
		out[i] = fmt.Sprintf("%s (%d)", what, w.left[what])
	}
	return out
}

// skipped tells whether an item has no place among the messages, and notes it
// unless the format leaves its kind out by design.
func (w *fewShot) skipped(it *transcript.Item) bool {
	if len(it.Parts) > 0 {
		w.leave("parts that are not text")
	}
	switch {
	case it.Choice > 0:
		w.leave("further choices")
	case it.ServerSide:
		w.leave("calls and results of tools that the provider ran")
	case it.Kind == transcript.System, it.Kind == transcript.ToolDefinition:
	case it.Kind == transcript.Reasoning:
		w.leave("reasoning")
	case it.Kind == transcript.MessageItem, it.Kind == transcript.ToolCall, it.Kind == transcript.ToolResult:
		return false
	default:
		w.leave(fmt.Sprintf("items of kind %s", it.Kind))
	}
	return true
}

func (w *fewShot) last() *message {
	if len(w.messages) == 0 {
		return &message{}
	}
	return w.messages[len(w.messages)-1]
}

func (w *fewShot) chat(it *transcript.Item) {
	if w.skipped(it) {
		return
	}
	switch it.Kind {
	case transcript.MessageItem:
		w.messages = append(w.messages, &message{Role: it.Role, Content: it.Text})
	case transcript.ToolCall:
		m := w.last()
		if m.Role != "assistant" {
			m = &message{Role: "assistant"}
			w.messages = append(w.messages, m)
		}
		c := chatCall{ID: it.CallID, Type: "function"}
		c.Function.Name, c.Function.Arguments = it.Name, arguments(it)
		m.ToolCalls = append(m.ToolCalls, c)
	case transcript.ToolResult:
		if it.IsError {
			w.leave("the error mark of results")
		}
		w.messages = append(w.messages, &message{Role: "tool", Content: it.Text, ToolCallID: it.CallID})
	}
}

func (w *fewShot) anthropic(it *transcript.Item) {
	if w.skipped(it) {
		return
	}
	role, b := it.Role, block{Type: "text", Text: it.Text}
	switch it.Kind {
	case transcript.ToolCall:
		role, b = "assistant", block{Type: "tool_use", ID: it.CallID, Name: it.Name, Input: json.RawMessage(arguments(it))}
		if !json.Valid(b.Input) {
			w.leave("arguments that are not JSON")
			b.Input = json.RawMessage("{}")
		}
	case transcript.ToolResult:
		role, b = "user", block{Type: "tool_result", ToolUseID: it.CallID, Content: it.Text, IsError: it.IsError}
	}
	m := w.last()
	if m.Role != role {
		m = &message{Role: role, Content: []block{}}
		w.messages = append(w.messages, m)
	}
	m.Content = append(m.Content.([]block), b)
}

// arguments gives the arguments of a call; an empty text means no arguments.
func arguments(it *transcript.Item) string {
	if it.ArgumentsRaw == "" {
		return "{}"
	}
	return it.ArgumentsRaw
}

func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}
