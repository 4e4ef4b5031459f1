package responses

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/dialect/openai"
	"github.com/retake-debugger/retake/rawjson"
)

var responsesRules = api.Rules{
	Misnamed:        "messages",
	Held:            []string{"conversation", "prompt"},
	ToolShape:       responsesToolShape,
	ToolChoice:      responsesToolChoice,
	TextItems:       true,
	Unsupported:     responsesUnsupported,
	Call:            responsesJudged,
	BuiltIn:         responsesBuiltIn,
	BadID:           responsesBadID,
	ResultID:        "call_id",
	Content:         responsesContent,
	ForeignPart:     func(kind string) bool { return !strings.HasPrefix(kind, "input_") },
	ResultsAnywhere: true,
	ReasoningByID:   true,
}

func responsesToolShape(_ string, tool []byte) string {
	kind, name := rawjson.String(rawjson.Get(tool, "type")), rawjson.IsString(rawjson.Get(tool, "name"))
	switch {
	case rawjson.IsObject(rawjson.Get(tool, "function")) && !name:
		return `this is a tool of chat: name and parameters stand beside "type"`
	case rawjson.IsObject(rawjson.Get(tool, "input_schema")) && kind == "":
		return `this is a tool of messages: send {"type":"function","name","parameters"}`
	case kind == "" && name:
		return `the tool has no "type": send {"type":"function",…}`
	}
	return ""
}

func responsesToolChoice(v []byte) (name, why string) {
	kind := rawjson.String(rawjson.Get(v, "type"))
	switch choices := []string{"auto", "none", "required"}; {
	case rawjson.IsObject(rawjson.Get(v, "function")), kind == "tool", kind == "any", kind == "auto":
		return "", `tool_choice has the shape of another API: send "auto", "none", "required" or {"type":"function","name"}`
	case rawjson.IsString(v) && !slices.Contains(choices, rawjson.String(v)):
		return "", fmt.Sprintf(`tool_choice is %s: responses takes "auto", "none", "required" or an object`, api.Quoted(rawjson.String(v)))
	}
	return rawjson.String(rawjson.Get(v, "name")), ""
}

func responsesUnsupported(_ string, part []byte) string {
	if rawjson.String(rawjson.Get(part, "type")) != "input_file" {
		return ""
	}
	return openai.AudioFile(part)
}

// responsesJudged returns FreeText for all calls whose arguments are not JSON in a
// string.
func responsesJudged(call []byte) (string, api.Form) {
	if rawjson.String(rawjson.Get(call, "type")) == "function_call" {
		return "/arguments", api.JSONText
	}
	return "", api.FreeText
}

func responsesBuiltIn(call []byte) bool {
	kind := rawjson.String(rawjson.Get(call, "type"))
	return kind != "function_call" && kind != "custom_tool_call"
}

// responsesMaxID is the length of the longest call id.
const responsesMaxID = 64

func responsesBadID(id string) string {
	if n := len(id); n > responsesMaxID {
		return fmt.Sprintf("the id has %d characters, more than %d", n, responsesMaxID)
	}
	return ""
}

func responsesContent(result []byte) string {
	switch rawjson.String(rawjson.Get(result, "type")) {
	case "function_call_output", "custom_tool_call_output":
		return "output"
	}
	return ""
}
