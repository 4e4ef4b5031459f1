package messages

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
)

var messagesRules = api.Rules{
	MaxTokens:       "max_tokens",
	ToolShape:       messagesToolShape,
	ToolChoice:      messagesToolChoice,
	NoEmptyText:     true,
	Call:            func([]byte) (string, api.Form) { return "/input", api.AsObject },
	BadID:           messagesBadID,
	UniqueIDs:       true,
	ResultID:        "tool_use_id",
	Content:         func([]byte) string { return "content" },
	NoContent:       true,
	ForeignPart:     func(kind string) bool { return strings.HasPrefix(kind, "input_") || kind == "image_url" },
	ResultsTogether: true,
	Signature:       messagesSignature,
	KeepReasoning:   messagesKeepReasoning,
}

func messagesToolShape(_ string, tool []byte) string {
	switch {
	case rawjson.IsObject(rawjson.Get(tool, "function")):
		return `this is a tool of chat: send {"name","input_schema"}`
	case rawjson.IsObject(rawjson.Get(tool, "parameters")) && !rawjson.IsObject(rawjson.Get(tool, "input_schema")):
		return `the schema is under "parameters": messages reads "input_schema"`
	}
	return ""
}

func messagesToolChoice(v []byte) (name, why string) {
	if !rawjson.IsObject(v) {
		return "", fmt.Sprintf(`tool_choice is %s: send an object such as {"type":"auto"}`, rawjson.Describe(v))
	}
	switch kind := rawjson.String(rawjson.Get(v, "type")); kind {
	case "auto", "any", "tool", "none":
		return rawjson.String(rawjson.Get(v, "name")), ""
	default:
		return "", fmt.Sprintf("tool_choice has the type %s: messages takes auto, any, tool and none", api.Quoted(kind))
	}
}

// messagesBadID holds an id against ^[a-zA-Z0-9_-]+$.
func messagesBadID(id string) string {
	for _, c := range id {
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return fmt.Sprintf("the id holds %q", c)
		}
	}
	return ""
}

func messagesSignature(reasoning []byte) (signature string, needed bool) {
	return rawjson.String(rawjson.Get(reasoning, "signature")), rawjson.String(rawjson.Get(reasoning, "type")) == "thinking"
}

func messagesKeepReasoning(parameters map[string]json.RawMessage) api.Need {
	switch rawjson.String(rawjson.Get(parameters["thinking"], "type")) {
	case "enabled":
		return api.Required
	case "adaptive":
		return api.Wanted
	}
	return api.Optional
}
