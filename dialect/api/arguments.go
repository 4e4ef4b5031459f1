package api

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
func (l List) FindCall(d transcript.Dialect, body []byte, callID string) (*transcript.Item, error) {
	items := l.Decode(d, &Wire{Request: body}).Input
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
func (l List) SetArgumentsAt(d transcript.Dialect, body []byte, at string, arguments json.RawMessage) ([]byte, error) {
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
	a := l.Of(d)
	if a == nil {
		return nil, fmt.Errorf("set arguments at %s: %w", at, ErrNoCall)
	}
	member, form := a.Arguments(call)
	if member == "" {
		return nil, fmt.Errorf("set arguments at %s: %w", at, ErrNoCall)
	}
	value := []byte(arguments)
	switch {
	case form == FreeText && rawjson.IsString(value): // its text is the input
	case form != AsObject:
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
