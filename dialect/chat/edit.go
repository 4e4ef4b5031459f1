package chat

import (
	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
)

func arguments(v []byte) (string, api.Form) {
	switch {
	case rawjson.IsObject(rawjson.Get(v, "custom")):
		return "/custom/input", api.FreeText
	case rawjson.IsObject(rawjson.Get(v, "function")):
		return "/function/arguments", api.JSONText
	case rawjson.Get(v, "name") != nil: // a legacy function_call
		return "/arguments", api.JSONText
	}
	return "", api.AsObject
}

func chatResult(v []byte) string {
	if role := rawjson.String(rawjson.Get(v, "role")); role == "tool" || role == "function" {
		return "content"
	}
	return ""
}
