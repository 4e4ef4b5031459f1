package dialect

import (
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// messagesDecoder reads Anthropic Messages, at Anthropic, on Vertex AI and under
// Bedrock's invoke.
type messagesDecoder struct{ *reader }

func (a messagesDecoder) Stream() Assembler { return &messagesStream{reader: a.reader} }

func (a messagesDecoder) Request(o *outline) {
	a.common(o)
	// Threads that the provider holds: {"type":"continue","previous_message_id":…}
	// goes on from an answer, and only what is new is sent
	// (anthropic-sdk-typescript, beta messages).
	a.turn.PreviousID = rawjson.String(rawjson.Get(o.value("thread"), "previous_message_id"))
	a.each(o, "system", a.systemBlock, a.systemText)
	a.each(o, "messages", a.message, nil)
	a.each(o, "tools", a.tool, nil)
}

func (a messagesDecoder) systemBlock(v []byte, at string) {
	it := blockItem(v, "system")
	it.At = at
	a.in(it)
}

func (a messagesDecoder) systemText(v []byte, at string) {
	it := textItem("system", rawjson.Unquote(v))
	it.Raw, it.At = v, at
	a.in(it)
}

// tool is a definition; of server tools only some have a name (MCP toolsets
// name their server).
func (a messagesDecoder) tool(v []byte, at string) {
	name := ""
	for _, member := range [...]string{"name", "mcp_server_name", "type"} {
		if name == "" {
			name = rawjson.String(rawjson.Get(v, member))
		}
	}
	a.in(transcript.Item{Kind: transcript.ToolDefinition, Name: name, Raw: v, At: at})
}

func (a messagesDecoder) message(v []byte, at string) {
	role, content := rawjson.String(rawjson.Get(v, "role")), rawjson.Get(v, "content")
	if !rawjson.IsObject(v) || !rawjson.IsString(content) && !rawjson.IsArray(content) {
		a.warn("%s is no message", at)
		a.in(transcript.Item{Kind: transcript.Other, Role: role, Raw: v, At: at})
		return
	}
	if rawjson.IsString(content) {
		it := textItem(role, rawjson.Unquote(content))
		it.Raw, it.At = v, at
		a.in(it)
		return
	}
	a.content(content, at+"/content", role, a.in)
}

// content reads a string or a list of blocks. Of a list each block is an item
// of its own, so that one block is the same item in either spelling.
func (a messagesDecoder) content(v []byte, at, role string, add func(transcript.Item)) {
	if rawjson.IsString(v) {
		it := textItem(role, rawjson.Unquote(v))
		it.Raw, it.At = v, at
		add(it)
		return
	}
	n := 0
	for e := rawjson.Walk(v); !e.Object && e.Next(); n++ {
		it := blockItem(e.Value(), role)
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
	kind := rawjson.String(rawjson.Get(v, "type"))
	it := transcript.Item{Role: role, Raw: v}
	switch {
	case rawjson.IsString(v): // not in the API, but gateways take it
		it = textItem(role, rawjson.Unquote(v))
		it.Raw = v
	case kind == "text":
		it = textItem(role, rawjson.String(rawjson.Get(v, "text")))
		it.Raw = v
	case kind == "thinking", kind == "redacted_thinking":
		it.Kind, it.Text = transcript.Reasoning, rawjson.String(rawjson.Get(v, "thinking"))
	case kind == "tool_use", kind == "server_tool_use", kind == "mcp_tool_use":
		it.Kind, it.ServerSide = transcript.ToolCall, kind != "tool_use"
		it.CallID, it.Name = rawjson.String(rawjson.Get(v, "id")), rawjson.String(rawjson.Get(v, "name"))
		setArguments(&it, rawjson.Get(v, "input"))
	case kind == "tool_result", strings.HasSuffix(kind, "_tool_result"):
		it.Kind, it.ServerSide = transcript.ToolResult, kind != "tool_result"
		it.CallID, it.IsError = rawjson.String(rawjson.Get(v, "tool_use_id")), string(rawjson.Get(v, "is_error")) == "true"
		readResult(&it, rawjson.Get(v, "content"))
	case kind == "compaction":
		it.Kind, it.Text = transcript.Compaction, rawjson.String(rawjson.Get(v, "content"))
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
	if rawjson.IsString(v) {
		it.Text = rawjson.Unquote(v)
		return
	}
	if rawjson.IsObject(v) {
		it.Parts = append(it.Parts, transcript.HashJSON(v))
		it.Text = printed(v)
		return
	}
	var text strings.Builder
	for e := rawjson.Walk(v); !e.Object && e.Next(); {
		p := e.Value()
		switch kind := rawjson.String(rawjson.Get(p, "type")); kind {
		case "text", "input_text", "output_text":
			text.WriteString(rawjson.String(rawjson.Get(p, "text")))
		default:
			it.Parts = append(it.Parts, transcript.HashJSON(p))
			text.WriteString(printed(p))
		}
	}
	it.Text = text.String()
}

// printed gives what a program printed, from the results of shells and code.
func printed(v []byte) string {
	return rawjson.String(rawjson.Get(v, "stdout")) + rawjson.String(rawjson.Get(v, "stderr"))
}

func (a messagesDecoder) Response(object []byte) {
	t := a.turn
	a.readError(object)
	for c := rawjson.Walk(object); c.Object && c.Next(); {
		switch v := c.Value(); string(c.Key()) {
		case "id":
			t.ResponseID = rawjson.String(v)
		case "model":
			t.ResponseModel = rawjson.String(v)
		case "stop_reason":
			t.FinishReason = rawjson.String(v)
		case "content":
			a.content(v, "/content", "assistant", a.out)
		case "usage":
			if rawjson.IsObject(v) {
				t.UsageRaw, t.Usage = v, messagesUsage(v)
				a.noOutputCount = rawjson.Get(v, "output_tokens") == nil // put together from a file
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

// messagesUsage adds up the prompt: Anthropic's input_tokens leaves out what
// was read from the cache and what was written to it.
func messagesUsage(v []byte) *transcript.Usage {
	u := transcript.Usage{
		InputUncached: rawjson.Count(rawjson.Get(v, "input_tokens")),
		CacheRead:     rawjson.Count(rawjson.Get(v, "cache_read_input_tokens")),
		CacheWrite:    rawjson.Count(rawjson.Get(v, "cache_creation_input_tokens")),
		Output:        rawjson.Count(rawjson.Get(v, "output_tokens")),
		Reasoning:     rawjson.Count(rawjson.Get(v, "output_tokens_details", "thinking_tokens")),
	}
	hour := min(max(0, rawjson.Count(rawjson.Get(v, "cache_creation", "ephemeral_1h_input_tokens"))), u.CacheWrite)
	u.CacheWrite1h = &hour
	u.InputTotal = u.InputUncached + u.CacheRead + u.CacheWrite
	u.Total = u.InputTotal + u.Output
	return &u
}
