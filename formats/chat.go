package formats

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/retake-debugger/retake/transcript"
)

// message is a message of Chat Completions.
type message struct {
	Role       string     `json:"role"`
	Content    any        `json:"content"` // string, list of parts, or nil
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type chatPart struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageRef `json:"image_url,omitempty"`
}

type imageRef struct {
	URL string `json:"url"`
}

// ErrUnfinished says that a conversation has no complete answer, which the format
// needs.
var ErrUnfinished = errors.New("unfinished")

// toolName matches the tool names that providers accept.
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// OpenAIChat writes a conversation as one line of OpenAI's fine-tuning JSONL:
// messages and tools of Chat Completions, an assistant message last. ErrUnfinished if
// there is no complete answer.
func OpenAIChat(w io.Writer, c *Conversation, lost *Losses) error {
	if why := c.Unfinished(); why != "" {
		return fmt.Errorf("%w: %s", ErrUnfinished, why)
	}
	var line struct {
		Messages []*message `json:"messages"`
		Tools    []chatTool `json:"tools,omitempty"`
	}
	line.Messages = chatMessages(answered(c.beats(lost), true, lost), lost)
	if n := len(line.Messages); n == 0 || line.Messages[n-1].Role != "assistant" {
		return fmt.Errorf("%w: its last answer is empty in this format", ErrUnfinished)
	}
	for _, f := range c.functions(lost) {
		if !toolName.MatchString(f.Name) {
			lost.add("tools whose names the provider refuses")
			continue
		}
		line.Tools = append(line.Tools, chatTool{"function", f})
	}
	return writeLine(w, line)
}

func writeLine(w io.Writer, v any) error {
	text, err := line(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// chatMessages writes beats as messages of Chat Completions.
func chatMessages(list []*beat, lost *Losses) []*message {
	var out []*message
	for _, b := range list {
		switch b.role {
		case "system":
			for _, it := range b.items {
				leaveParts(it, lost)
			}
			out = append(out, &message{Role: "system", Content: b.text()})
		case "user":
			if m := chatUser(b, lost); m != nil {
				out = append(out, m)
			}
		default:
			out = append(out, chatAssistant(b, lost)...)
		}
	}
	return out
}

func chatUser(b *beat, lost *Losses) *message {
	var parts []chatPart
	onlyText := true
	for _, it := range b.items {
		if leaveKind(it, lost) {
			continue
		}
		for _, p := range partsOf(it) {
			switch {
			case p.isText && p.text != "":
				parts = append(parts, chatPart{Type: "text", Text: p.text})
			case p.image != "":
				parts, onlyText = append(parts, chatPart{Type: "image_url", ImageURL: &imageRef{p.image}}), false
			case p.other != "":
				lost.add("parts of type " + p.other)
			}
		}
	}
	switch {
	case len(parts) == 0:
		return nil
	case onlyText && len(parts) == 1:
		return &message{Role: "user", Content: parts[0].Text}
	}
	return &message{Role: "user", Content: parts}
}

// chatAssistant writes one message, and one for each result.
func chatAssistant(b *beat, lost *Losses) []*message {
	m := &message{Role: "assistant"}
	for _, it := range b.items {
		if isCall(it) {
			m.ToolCalls = append(m.ToolCalls, chatCall{it.CallID, "function", chatFunction{it.Name, chatArguments(it, lost)}})
		} else if !leaveKind(it, lost) {
			leaveParts(it, lost)
		}
	}
	if text := b.text(); text != "" {
		m.Content = text
	}
	if m.Content == nil && m.ToolCalls == nil {
		return nil
	}
	out := []*message{m}
	for i, r := range b.results {
		if r == nil {
			continue
		}
		if r.IsError {
			lost.add("the error mark of results")
		}
		leaveParts(r, lost)
		out = append(out, &message{Role: "tool", ToolCallID: m.ToolCalls[i].ID, Content: r.Text})
	}
	return out
}

// chatArguments returns arguments as a text that is JSON.
func chatArguments(it *transcript.Item, lost *Losses) string {
	raw := arguments(it)
	if json.Valid([]byte(raw)) {
		return raw
	}
	lost.add("arguments that are not a JSON object")
	object, _ := argumentsObject(it)
	return string(object)
}

// leaveKind reports whether an item is of a kind that not all formats know, and
// counts it as a loss.
func leaveKind(it *transcript.Item, lost *Losses) bool {
	switch {
	case it.ServerSide:
		lost.add("calls and results of tools that the provider ran")
	case it.Kind == transcript.Reasoning:
		lost.add("reasoning")
	case it.Kind == transcript.MessageItem, it.Kind == transcript.System, it.Kind == transcript.ToolCall, it.Kind == transcript.ToolResult:
		return false
	case it.Kind == transcript.Compaction && it.Text != "":
		return false
	default:
		lost.add("items of kind " + string(it.Kind))
	}
	return true
}

// leaveParts counts the parts of an item as losses, where only its text is written.
func leaveParts(it *transcript.Item, lost *Losses) {
	if len(it.Parts) == 0 {
		return
	}
	for _, p := range partsOf(it) {
		switch {
		case p.image != "":
			lost.add("images outside user messages")
		case p.other != "":
			lost.add("parts of type " + p.other)
		}
	}
}
