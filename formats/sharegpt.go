package formats

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// ShareGPT writes a conversation as one line with conversations of from and value,
// and calls and results in the tags that datasets for function calling use:
// <tool_call>, <tool_response>. They have no ids: their order joins them.
// ErrUnfinished if there is no complete answer.
func ShareGPT(w io.Writer, c *Conversation, lost *Losses) error {
	if why := c.Unfinished(); why != "" {
		return fmt.Errorf("%w: %s", ErrUnfinished, why)
	}
	type said struct {
		From  string `json:"from"`
		Value string `json:"value"`
	}
	var out struct {
		ID            string `json:"id"`
		Conversations []said `json:"conversations"`
		Tools         string `json:"tools,omitempty"`
	}
	out.ID = c.Exchange.ID
	for _, b := range answered(c.beats(lost), true, lost) {
		value, err := shareText(b, lost)
		if err != nil {
			return err
		}
		if value != "" {
			out.Conversations = append(out.Conversations, said{map[string]string{"system": "system", "user": "human", "assistant": "gpt"}[b.role], value})
		}
		results, err := shareResults(b, lost)
		if err != nil {
			return err
		}
		if results != "" {
			out.Conversations = append(out.Conversations, said{"tool", results})
		}
	}
	if list := c.functions(lost); len(list) > 0 {
		var tools []chatTool
		for _, f := range list {
			tools = append(tools, chatTool{"function", f})
		}
		text, err := line(tools)
		if err != nil {
			return err
		}
		out.Tools = string(text)
	}
	return writeLine(w, out)
}

func shareText(b *beat, lost *Losses) (string, error) {
	var texts []string
	for _, it := range b.items {
		if !isCall(it) && !leaveKind(it, lost) {
			leaveParts(it, lost)
		}
	}
	if t := b.text(); t != "" {
		texts = append(texts, t)
	}
	for _, call := range b.calls() {
		lost.add("ids of calls")
		object, ok := argumentsObject(call)
		if !ok {
			lost.add("arguments that are not a JSON object")
		}
		text, err := tagged("tool_call", struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}{call.Name, object})
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n"), nil
}

func shareResults(b *beat, lost *Losses) (string, error) {
	var texts []string
	calls := b.calls()
	for i, r := range b.results {
		if r == nil {
			continue
		}
		leaveParts(r, lost)
		text, err := tagged("tool_response", shareResult{calls[i].Name, r.Text, r.IsError})
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n"), nil
}

type shareResult struct {
	Name    string `json:"name"`
	Content string `json:"content"`
	IsError bool   `json:"is_error,omitempty"`
}

func tagged(tag string, v any) (string, error) {
	text, err := line(v)
	return "<" + tag + ">\n" + string(text) + "\n</" + tag + ">", err
}
