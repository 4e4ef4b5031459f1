package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// ErrNoCall says that a request holds no tool call with that id.
var ErrNoCall = errors.New("no such tool call")

// ErrArguments says that arguments are not what that kind of call takes.
var ErrArguments = errors.New("this call takes a JSON object")

// FindCall gives the last tool call with that id in the history that a request
// holds. ErrNoCall if there is none.
func FindCall(d transcript.Dialect, body []byte, callID string) (*transcript.Item, error) {
	items := Decode(d, &Wire{Request: body}).Input
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Kind == transcript.ToolCall && items[i].CallID == callID {
			return &items[i], nil
		}
	}
	return nil, ErrNoCall
}

// SetArgumentsAt gives body with other arguments of the tool call at a JSON
// pointer, the At of its item: as a text where the API has them as a text, else as
// a value. The input of a custom tool is free text: a JSON string stands for what it
// says. Only the bytes of that value change, and none if it says the same already.
func SetArgumentsAt(d transcript.Dialect, body []byte, at string, arguments json.RawMessage) ([]byte, error) {
	if !rawjson.Valid(arguments) {
		return nil, fmt.Errorf("set arguments at %s: they are not JSON", at)
	}
	arguments = bytes.TrimSpace(arguments)
	call, err := rawjson.Value(body, at)
	if errors.Is(err, rawjson.ErrNoValue) {
		return nil, fmt.Errorf("set arguments at %s: %w", at, ErrNoCall)
	}
	if err != nil {
		return nil, fmt.Errorf("set arguments at %s: %w", at, err)
	}
	member, form := argumentsMember(d, call)
	if member == "" {
		return nil, fmt.Errorf("set arguments at %s: %w", at, ErrNoCall)
	}
	value := []byte(arguments)
	switch {
	case form == asText && rawjson.IsString(value): // its text is the input
	case form != asValue:
		value = rawjson.Quote(string(value))
	case !rawjson.IsObject(value):
		return nil, fmt.Errorf("set arguments at %s: %w", at, ErrArguments)
	}
	at += member
	if now, err := rawjson.Value(body, at); err == nil && sameValue(now, value) {
		return body, nil
	}
	return rawjson.Apply(body, rawjson.Edit{Op: rawjson.Set, At: at, Value: value})
}

func sameValue(a, b []byte) bool {
	if rawjson.IsString(a) && rawjson.IsString(b) {
		return rawjson.String(a) == rawjson.String(b)
	}
	return bytes.Equal(a, b)
}

// form is how a call writes its arguments.
type form int

const (
	asJSONText form = iota // JSON in a string
	asText                 // free text in a string
	asValue                // an object
)

// argumentsMember gives the pointer, from the call, to its arguments; "" if v is no
// tool call.
func argumentsMember(d transcript.Dialect, v []byte) (string, form) {
	kind := rawjson.String(rawjson.Get(v, "type"))
	switch d {
	case transcript.Chat:
		switch {
		case rawjson.IsObject(rawjson.Get(v, "custom")):
			return "/custom/input", asText
		case rawjson.IsObject(rawjson.Get(v, "function")):
			return "/function/arguments", asJSONText
		case rawjson.Get(v, "name") != nil: // a legacy function_call
			return "/arguments", asJSONText
		}
	case transcript.Messages:
		switch kind {
		case "tool_use", "server_tool_use", "mcp_tool_use":
			return "/input", asValue
		}
	case transcript.Responses:
		switch kind {
		case "function_call", "mcp_call":
			return "/arguments", asJSONText
		case "custom_tool_call":
			return "/input", asText
		case "tool_search_call":
			return "/arguments", asValue
		case "apply_patch_call":
			return "/operation", asValue
		case "computer_call", "local_shell_call", "shell_call", "web_search_call":
			return "/action", asValue
		}
	}
	return "", asValue
}
