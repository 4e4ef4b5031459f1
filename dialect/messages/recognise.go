package messages

import (
	"bytes"
	"slices"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
)

func isMessages(w *api.Wire, path []string) api.Claim {
	switch post := api.IsPost(w); {
	case post && api.EndsWith(path, "messages") && !slices.Contains(path, "threads") && (api.MayBe(w.Request, "messages") || api.Answered(w, isMessagesAnswer, isMessagesEvent)):
		return api.Mine
	case post && api.EndsWith(path, "messages", "count_tokens"), post && api.EndsWith(path, "messages", "batches"):
		return api.Nobodys
	}
	body := bytes.TrimSpace(w.Request)
	if rawjson.Get(body, "anthropic_version") != nil && rawjson.Get(body, "messages") != nil {
		return api.Mine // Vertex's :rawPredict, Bedrock's invoke
	}
	return api.NotMine
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
	if rawjson.Get(body, "system") != nil || blocks && !names("tool_calls") && !names("tool_call_id") || rawjson.Get(api.FirstOf(rawjson.Get(body, "tools")), "input_schema") != nil {
		return 2
	}
	return 0
}
