package dialect

import (
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// messagesAPI is Anthropic Messages, at Anthropic, on Vertex AI and under
// Bedrock's invoke.
type messagesAPI struct{ *reader }

func (a messagesAPI) stream() assembler { return &messagesStream{reader: a.reader} }

func (a messagesAPI) request(o *outline) {
	a.common(o)
	// Threads that the provider holds: {"type":"continue","previous_message_id":…}
	// goes on from an answer, and only what is new is sent
	// (anthropic-sdk-typescript, beta messages).
	a.turn.PreviousID = str(get(o.value("thread"), "previous_message_id"))
	a.each(o, "system", a.systemBlock, a.systemText)
	a.each(o, "messages", a.message, nil)
	a.each(o, "tools", a.tool, nil)
}

func (a messagesAPI) systemBlock(v []byte, at string) {
	it := blockItem(v, "system")
	it.At = at
	a.in(it)
}

func (a messagesAPI) systemText(v []byte, at string) {
	it := textItem("system", unquote(v))
	it.Raw, it.At = v, at
	a.in(it)
}

// tool is a definition; of server tools only some have a name (MCP toolsets
// name their server).
func (a messagesAPI) tool(v []byte, at string) {
	name := ""
	for _, member := range [...]string{"name", "mcp_server_name", "type"} {
		if name == "" {
			name = str(get(v, member))
		}
	}
	a.in(transcript.Item{Kind: transcript.ToolDefinition, Name: name, Raw: v, At: at})
}

func (a messagesAPI) message(v []byte, at string) {
	role, content := str(get(v, "role")), get(v, "content")
	if !isObject(v) || !isString(content) && !isArray(content) {
		a.warn("%s is no message", at)
		a.in(transcript.Item{Kind: transcript.Other, Role: role, Raw: v, At: at})
		return
	}
	if isString(content) {
		it := textItem(role, unquote(content))
		it.Raw, it.At = v, at
		a.in(it)
		return
	}
	a.content(content, at+"/content", role, a.in)
}

// content reads a string or a list of blocks. Of a list each block is an item
// of its own, so that one block is the same item in either spelling.
func (a messagesAPI) content(v []byte, at, role string, add func(transcript.Item)) {
	if isString(v) {
		it := textItem(role, unquote(v))
		it.Raw, it.At = v, at
		add(it)
		return
	}
	n := 0
	for e := walk(v); !e.object && e.next(); n++ {
		it := blockItem(e.value(), role)
		it.At = at + "/" + strconv.Itoa(n)
		add(it)
	}
}

func textItem(role, text string) transcript.Item {
	it := transcript.Item{Kind: transcript.MessageItem, Role: role, Text: text}
	if role == "system" { // also as a message in the middle of a conversation
		it.Kind = transcript.System
	}
	return it
}

// blockItem reads one content block.
func blockItem(v []byte, role string) transcript.Item {
	kind := str(get(v, "type"))
	it := transcript.Item{Role: role, Raw: v}
	switch {
	case isString(v): // not in the API, but gateways take it
		it = textItem(role, unquote(v))
		it.Raw = v
	case kind == "text":
		it = textItem(role, str(get(v, "text")))
		it.Raw = v
	case kind == "thinking", kind == "redacted_thinking":
		it.Kind, it.Text = transcript.Reasoning, str(get(v, "thinking"))
	case kind == "tool_use", kind == "server_tool_use", kind == "mcp_tool_use":
		it.Kind, it.ServerSide = transcript.ToolCall, kind != "tool_use"
		it.CallID, it.Name = str(get(v, "id")), str(get(v, "name"))
		setArguments(&it, get(v, "input"))
	case kind == "tool_result", strings.HasSuffix(kind, "_tool_result"):
		it.Kind, it.ServerSide = transcript.ToolResult, kind != "tool_result"
		it.CallID, it.IsError = str(get(v, "tool_use_id")), string(get(v, "is_error")) == "true"
		readResult(&it, get(v, "content"))
	case kind == "compaction":
		it.Kind, it.Text = transcript.Compaction, str(get(v, "content"))
	case kind == "image", kind == "document", kind == "search_result", kind == "container_upload", kind == "file":
		it.Kind, it.Parts = transcript.MessageItem, []string{transcript.HashJSON(v)}
	default: // fallback, tool_addition, what is still to come
		it.Kind = transcript.Other
	}
	return it
}

// readResult reads the value of a tool result: a string, a list of parts, or,
// from tools that a provider runs, an object.
func readResult(it *transcript.Item, v []byte) {
	if isString(v) {
		it.Text = unquote(v)
		return
	}
	if isObject(v) {
		it.Parts = append(it.Parts, transcript.HashJSON(v))
		it.Text = printed(v)
		return
	}
	var text strings.Builder
	for e := walk(v); !e.object && e.next(); {
		p := e.value()
		switch kind := str(get(p, "type")); kind {
		case "text", "input_text", "output_text":
			text.WriteString(str(get(p, "text")))
		default:
			it.Parts = append(it.Parts, transcript.HashJSON(p))
			text.WriteString(printed(p))
		}
	}
	it.Text = text.String()
}

// printed gives what a program printed, from the results of shells and code.
func printed(v []byte) string { return str(get(v, "stdout")) + str(get(v, "stderr")) }

func (a messagesAPI) response(object []byte) {
	t := a.turn
	a.readError(object)
	for c := walk(object); c.object && c.next(); {
		switch v := c.value(); string(c.key()) {
		case "id":
			t.ResponseID = str(v)
		case "model":
			t.ResponseModel = str(v)
		case "stop_reason":
			t.FinishReason = str(v)
		case "content":
			a.content(v, "/content", "assistant", a.out)
		case "usage":
			if isObject(v) {
				t.UsageRaw, t.Usage = v, messagesUsage(v)
			}
		}
	}
	var text strings.Builder
	for i := range t.Output {
		if t.Output[i].Kind == transcript.MessageItem {
			text.WriteString(t.Output[i].Text)
		}
	}
	t.Text = text.String()
}

// countsOutput tells whether the usage of an answer says what came out. That of one
// which was put together from a file may not.
func countsOutput(t *transcript.Turn) bool {
	return t.Dialect != transcript.Messages || get(t.UsageRaw, "output_tokens") != nil
}

// messagesUsage adds up the prompt: Anthropic's input_tokens leaves out what
// was read from the cache and what was written to it.
func messagesUsage(v []byte) *transcript.Usage {
	u := transcript.Usage{
		InputUncached: num(get(v, "input_tokens")),
		CacheRead:     num(get(v, "cache_read_input_tokens")),
		CacheWrite:    num(get(v, "cache_creation_input_tokens")),
		Output:        num(get(v, "output_tokens")),
		Reasoning:     num(get(v, "output_tokens_details", "thinking_tokens")),
	}
	hour := min(max(0, num(get(v, "cache_creation", "ephemeral_1h_input_tokens"))), u.CacheWrite)
	u.CacheWrite1h = &hour
	u.InputTotal = u.InputUncached + u.CacheRead + u.CacheWrite
	u.Total = u.InputTotal + u.Output
	return &u
}
