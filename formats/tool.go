package formats

import (
	"encoding/json"

	"github.com/retake-debugger/retake/transcript"
)

// function is the definition of a tool that the client runs, in any API.
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Strict      *bool           `json:"strict,omitempty"`
}

// functionOf reads the definition of a function. ok is false for tools that the
// provider runs, and for those without a schema of their arguments.
func functionOf(it *transcript.Item) (f function, ok bool) {
	var raw struct {
		function
		Type        string          `json:"type"`
		InputSchema json.RawMessage `json:"input_schema"`
		Function    *function       `json:"function"`
	}
	if json.Unmarshal(it.Raw, &raw) != nil || it.ServerSide {
		return f, false
	}
	switch {
	case raw.Function != nil:
		f = *raw.Function
	case raw.Type == "" || raw.Type == "function" || raw.Type == "custom" && len(raw.InputSchema) > 0:
		if f = raw.function; len(raw.InputSchema) > 0 {
			f.Parameters = raw.InputSchema
		}
	}
	if len(f.Parameters) == 0 || string(f.Parameters) == "null" || string(f.Parameters) == "{}" {
		f.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return f, f.Name != ""
}

// functions returns the tools of a conversation.
func (c *Conversation) functions(lost *Losses) []function {
	var list []function
	for i := range c.Tools {
		f, ok := functionOf(&c.Tools[i])
		if !ok {
			lost.add("tools that are not functions")
			continue
		}
		list = append(list, f)
	}
	return list
}
