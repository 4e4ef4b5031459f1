package formats

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/retake-debugger/retake/transcript"
)

// responsesItem is an item of the Responses API.
type responsesItem struct {
	Type      string `json:"type"`
	Role      string `json:"role,omitempty"`
	Content   any    `json:"content,omitempty"`
	CallID    string `json:"call_id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Output    any    `json:"output,omitempty"`
}

type responsesPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
}

type responsesTool struct {
	Type string `json:"type"`
	function
}

// OpenAIResponses writes a conversation as one line with instructions, input and
// tools of the Responses API; the answer is the end of the input. Items that were
// recorded in that API keep their source: reasoning with its encrypted content, tools
// that the provider ran. ErrUnfinished if there is no complete answer.
func OpenAIResponses(w io.Writer, c *Conversation, lost *Losses) error {
	if why := c.Unfinished(); why != "" {
		return fmt.Errorf("%w: %s", ErrUnfinished, why)
	}
	var line struct {
		Instructions string `json:"instructions,omitempty"`
		Input        []any  `json:"input"`
		Tools        []any  `json:"tools,omitempty"`
	}
	r := responsesWriter{native: c.Exchange.Dialect == transcript.Responses, lost: lost}
	list := answered(c.beats(lost), true, lost)
	if len(list) > 0 && list[0].role == "system" {
		line.Instructions, list = list[0].text(), list[1:]
	}
	for _, b := range list {
		line.Input = append(line.Input, r.items(b)...)
	}
	for i := range c.Tools {
		if r.native {
			line.Tools = append(line.Tools, c.Tools[i].Raw)
		} else if f, ok := functionOf(&c.Tools[i]); ok {
			line.Tools = append(line.Tools, responsesTool{"function", f})
		} else {
			lost.add("tools that are not functions")
		}
	}
	return writeLine(w, line)
}

type responsesWriter struct {
	native bool // the conversation was recorded in the Responses API
	lost   *Losses
}

func (r *responsesWriter) items(b *beat) []any {
	var out []any
	for _, it := range b.items {
		switch {
		case r.native && isItem(it):
			out = append(out, it.Raw)
		case isCall(it):
			out = append(out, responsesItem{Type: "function_call", CallID: it.CallID, Name: it.Name, Arguments: chatArguments(it, r.lost)})
		case !leaveKind(it, r.lost):
			if parts := r.parts(it, b.role == "assistant"); len(parts) > 0 {
				out = append(out, responsesItem{Type: "message", Role: b.role, Content: parts})
			}
		}
	}
	calls := b.calls()
	for i, res := range b.results {
		switch {
		case res == nil:
		case r.native && isItem(res):
			out = append(out, res.Raw)
		default:
			if res.IsError {
				r.lost.add("the error mark of results")
			}
			o := responsesItem{Type: "function_call_output", CallID: calls[i].CallID, Output: res.Text}
			if len(res.Parts) > 0 {
				o.Output = r.parts(res, false)
			}
			out = append(out, o)
		}
	}
	return out
}

// isItem reports whether the source of an item is an item of the Responses API.
func isItem(it *transcript.Item) bool {
	var raw struct {
		Type string `json:"type"`
		Role string `json:"role"`
	}
	return json.Unmarshal(it.Raw, &raw) == nil && (raw.Type != "" || raw.Role != "")
}

func (r *responsesWriter) parts(it *transcript.Item, output bool) []responsesPart {
	kind := "input_text"
	if output {
		kind = "output_text"
	}
	var out []responsesPart
	for _, p := range partsOf(it) {
		switch {
		case p.isText && p.text != "":
			out = append(out, responsesPart{Type: kind, Text: p.text})
		case p.image != "" && !output:
			out = append(out, responsesPart{Type: "input_image", ImageURL: p.image})
		case p.image != "":
			r.lost.add("images outside user messages")
		case p.other != "":
			r.lost.add("parts of type " + p.other)
		}
	}
	return out
}
