package formats

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/retake-debugger/retake/transcript"
)

// block is a block of the Messages API, or the source of one as it was sent.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   any             `json:"content,omitempty"` // string or list of blocks
	IsError   bool            `json:"is_error,omitempty"`
	Source    *source         `json:"source,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitempty"`
	Data      string `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
}

type blockMessage struct {
	Role    string `json:"role"`
	Content []any  `json:"content"` // blocks, or their source
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// Anthropic writes a conversation as one line with system, messages and tools of the
// Messages API. Items that were recorded in that API keep their source: thinking with
// its signature, images, tools that the provider ran. ErrUnfinished if there is no
// complete answer.
func Anthropic(w io.Writer, c *Conversation, lost *Losses) error {
	if why := c.Unfinished(); why != "" {
		return fmt.Errorf("%w: %s", ErrUnfinished, why)
	}
	var line struct {
		System   string          `json:"system,omitempty"`
		Messages []*blockMessage `json:"messages"`
		Tools    []any           `json:"tools,omitempty"`
	}
	a := blockWriter{native: c.Exchange.Dialect == transcript.Messages, lost: lost}
	line.System, line.Messages = a.messages(answered(c.beats(lost), true, lost))
	for i := range c.Tools {
		if a.native {
			line.Tools = append(line.Tools, c.Tools[i].Raw)
		} else if f, ok := functionOf(&c.Tools[i]); ok {
			line.Tools = append(line.Tools, anthropicTool{f.Name, f.Description, f.Parameters})
		} else {
			lost.add("tools that are not functions")
		}
	}
	return writeLine(w, line)
}

type blockWriter struct {
	native bool // the conversation was recorded in the Messages API
	lost   *Losses
}

// messages writes beats as messages of blocks. It returns the system prompts apart,
// later ones joined to the first.
func (a *blockWriter) messages(list []*beat) (system string, out []*blockMessage) {
	add := func(role string, blocks []any) {
		if len(blocks) == 0 {
			return
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, blocks...)
			return
		}
		out = append(out, &blockMessage{role, blocks})
	}
	for _, b := range list {
		switch b.role {
		case "system":
			if system != "" {
				system += "\n\n"
			}
			system += b.text()
		case "user":
			add("user", a.blocks(b))
		default:
			add("assistant", a.blocks(b))
			add("user", a.results(b))
		}
	}
	return system, out
}

func (a *blockWriter) blocks(b *beat) []any {
	var out []any
	for _, it := range b.items {
		switch {
		case isCall(it):
			input, ok := argumentsObject(it)
			if !ok {
				a.lost.add("arguments that are not a JSON object")
			}
			out = append(out, block{Type: "tool_use", ID: it.CallID, Name: it.Name, Input: input})
		case a.native && isBlock(it):
			out = append(out, it.Raw)
		case !leaveKind(it, a.lost):
			out = append(out, a.parts(it)...)
		}
	}
	return out
}

// isBlock reports whether the source of an item is a block rather than a whole
// message.
func isBlock(it *transcript.Item) bool {
	var raw struct {
		Type string `json:"type"`
		Role string `json:"role"`
		Text string `json:"text"`
	}
	return json.Unmarshal(it.Raw, &raw) == nil && raw.Type != "" && raw.Role == "" && (raw.Type != "text" || raw.Text != "")
}

func (a *blockWriter) results(b *beat) []any {
	var out []any
	calls := b.calls()
	for i, r := range b.results {
		if r == nil {
			continue
		}
		res := block{Type: "tool_result", ToolUseID: calls[i].CallID, IsError: r.IsError}
		if len(r.Parts) == 0 {
			if r.Text != "" {
				res.Content = r.Text
			}
		} else if parts := a.parts(r); len(parts) > 0 {
			res.Content = parts
		}
		out = append(out, res)
	}
	return out
}

func (a *blockWriter) parts(it *transcript.Item) []any {
	var out []any
	for _, p := range partsOf(it) {
		switch {
		case p.isText && p.text != "":
			out = append(out, block{Type: "text", Text: p.text})
		case p.data != "":
			out = append(out, block{Type: "image", Source: &source{Type: "base64", MediaType: p.mediaType, Data: p.data}})
		case p.image != "":
			out = append(out, block{Type: "image", Source: &source{Type: "url", URL: p.image}})
		case p.other != "" && a.native:
			out = append(out, p.raw)
		case p.other != "":
			a.lost.add("parts of type " + p.other)
		}
	}
	return out
}
