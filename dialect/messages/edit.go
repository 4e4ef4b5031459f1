package messages

import (
	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
	"strings"
)

func arguments(v []byte) (string, api.Form) {
	switch rawjson.String(rawjson.Get(v, "type")) {
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return "/input", api.AsObject
	}
	return "", api.AsObject
}

func messagesResult(v []byte) string {
	if kind := rawjson.String(rawjson.Get(v, "type")); kind == "tool_result" || strings.HasSuffix(kind, "_tool_result") {
		return "content"
	}
	return ""
}
