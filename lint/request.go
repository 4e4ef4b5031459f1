package lint

import (
	"fmt"
	"path"
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// request judges what a request says beside its conversation, where the step
// before did not say the same.
func (w *walker) request() {
	if w.before == nil {
		w.wrongMember()
		w.maxTokens()
	}
	same := w.before != nil && sameTools(w.before.declared, w.set.declared)
	if !same {
		for _, it := range w.set.declared {
			w.toolShape(it)
		}
	}
	if !same || w.before.choice != w.set.choice {
		w.toolChoice()
	}
}

func (w *walker) maxTokens() {
	if p := w.turn.Parameters; w.turn.Dialect == transcript.Messages && len(p) > 0 && !rawjson.Present(p["max_tokens"]) {
		w.find("missing_max_tokens", Error, w.in(""), "", "the request has no max_tokens: set it")
	}
}

// wrongMember finds a conversation under the name that another API has for it.
func (w *walker) wrongMember() {
	p := w.turn.Parameters
	name, want := "", ""
	switch w.turn.Dialect {
	case transcript.Responses:
		name, want = "messages", "input"
	case transcript.Chat:
		name, want = "input", "messages"
	}
	v := p[name]
	if name == "" || !rawjson.IsArray(v) && !(rawjson.IsString(v) && name == "input") {
		return
	}
	severity := Error
	if len(conversation(w.turn.Input)) > 0 {
		severity = Warning
	}
	w.find("wrong_request_member", severity, w.in("/"+name), "", "%s does not read %q: send the conversation as %q", w.turn.Dialect, name, want)
}

// toolShape looks whether a function is declared as the API wants it.
func (w *walker) toolShape(it *transcript.Item) {
	raw, why := it.Raw, ""
	kind := rawjson.String(rawjson.Get(raw, "type"))
	inner, schema, parameters := rawjson.IsObject(rawjson.Get(raw, "function")), rawjson.IsObject(rawjson.Get(raw, "input_schema")), rawjson.IsObject(rawjson.Get(raw, "parameters"))
	name := rawjson.IsString(rawjson.Get(raw, "name"))
	switch w.turn.Dialect {
	case transcript.Chat:
		if strings.HasPrefix(it.At, "/functions") || inner || kind != "" && kind != "function" {
			break
		}
		switch {
		case schema:
			why = `this is a tool of messages: send {"type":"function","function":{"name","parameters"}}`
		case name || parameters:
			why = `name and parameters belong under "function"`
		case kind == "function":
			why = `the tool has no "function"`
		}
	case transcript.Responses:
		switch {
		case inner && !name:
			why = `this is a tool of chat: name and parameters stand beside "type"`
		case schema && kind == "":
			why = `this is a tool of messages: send {"type":"function","name","parameters"}`
		case kind == "" && name:
			why = `the tool has no "type": send {"type":"function",…}`
		}
	case transcript.Messages:
		switch {
		case inner:
			why = `this is a tool of chat: send {"name","input_schema"}`
		case parameters && !schema:
			why = `the schema is under "parameters": messages reads "input_schema"`
		}
	}
	if why != "" {
		w.find("wrong_tool_shape", Error, w.in(it.At), "", "%s", why)
	}
}

// toolChoice judges tool_choice by its form and by the tools that there are.
func (w *walker) toolChoice() {
	v := w.turn.Parameters["tool_choice"]
	if !rawjson.Present(v) {
		return
	}
	at := w.in("/tool_choice")
	say := func(format string, args ...any) {
		w.find("wrong_tool_choice", Error, at, "", format, args...)
	}
	kind := rawjson.String(rawjson.Get(v, "type"))
	inner := rawjson.IsObject(rawjson.Get(v, "function"))
	name := rawjson.String(rawjson.Get(v, "name"))
	switch w.turn.Dialect {
	case transcript.Messages:
		switch {
		case !rawjson.IsObject(v):
			say(`tool_choice is %s: send an object such as {"type":"auto"}`, kindOf(v))
			return
		case kind != "auto" && kind != "any" && kind != "tool" && kind != "none":
			say(`tool_choice has the type %s: messages takes auto, any, tool and none`, quoted(kind))
			return
		}
	case transcript.Chat:
		name = rawjson.String(rawjson.Get(v, "function", "name"))
		switch {
		case kind == "function" && !inner, kind == "tool", kind == "any", kind == "auto":
			say(`tool_choice has the shape of another API: send "auto", "none", "required" or {"type":"function","function":{"name"}}`)
			return
		case rawjson.IsString(v) && !oneOf(rawjson.String(v), "auto", "none", "required", "any"): // any: Mistral
			say(`tool_choice is %s: chat takes "auto", "none", "required" or an object`, quoted(rawjson.String(v)))
			return
		}
	case transcript.Responses:
		switch {
		case inner, kind == "tool", kind == "any", kind == "auto":
			say(`tool_choice has the shape of another API: send "auto", "none", "required" or {"type":"function","name"}`)
			return
		case rawjson.IsString(v) && !oneOf(rawjson.String(v), "auto", "none", "required"):
			say(`tool_choice is %s: responses takes "auto", "none", "required" or an object`, quoted(rawjson.String(v)))
			return
		}
	}
	w.chosen(v, kind, name, say)
}

// chosen wants the tool that is chosen, or any where one is required.
func (w *walker) chosen(v []byte, kind, name string, say func(string, ...any)) {
	if w.set.open || heldByProvider(w.turn) {
		return
	}
	none := len(w.set.declared) == 0
	forced := name != "" && oneOf(kind, "function", "tool", "custom")
	switch {
	case forced && w.set.tool(name) == nil:
		say("tool_choice names %s, which is not declared: declare it, or choose another", quoted(name))
	case none && (oneOf(rawjson.String(v), "required", "any") || kind == "any"):
		say("tool_choice wants a call, and no tool is declared: declare tools, or leave tool_choice out")
	}
}

func oneOf(s string, all ...string) bool {
	for _, a := range all {
		if s == a {
			return true
		}
	}
	return false
}

// message judges an item that is neither call nor result nor reasoning.
func (w *walker) message(it *transcript.Item, at spot) {
	if at.body != "request" {
		return
	}
	raw := it.Raw
	if !rawjson.IsObject(raw) && (w.turn.Dialect != transcript.Responses || !rawjson.IsString(raw)) {
		if strings.Count(at.at, "/") == 2 && !strings.HasPrefix(at.at, "/system") {
			w.find("invalid_message", Error, at, "", "this is %s, not a message: send {\"role\",\"content\"}", kindOf(raw))
		}
		return
	}
	if w.turn.Dialect == transcript.Messages {
		if rawjson.String(rawjson.Get(raw, "type")) == "text" && strings.TrimSpace(it.Text) == "" {
			severity := Error
			if it.Text != "" { // a blank before a tool_use was taken
				severity = Warning
			}
			w.find("empty_text", severity, at, "", "the text block is empty: leave it out")
		}
		return
	}
	content := rawjson.Get(raw, "content")
	for i, part := range rawjson.Indexed(content) {
		if why := w.unsupported(part); why != "" {
			w.find("unsupported_content", Error, at.under(fmt.Sprintf("/content/%d", i)), "", "%s", why)
		}
	}
}

// unsupported says why a part of a message is not taken.
func (w *walker) unsupported(part []byte) string {
	switch kind := rawjson.String(rawjson.Get(part, "type")); kind {
	case "input_audio":
		if model := w.turn.Model; w.turn.Dialect == transcript.Chat && ofOpenAI(model) && !strings.Contains(model, "audio") {
			return fmt.Sprintf("%s takes no audio: use a model that does, or send a transcript", quoted(model))
		}
	case "input_file":
		return audioFile(part)
	}
	return ""
}

// ofOpenAI tells whether a model is one of OpenAI's by its name.
func ofOpenAI(model string) bool {
	return strings.HasPrefix(model, "gpt-") && !strings.HasPrefix(model, "gpt-oss") ||
		len(model) > 1 && model[0] == 'o' && model[1] >= '1' && model[1] <= '9'
}

// audioFile finds sound and film sent as a file, which responses refuses.
func audioFile(part []byte) string {
	kind := ""
	if data := rawjson.String(rawjson.Get(part, "file_data")); strings.HasPrefix(data, "data:audio/") || strings.HasPrefix(data, "data:video/") {
		kind, _, _ = strings.Cut(data[len("data:"):min(len(data), 60)], ";")
	}
	switch ext := strings.ToLower(path.Ext(rawjson.String(rawjson.Get(part, "file_url")))); ext {
	case ".mp3", ".wav", ".ogg", ".flac", ".m4a", ".mp4", ".mov", ".webm":
		kind = ext
	}
	if kind == "" {
		return ""
	}
	return fmt.Sprintf("files of the kind %s are not taken: send text, an image or a document", quoted(kind))
}
