package responses

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// decoder reads OpenAI Responses over HTTP: create, retrieve, cancel and
// compact all answer with an object that has an output.
type decoder struct{ *api.Reader }

func (a decoder) Stream() api.Assembler { return &stream{Reader: a.Reader} }

func (a decoder) Request(o *api.Outline) {
	a.Common(o)
	a.Turn.PreviousID = rawjson.String(o.Value("previous_response_id"))
	if id := conversationID(o.Value("conversation")); id != "" {
		a.Turn.Conversation = id
	}
	a.Each(o, "instructions", a.item("system"), a.text("system"))
	a.Each(o, "input", a.item("user"), a.text("user"))
	a.Each(o, "tools", a.tool, nil)
}

// conversationID reads a conversation: its id, or an object that has one.
func conversationID(v []byte) string {
	if rawjson.IsObject(v) {
		v = rawjson.Get(v, "id")
	}
	return rawjson.String(v)
}

// tool is a definition; a hosted tool has its type for a name, an MCP server
// its label.
func (a decoder) tool(v []byte, at string) {
	name := ""
	for _, member := range [...]string{"name", "server_label", "type"} {
		if name == "" {
			name = rawjson.String(rawjson.Get(v, member))
		}
	}
	a.In(transcript.Item{Kind: transcript.ToolDefinition, Name: name, Raw: v, At: at})
}

// item reads an element of a list of items; role is that of a message that
// names none.
func (a decoder) item(role string) func(v []byte, at string) {
	return func(v []byte, at string) {
		it, _ := responsesItem(v, role)
		it.At = at
		a.In(it)
	}
}

// text reads a string in the place of a list: one message of that role.
func (a decoder) text(role string) func(v []byte, at string) {
	return func(v []byte, at string) {
		it := api.TextItem(role, rawjson.Unquote(v))
		it.Raw, it.At = v, at
		a.In(it)
	}
}

// callArguments says where a call of each type keeps its arguments. Types that
// a client must run come first; tool_search_call is one of them if its
// execution is "client" [openai-python types/responses].
func callArguments(kind string) (member string, client bool) {
	switch kind {
	case "function_call":
		return "arguments", true
	case "custom_tool_call":
		return "input", true
	case "computer_call", "local_shell_call", "shell_call":
		return "action", true
	case "apply_patch_call":
		return "operation", true
	case "web_search_call":
		return "action", false
	case "file_search_call":
		return "queries", false
	case "code_interpreter_call", "program":
		return "code", false
	case "image_generation_call":
		return "prompt", false
	}
	return "arguments", false // mcp_call, x_search_call, tool_search_call, what is still to come
}

// clientOutput tells whether a result of that type comes from a client.
func clientOutput(kind string) bool {
	switch kind {
	case "function_call_output", "custom_tool_call_output", "computer_call_output",
		"local_shell_call_output", "shell_call_output", "apply_patch_call_output":
		return true
	}
	return false
}

// responsesItem reads one input or output item. visible is its text without
// refusals if it is a message.
func responsesItem(v []byte, role string) (it transcript.Item, visible string) {
	kind := rawjson.String(rawjson.Get(v, "type"))
	it = transcript.Item{Raw: v, ItemID: rawjson.String(rawjson.Get(v, "id"))}
	if r := rawjson.String(rawjson.Get(v, "role")); r != "" {
		role = r
	}
	switch {
	case rawjson.IsString(v):
		it.Kind, it.Role, it.Text = transcript.MessageItem, role, rawjson.Unquote(v)
	case kind == "message", kind == "" && rawjson.Present(rawjson.Get(v, "content")):
		visible = message(&it, v, role)
	case kind == "reasoning":
		it.Kind, it.Role = transcript.Reasoning, "assistant"
		it.Text = joinText(rawjson.Get(v, "summary")) + joinText(rawjson.Get(v, "content"))
	case kind == "compaction", kind == "compaction_summary":
		it.Kind = transcript.Compaction
	case strings.HasSuffix(kind, "_output"):
		it.Kind, it.CallID = transcript.ToolResult, rawjson.String(rawjson.Get(v, "call_id"))
		it.ServerSide = !clientOutput(kind) && (kind != "tool_search_output" || !byClient(v))
		responsesOutput(&it, v)
	case strings.HasSuffix(kind, "_call"), kind == "program":
		responsesCall(&it, v, kind)
	case kind == "mcp_list_tools", kind == "additional_tools":
		it.Kind, it.Name = transcript.ToolDefinition, rawjson.String(rawjson.Get(v, "server_label"))
		if it.ServerSide = kind == "mcp_list_tools"; it.Name == "" {
			it.Name = kind
		}
	default: // item_reference, mcp_approval_request, agent_message …
		it.Kind, it.Role, it.Name = transcript.Other, rawjson.String(rawjson.Get(v, "role")), rawjson.String(rawjson.Get(v, "name"))
		if kind == "item_reference" || kind == "" && it.ItemID != "" { // whose type is optional
			it.Name = transcript.Reference
		}
	}
	return it, visible
}

func byClient(v []byte) bool { return rawjson.String(rawjson.Get(v, "execution")) == "client" }

