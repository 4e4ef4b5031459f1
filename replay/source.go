package replay

import (
	"context"
	"encoding/json"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// Call is a tool call of a take that needs a result.
type Call struct {
	CallID       string
	Name         string
	Original     string          // what the recording calls the tool, where a conversion gave it another name; else ""
	ArgumentsRaw string          // as the model wrote them
	Arguments    json.RawMessage // read as JSON; nil if they are not
	Item         *transcript.Item
	Tool         json.RawMessage // the definition of the tool in the request, nil if it has none of that name
	Dialect      transcript.Dialect
}

// Is reports whether a tool of that name is called: by the name that the model knows, or
// by that of the recording.
func (c *Call) Is(name string) bool { return c.Name == name || c.Original == name && name != "" }

// recordedName is what the recording calls the tool.
func (c *Call) recordedName() string {
	if c.Original != "" {
		return c.Original
	}
	return c.Name
}

// Input returns the arguments as a tool gets them: as JSON if they are, else as the
// text that they are.
func (c *Call) Input() []byte {
	if c.Arguments != nil {
		return c.Arguments
	}
	return []byte(c.ArgumentsRaw)
}

// Result is the result of a call, from a source.
type Result struct {
	Text    string
	IsError bool
	Raw     json.RawMessage // of what was recorded: the result as it stood there, with all its parts
	Source  transcript.Source
	From    string // of what was recorded or simulated: the exchange that it comes from
}

// Source returns results of tool calls. One is made for each take, and used by one
// goroutine.
type Source interface {
	// Covers reports whether it would answer the call, without running anything.
	Covers(c *Call) bool
	// Answer returns the result of a call, nil if it has none after all. An error
	// stops the take: a tool that fails is a Result with IsError.
	Answer(ctx context.Context, c *Call) (*Result, error)
}

// chain asks one source after the other.
type chain []Source

// covers reports whether some source would answer.
func (s chain) covers(c *Call) bool {
	for _, source := range s {
		if source.Covers(c) {
			return true
		}
	}
	return false
}

// answer returns the first result that a source has, nil if none has one.
func (s chain) answer(ctx context.Context, c *Call) (*Result, error) {
	for _, source := range s {
		if !source.Covers(c) {
			continue
		}
		if r, err := source.Answer(ctx, c); r != nil || err != nil {
			return r, err
		}
	}
	return nil, nil
}

// result writes it the way a client sends it.
func (r *Result) result(callID string) dialect.Result {
	return dialect.Result{CallID: callID, Text: r.Text, IsError: r.IsError, Raw: r.Raw}
}

// pending returns the calls of an answer that a client has to run, in their order.
// originals has the recorded names of tools that a conversion renamed.
func pending(t *transcript.Turn, tools map[string]json.RawMessage, originals map[string]string) []*Call {
	var calls []*Call
	for i := range t.Output {
		it := &t.Output[i]
		if it.Kind != transcript.ToolCall || it.ServerSide || it.Choice > 0 {
			continue
		}
		calls = append(calls, &Call{CallID: it.CallID, Name: it.Name, Original: originals[it.Name], ArgumentsRaw: it.ArgumentsRaw, Arguments: it.Arguments, Item: it, Tool: tools[it.Name], Dialect: t.Dialect})
	}
	return calls
}

// asks reports whether an answer asks for something that is no tool result: to allow
// the call of a tool that the provider would run (mcp_approval_request, openai-python
// types/responses).
func asks(t *transcript.Turn) bool {
	for i := range t.Output {
		var item struct {
			Type string `json:"type"`
		}
		if it := &t.Output[i]; it.Kind == transcript.Other && json.Unmarshal(it.Raw, &item) == nil && item.Type == "mcp_approval_request" {
			return true
		}
	}
	return false
}
