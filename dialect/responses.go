package dialect

import (
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// responsesAPI is OpenAI Responses over HTTP: create, retrieve, cancel and
// compact all answer with an object that has an output.
type responsesAPI struct{ *reader }

func (a responsesAPI) stream() assembler { return &responsesStream{reader: a.reader} }

func (a responsesAPI) request(o *outline) {
	a.common(o)
	a.turn.PreviousID = str(o.value("previous_response_id"))
	if id := conversationID(o.value("conversation")); id != "" {
		a.turn.Conversation = id
	}
	a.each(o, "instructions", a.item("system"), a.text("system"))
	a.each(o, "input", a.item("user"), a.text("user"))
	a.each(o, "tools", a.tool, nil)
}

// conversationID reads a conversation: its id, or an object that has one.
func conversationID(v []byte) string {
	if isObject(v) {
		v = get(v, "id")
	}
	return str(v)
}

// tool is a definition; a hosted tool has its type for a name, an MCP server
// its label.
func (a responsesAPI) tool(v []byte, at string) {
	name := ""
	for _, member := range [...]string{"name", "server_label", "type"} {
		if name == "" {
			name = str(get(v, member))
		}
	}
	a.in(transcript.Item{Kind: transcript.ToolDefinition, Name: name, Raw: v, At: at})
}

// item reads an element of a list of items; role is that of a message that
// names none.
func (a responsesAPI) item(role string) func(v []byte, at string) {
	return func(v []byte, at string) {
		it, _ := responsesItem(v, role)
		it.At = at
		a.in(it)
	}
}

// text reads a string in the place of a list: one message of that role.
func (a responsesAPI) text(role string) func(v []byte, at string) {
	return func(v []byte, at string) {
		it := textItem(role, unquote(v))
		it.Raw, it.At = v, at
		a.in(it)
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
	kind := str(get(v, "type"))
	it = transcript.Item{Raw: v, ItemID: str(get(v, "id"))}
	if r := str(get(v, "role")); r != "" {
		role = r
	}
	switch {
	case isString(v):
		it.Kind, it.Role, it.Text = transcript.MessageItem, role, unquote(v)
	case kind == "message", kind == "" && has(get(v, "content")):
		visible = responsesMessage(&it, v, role)
	case kind == "reasoning":
		it.Kind, it.Role = transcript.Reasoning, "assistant"
		it.Text = joinText(get(v, "summary")) + joinText(get(v, "content"))
	case kind == "compaction", kind == "compaction_summary":
		it.Kind = transcript.Compaction
	case strings.HasSuffix(kind, "_output"):
		it.Kind, it.CallID = transcript.ToolResult, str(get(v, "call_id"))
		it.ServerSide = !clientOutput(kind) && (kind != "tool_search_output" || !byClient(v))
		responsesOutput(&it, v)
	case strings.HasSuffix(kind, "_call"), kind == "program":
		responsesCall(&it, v, kind)
	case kind == "mcp_list_tools", kind == "additional_tools":
		it.Kind, it.Name = transcript.ToolDefinition, str(get(v, "server_label"))
		if it.ServerSide = kind == "mcp_list_tools"; it.Name == "" {
			it.Name = kind
		}
	default: // item_reference, mcp_approval_request, agent_message …
		it.Kind, it.Role, it.Name = transcript.Other, str(get(v, "role")), str(get(v, "name"))
		if kind == "item_reference" || kind == "" && it.ItemID != "" { // whose type is optional
			it.Name = transcript.Reference
		}
	}
	return it, visible
}

func byClient(v []byte) bool { return str(get(v, "execution")) == "client" }

func responsesMessage(it *transcript.Item, v []byte, role string) (visible string) {
	it.Kind, it.Role = transcript.MessageItem, role
	if role == "system" || role == "developer" {
		it.Kind = transcript.System
	}
	content := get(v, "content")
	if isString(content) {
		it.Text = unquote(content)
		return it.Text
	}
	var all, seen strings.Builder
	for e := walk(content); !e.object && e.next(); {
		p := e.value()
		switch kind := str(get(p, "type")); kind {
		case "output_text", "input_text", "text":
			text := str(get(p, "text"))
			all.WriteString(text)
			seen.WriteString(text)
		case "refusal":
			all.WriteString(str(get(p, "refusal")))
		default:
			it.Parts = append(it.Parts, transcript.HashJSON(p))
		}
	}
	it.Text = all.String()
	return seen.String()
}

func joinText(v []byte) string {
	var text strings.Builder
	for e := walk(v); !e.object && e.next(); {
		text.WriteString(str(get(e.value(), "text")))
	}
	return text.String()
}

func responsesCall(it *transcript.Item, v []byte, kind string) {
	member, client := callArguments(kind)
	it.Kind, it.Role = transcript.ToolCall, "assistant"
	it.ServerSide = !client && (kind != "tool_search_call" || !byClient(v))
	it.CallID, it.Name = str(get(v, "call_id")), str(get(v, "name"))
	if it.Name == "" {
		it.Name = strings.TrimSuffix(kind, "_call")
	}
	arguments := get(v, member)
	if member == "action" && !has(arguments) { // computer calls of several actions
		arguments = get(v, "actions")
	}
	if member == "input" || member == "code" || member == "prompt" {
		it.ArgumentsRaw = words(arguments) // free text
		return
	}
	setArguments(it, arguments)
}

func responsesOutput(it *transcript.Item, v []byte) {
	it.Name = str(get(v, "name"))
	for _, member := range [...]string{"output", "result", "tools"} {
		if value := get(v, member); has(value) {
			readResult(it, value)
			return
		}
	}
}

func (a responsesAPI) response(object []byte) {
	t := a.turn
	a.readError(object)
	reason := ""
	for c := walk(object); c.object && c.next(); {
		switch v := c.value(); string(c.key()) {
		case "id":
			t.ResponseID = str(v)
		case "model":
			t.ResponseModel = str(v)
		case "status":
			t.FinishReason = str(v)
		case "previous_response_id": // of a retrieved response, whose request has none
			if t.PreviousID == "" {
				t.PreviousID = str(v)
			}
		case "conversation":
			if t.Conversation == "" {
				t.Conversation = conversationID(v)
			}
		case "object":
			t.Replaces = str(v) == "response.compaction"
		case "incomplete_details":
			reason = str(get(v, "reason"))
		case "output":
			a.output(v)
		case "usage":
			if isObject(v) {
				t.UsageRaw, t.Usage = v, responsesUsage(v)
			}
		}
	}
	if t.FinishReason == "incomplete" && reason != "" {
		t.FinishReason += "/" + reason
	}
}

func (a responsesAPI) output(v []byte) {
	var text strings.Builder
	n := 0
	for e := walk(v); !e.object && e.next(); n++ {
		it, visible := responsesItem(e.value(), "assistant")
		it.At = "/output/" + strconv.Itoa(n)
		text.WriteString(visible)
		a.out(it)
	}
	a.turn.Text = text.String()
}

func responsesUsage(v []byte) *transcript.Usage {
	u := transcript.Usage{
		InputTotal: num(get(v, "input_tokens")),
		CacheRead:  num(get(v, "input_tokens_details", "cached_tokens")),
		CacheWrite: num(get(v, "input_tokens_details", "cache_write_tokens")),
		Output:     num(get(v, "output_tokens")),
		Reasoning:  num(get(v, "output_tokens_details", "reasoning_tokens")),
		Total:      num(get(v, "total_tokens")),
	}
	u.InputUncached = max(0, u.InputTotal-u.CacheRead-u.CacheWrite)
	if u.Total == 0 {
		u.Total = u.InputTotal + u.Output
	}
	return &u
}
