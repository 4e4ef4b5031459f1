package messages

import (
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// decoder reads Anthropic Messages, at Anthropic, on Vertex AI and under
// Bedrock's invoke.
type decoder struct{ *api.Reader }

func (a decoder) Stream() api.Assembler { return &stream{Reader: a.Reader} }

func (a decoder) Request(o *api.Outline) {
	a.Common(o)
	// Threads that the provider holds: {"type":"continue","previous_message_id":…}
	// goes on from an answer, and only what is new is sent
	// (anthropic-sdk-typescript, beta messages).
	a.Turn.PreviousID = rawjson.String(rawjson.Get(o.Value("thread"), "previous_message_id"))
	a.Each(o, "system", a.systemBlock, a.systemText)
	a.Each(o, "messages", a.message, nil)
	a.Each(o, "tools", a.tool, nil)
}

func (a decoder) systemBlock(v []byte, at string) {
	it := blockItem(v, "system")
	it.At = at
	a.In(it)
}

func (a decoder) systemText(v []byte, at string) {
	it := api.TextItem("system", rawjson.Unquote(v))
	it.Raw, it.At = v, at
	a.In(it)
}

// tool is a definition; of server tools only some have a name (MCP toolsets
// name their server).
func (a decoder) tool(v []byte, at string) {
	name := ""
	for _, member := range [...]string{"name", "mcp_server_name", "type"} {
		if name == "" {
			name = rawjson.String(rawjson.Get(v, member))
		}
	}
	a.In(transcript.Item{Kind: transcript.ToolDefinition, Name: name, Raw: v, At: at})
}

func (a decoder) message(v []byte, at string) {
	role, content := rawjson.String(rawjson.Get(v, "role")), rawjson.Get(v, "content")
	if !rawjson.IsObject(v) || !rawjson.IsString(content) && !rawjson.IsArray(content) {
		a.Warn("%s is no message", at)
		a.In(transcript.Item{Kind: transcript.Other, Role: role, Raw: v, At: at})
		return
	}
	if rawjson.IsString(content) {
		it := api.TextItem(role, rawjson.Unquote(content))
		it.Raw, it.At = v, at
		a.In(it)
		return
	}
	a.content(content, at+"/content", role, a.In)
}

// content reads a string or a list of blocks. Of a list each block is an item
// of its own, so that one block is the same item in either spelling.
func (a decoder) content(v []byte, at, role string, add func(transcript.Item)) {
	if rawjson.IsString(v) {
		it := api.TextItem(role, rawjson.Unquote(v))
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

// blockItem reads one content block.
func blockItem(v []byte, role string) transcript.Item {
	kind := rawjson.String(rawjson.Get(v, "type"))
	it := transcript.Item{Role: role, Raw: v}
	switch {
	case rawjson.IsString(v): // not in the API, but gateways take it
		it = api.TextItem(role, rawjson.Unquote(v))
		it.Raw = v
	case kind == "text":
		it = api.TextItem(role, rawjson.String(rawjson.Get(v, "text")))
		it.Raw = v
	case kind == "thinking", kind == "redacted_thinking":
		it.Kind, it.Text = transcript.Reasoning, rawjson.String(rawjson.Get(v, "thinking"))
	case kind == "tool_use", kind == "server_tool_use", kind == "mcp_tool_use":
		it.Kind, it.ServerSide = transcript.ToolCall, kind != "tool_use"
		it.CallID, it.Name = rawjson.String(rawjson.Get(v, "id")), rawjson.String(rawjson.Get(v, "name"))
		api.SetArguments(&it, rawjson.Get(v, "input"))
	case kind == "tool_result", strings.HasSuffix(kind, "_tool_result"):
		it.Kind, it.ServerSide = transcript.ToolResult, kind != "tool_result"
		it.CallID, it.IsError = rawjson.String(rawjson.Get(v, "tool_use_id")), string(rawjson.Get(v, "is_error")) == "true"
		api.ReadResult(&it, rawjson.Get(v, "content"))
	case kind == "compaction":
		it.Kind, it.Text = transcript.Compaction, rawjson.String(rawjson.Get(v, "content"))
	case kind == "image", kind == "document", kind == "search_result", kind == "container_upload", kind == "file":
		it.Kind, it.Parts = transcript.MessageItem, []string{transcript.HashJSON(v)}
	default: // fallback, tool_addition, what is still to come
		it.Kind = transcript.Other
	}
	return it
}

func (a decoder) Response(object []byte) {
	t := a.Turn
	a.ReadError(object)
	for c := rawjson.Walk(object); c.Object && c.Next(); {
		switch v := c.Value(); string(c.Key()) {
		case "id":
			t.ResponseID = rawjson.String(v)
		case "model":
			t.ResponseModel = rawjson.String(v)
		case "stop_reason":
			t.FinishReason = rawjson.String(v)
		case "content":
			a.content(v, "/content", "assistant", a.Out)
		case "usage":
			if rawjson.IsObject(v) {
				t.UsageRaw, t.Usage = v, usage(v)
				a.NoOutputCount = rawjson.Get(v, "output_tokens") == nil // put together from a file
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

// usage adds up the prompt: Anthropic's input_tokens leaves out what
// was read from the cache and what was written to it.
func usage(v []byte) *transcript.Usage {
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
