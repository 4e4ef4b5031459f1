package dialect

import "github.com/retake-debugger/retake/rawjson"

func chatArguments(v []byte) (string, Form) {
	switch {
	case rawjson.IsObject(rawjson.Get(v, "custom")):
		return "/custom/input", FreeText
	case rawjson.IsObject(rawjson.Get(v, "function")):
		return "/function/arguments", JSONText
	case rawjson.Get(v, "name") != nil: // a legacy function_call
		return "/arguments", JSONText
	}
	return "", AsObject
}

func chatResult(v []byte) string {
	if role := rawjson.String(rawjson.Get(v, "role")); role == "tool" || role == "function" {
		return "content"
	}
	return ""
}