func message(it *transcript.Item, v []byte, role string) (visible string) {
	it.Kind, it.Role = transcript.MessageItem, role
	if role == "system" || role == "developer" {
		it.Kind = transcript.System
	}
	content := rawjson.Get(v, "content")
	if rawjson.IsString(content) {
		it.Text = rawjson.Unquote(content)
		return it.Text
	}
	var all, seen strings.Builder
	for e := rawjson.Walk(content); !e.Object && e.Next(); {
		p := e.Value()
		switch kind := rawjson.String(rawjson.Get(p, "type")); kind {
		case "output_text", "input_text", "text":
			text := rawjson.String(rawjson.Get(p, "text"))
			all.WriteString(text)
			seen.WriteString(text)
		case "refusal":
			all.WriteString(rawjson.String(rawjson.Get(p, "refusal")))
		default:
			it.Parts = append(it.Parts, transcript.HashJSON(p))
		}
	}
	it.Text = all.String()
	return seen.String()
}

func joinText(v []byte) string {
	var text strings.Builder
	for e := rawjson.Walk(v); !e.Object && e.Next(); {
		text.WriteString(rawjson.String(rawjson.Get(e.Value(), "text")))
	}
	return text.String()
}

func responsesCall(it *transcript.Item, v []byte, kind string) {
	member, client := callArguments(kind)
	it.Kind, it.Role = transcript.ToolCall, "assistant"
	it.ServerSide = !client && (kind != "tool_search_call" || !byClient(v))
	it.CallID, it.Name = rawjson.String(rawjson.Get(v, "call_id")), rawjson.String(rawjson.Get(v, "name"))
	if it.Name == "" {
		it.Name = strings.TrimSuffix(kind, "_call")
	}
	arguments := rawjson.Get(v, member)
	if member == "action" && !rawjson.Present(arguments) { // computer calls of several actions
		arguments = rawjson.Get(v, "actions")
	}
	if member == "input" || member == "code" || member == "prompt" {
		it.ArgumentsRaw = rawjson.Scalar(arguments) // free text
		return
	}
	api.SetArguments(it, arguments)
}

func responsesOutput(it *transcript.Item, v []byte) {
	it.Name = rawjson.String(rawjson.Get(v, "name"))
	for _, member := range [...]string{"output", "result", "tools"} {
		if value := rawjson.Get(v, member); rawjson.Present(value) {
			api.ReadResult(it, value)
			return
		}
	}
}

func (a decoder) Response(object []byte) {
	t := a.Turn
	a.ReadError(object)
	reason := ""
	for c := rawjson.Walk(object); c.Object && c.Next(); {
		switch v := c.Value(); string(c.Key()) {
		case "id":
			t.ResponseID = rawjson.String(v)
		case "model":
			t.ResponseModel = rawjson.String(v)
		case "status":
			t.FinishReason = rawjson.String(v)
		case "previous_response_id": // of a retrieved response, whose request has none
			if t.PreviousID == "" {
				t.PreviousID = rawjson.String(v)
			}
		case "conversation":
			if t.Conversation == "" {
				t.Conversation = conversationID(v)
			}
		case "object":
			t.Replaces = rawjson.String(v) == "response.compaction"
		case "incomplete_details":
			reason = rawjson.String(rawjson.Get(v, "reason"))
		case "output":
			a.output(v)
		case "usage":
			if rawjson.IsObject(v) {
				t.UsageRaw, t.Usage = v, usage(v)
			}
		}
	}
	if t.FinishReason == "incomplete" && reason != "" {
		t.FinishReason += "/" + reason
	}
}

func (a decoder) output(v []byte) {
	var text strings.Builder
	n := 0
	for e := rawjson.Walk(v); !e.Object && e.Next(); n++ {
		it, visible := responsesItem(e.Value(), "assistant")
		it.At = "/output/" + strconv.Itoa(n)
		text.WriteString(visible)
		a.Out(it)
	}
	a.Turn.Text = text.String()
}

func usage(v []byte) *transcript.Usage {
	u := transcript.Usage{
		InputTotal: rawjson.Count(rawjson.Get(v, "input_tokens")),
		CacheRead:  rawjson.Count(rawjson.Get(v, "input_tokens_details", "cached_tokens")),
		CacheWrite: rawjson.Count(rawjson.Get(v, "input_tokens_details", "cache_write_tokens")),
		Output:     rawjson.Count(rawjson.Get(v, "output_tokens")),
		Reasoning:  rawjson.Count(rawjson.Get(v, "output_tokens_details", "reasoning_tokens")),
		Total:      rawjson.Count(rawjson.Get(v, "total_tokens")),
	}
	u.InputUncached = max(0, u.InputTotal-u.CacheRead-u.CacheWrite)
	if u.Total == 0 {
		u.Total = u.InputTotal + u.Output
	}
	return &u
}

// target reads what the request target says of answers and conversations
// that the provider holds: GET /v1/responses/ID polls an answer, or resumes its
// stream with starting_after; /v1/conversations/ID is a conversation
// (openai-python resources/responses, resources/conversations).
func target(r *api.Reader, p []string) {
	for i := 0; i+1 < len(p); i++ {
		switch p[i] {
		case "responses":
			if strings.HasPrefix(p[i+1], "resp") {
				r.Turn.RetrievedID = p[i+1]
			}
		case "conversations":
			r.Turn.Conversation = p[i+1]
		}
	}
	if n := len(p); n > 0 && p[n-1] == "conversations" {
		if v := bytes.TrimSpace(r.Wire.Response); rawjson.IsObject(v) && rawjson.String(rawjson.Get(v, "object")) == "conversation" {
			r.Turn.Conversation = rawjson.String(rawjson.Get(v, "id"))
		}
	}
}
