package responses

import (
	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
	"strings"
)

func arguments(v []byte) (string, api.Form) {
	switch rawjson.String(rawjson.Get(v, "type")) {
	case "function_call", "mcp_call":
		return "/arguments", api.JSONText
	case "custom_tool_call":
		return "/input", api.FreeText
	case "tool_search_call":
		return "/arguments", api.AsObject
	case "apply_patch_call":
		return "/operation", api.AsObject
	case "computer_call", "local_shell_call", "shell_call", "web_search_call":
		return "/action", api.AsObject
	}
	return "", api.AsObject
}

func resultMember(v []byte) string {
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
