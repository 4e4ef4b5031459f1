package dialect

import (
	"github.com/retake-debugger/retake/rawjson"
	"strings"
)

func responsesArguments(v []byte) (string, Form) {
	switch rawjson.String(rawjson.Get(v, "type")) {
	case "function_call", "mcp_call":
		return "/arguments", JSONText
	case "custom_tool_call":
		return "/input", FreeText
	case "tool_search_call":
		return "/arguments", AsObject
	case "apply_patch_call":
		return "/operation", AsObject
	case "computer_call", "local_shell_call", "shell_call", "web_search_call":
		return "/action", AsObject
	}
	return "", AsObject
}

func responsesResultMember(v []byte) string {
	if !strings.HasSuffix(rawjson.String(rawjson.Get(v, "type")), "_output") {
		return ""
	}
	for _, member := range [...]string{"result", "tools"} {
		if rawjson.Get(v, member) != nil && rawjson.Get(v, "output") == nil {
			return member
		}
	}
	return "output"
}
