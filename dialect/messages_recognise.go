package dialect

import (
	"bytes"
	"slices"

	"github.com/retake-debugger/retake/rawjson"
)

func isMessages(w *Wire, path []string) Claim {
	switch post := isPost(w); {
	case post && endsWith(path, "messages") && !slices.Contains(path, "threads") && (mayBe(w.Request, "messages") || answered(w, isMessagesAnswer, isMessagesEvent)):
		return Mine
	case post && endsWith(path, "messages", "count_tokens"), post && endsWith(path, "messages", "batches"):
		return Nobodys
	}
	body := bytes.TrimSpace(w.Request)
	if rawjson.Get(body, "anthropic_version") != nil && rawjson.Get(body, "messages") != nil {
		return Mine // Vertex's :rawPredict, Bedrock's invoke
	}
	return NotMine
}

func isMessagesAnswer(v []byte) bool {
	if object := rawjson.String(rawjson.Get(v, "object")); object != "" && object != "chat.completion.chunk" {
		return false
	}
	return rawjson.String(rawjson.Get(v, "type")) == "message" && rawjson.IsArray(rawjson.Get(v, "content")) && rawjson.Get(v, "stop_reason") != nil
}

func isMessagesEvent(v []byte) bool {
	return rawjson.String(rawjson.Get(v, "type")) == "message_start" && rawjson.IsObject(rawjson.Get(v, "message"))
}

// resemblesMessages looks for what Chat Completions does not have.
func resemblesMessages(body []byte) int {
	messages := rawjson.Get(body, "messages")
	if messages == nil {
		return 0
	}
	names := func(name string) bool { return bytes.Contains(messages, []byte(`"`+name+`"`)) }
	blocks := names("tool_use") || names("tool_result") || names("thinking")
	if rawjson.Get(body, "system") != nil || blocks && !names("tool_calls") && !names("tool_call_id") || rawjson.Get(firstOf(rawjson.Get(body, "tools")), "input_schema") != nil {
		return 2
	}
	return 0
}
