package api

import (
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// TextItem returns the item of a message that is a text.
func TextItem(role, text string) transcript.Item {
	it := transcript.Item{Kind: transcript.MessageItem, Role: role, Text: text}
	if role == "system" { // also as a message in the middle of a conversation
		it.Kind = transcript.System
	}
	return it
}

// ReadResult reads the value of a tool result: a string, a list of parts, or,
// from tools that a provider runs, an object.
func ReadResult(it *transcript.Item, v []byte) {
	if rawjson.IsString(v) {
		it.Text = rawjson.Unquote(v)
		return
	}
	if rawjson.IsObject(v) {
		it.Parts = append(it.Parts, transcript.HashJSON(v))
		it.Text = printed(v)
		return
	}
	var text strings.Builder
	for e := rawjson.Walk(v); !e.Object && e.Next(); {
		p := e.Value()
		switch kind := rawjson.String(rawjson.Get(p, "type")); kind {
		case "text", "input_text", "output_text":
			text.WriteString(rawjson.String(rawjson.Get(p, "text")))
		default:
			it.Parts = append(it.Parts, transcript.HashJSON(p))
			text.WriteString(printed(p))
		}
	}
	it.Text = text.String()
}

// printed gives what a program printed, from the results of shells and code.
func printed(v []byte) string {
	return rawjson.String(rawjson.Get(v, "stdout")) + rawjson.String(rawjson.Get(v, "stderr"))
}

// SetArguments takes a call's arguments: the text of a string, the source of
// any other JSON value. A call without arguments has the empty object for
// Arguments and keeps its empty text.
func SetArguments(it *transcript.Item, v []byte) {
	switch {
	case rawjson.IsString(v):
		it.ArgumentsRaw = rawjson.Unquote(v)
	case rawjson.Present(v):
		it.ArgumentsRaw = string(v)
	}
	if strings.TrimSpace(it.ArgumentsRaw) == "" {
		it.Arguments = []byte("{}")
	} else if raw := []byte(it.ArgumentsRaw); rawjson.Valid(raw) {
		it.Arguments = raw
	}
}
