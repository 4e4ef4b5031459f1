package chat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/dialect/openai"
	"github.com/retake-debugger/retake/rawjson"
)

var chatRules = api.Rules{
	Misnamed:     "input",
	MisnamedText: true,
	ToolShape:    chatToolShape,
	ToolChoice:   chatToolChoice,
	Unsupported:  chatUnsupported,
	Call:         chatJudged,
	ResultID:     "tool_call_id",
	ByName:       func(result []byte) bool { return rawjson.String(rawjson.Get(result, "role")) == "function" }, // legacy
	Content:      func([]byte) string { return "content" },
}

func chatToolShape(at string, tool []byte) string {
	kind := rawjson.String(rawjson.Get(tool, "type"))
	if strings.HasPrefix(at, "/functions") || rawjson.IsObject(rawjson.Get(tool, "function")) || kind != "" && kind != "function" {
		return ""
	}
	switch {
	case rawjson.IsObject(rawjson.Get(tool, "input_schema")):
		return `this is a tool of messages: send {"type":"function","function":{"name","parameters"}}`
	case rawjson.IsString(rawjson.Get(tool, "name")) || rawjson.IsObject(rawjson.Get(tool, "parameters")):
		return `name and parameters belong under "function"`
	case kind == "function":
		return `the tool has no "function"`
	}
	return ""
}

func chatToolChoice(v []byte) (name, why string) {
	kind := rawjson.String(rawjson.Get(v, "type"))
	switch choices := []string{"auto", "none", "required", "any"}; { // any: Mistral
	case kind == "function" && !rawjson.IsObject(rawjson.Get(v, "function")), kind == "tool", kind == "any", kind == "auto":
		return "", `tool_choice has the shape of another API: send "auto", "none", "required" or {"type":"function","function":{"name"}}`
	case rawjson.IsString(v) && !slices.Contains(choices, rawjson.String(v)):
		return "", fmt.Sprintf(`tool_choice is %s: chat takes "auto", "none", "required" or an object`, api.Quoted(rawjson.String(v)))
	}
	return rawjson.String(rawjson.Get(v, "function", "name")), ""
}

func chatUnsupported(model string, part []byte) string {
	switch rawjson.String(rawjson.Get(part, "type")) {
	case "input_audio":
		if isOpenAIModel(model) && !strings.Contains(model, "audio") {
			return fmt.Sprintf("%s takes no audio: use a model that does, or send a transcript", api.Quoted(model))
		}
	case "input_file":
		return openai.AudioFile(part)
	}
	return ""
}

// isOpenAIModel reports whether a model is one of OpenAI's by its name.
func isOpenAIModel(model string) bool {
	return strings.HasPrefix(model, "gpt-") && !strings.HasPrefix(model, "gpt-oss") ||
		len(model) > 1 && model[0] == 'o' && model[1] >= '1' && model[1] <= '9'
}

func chatJudged(call []byte) (string, api.Form) {
	switch {
	case rawjson.IsObject(rawjson.Get(call, "custom")):
		return "/custom/input", api.FreeText
	case rawjson.Get(call, "function") != nil:
		return "/function/arguments", api.JSONText
	}
	return "/arguments", api.JSONText
}
