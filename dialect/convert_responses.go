package dialect

import (
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// responsesReader reads a request into a draft.
type responsesReader struct{ *draft }

func readResponsesRequest(to *draft, body []byte) {
	d := responsesReader{to}
	d.customIsFree = true
	for _, member := range [...]string{"instructions", "input"} { // instructions come first
		role := map[string]string{"instructions": "system", "input": "user"}[member]
		v := rawjson.Get(body, member)
		if rawjson.IsString(v) {
			d.message++
			u := utterance{kind: transcript.MessageItem, role: role, at: "/" + member, message: d.message}
			if role == "system" {
				u.kind = transcript.System
			}
			d.content(&u, v, u.at)
			d.add(u)
			continue
		}
		each(v, "/"+member, func(v []byte, at string) { d.item(v, at, role) })
	}
	for c := rawjson.Walk(body); c.Next(); {
		switch v, name := c.Value(), string(c.Key()); name {
		case "instructions", "input":
		case "tools":
			d.readTools(v, "/tools")
		case "tool_choice":
			if rawjson.Present(v) {
				d.readChoice(v, "/tool_choice")
			}
		case "previous_response_id", "conversation", "prompt":
			if !rawjson.IsEmpty(v) {
				d.lose(HistoryMissing, "/"+name, "the provider holds what it names")
			}
		case "include":
			each(v, "/include", func(v []byte, at string) {
				if rawjson.String(v) != "reasoning.encrypted_content" { // only this dialect hides reasoning unless asked
					d.dropSetting(at, v)
				}
			})
		case "reasoning", "text", "stream_options":
			d.group(name, v)
		default:
			if !d.readSetting(name, v) {
				d.dropSetting("/"+rawjson.EscapeToken(name), v)
			}
		}
	}
}

// group reads a parameter that is an object of several.
func (d responsesReader) group(group string, v []byte) {
	for m := rawjson.Walk(v); m.Object && m.Next(); {
		switch inner, at := string(m.Key()), "/"+group+"/"+rawjson.EscapeToken(string(m.Key())); {
		case group == "text" && inner == "format":
			d.readFormat(m.Value(), at)
		case group == "text" && inner == "verbosity", group == "reasoning" && inner == "effort":
			d.set(inner, at, m.Value())
		default:
			d.dropSetting(at, m.Value())
		}
	}
}

// item reads one element of the input.
func (d responsesReader) item(v []byte, at, role string) {
	d.message++
	it, _ := responsesItem(v, role)
	kind := rawjson.String(rawjson.Get(v, "type"))
	u := utterance{kind: it.Kind, role: it.Role, at: at, message: d.message, id: it.CallID, name: it.Name}
	switch {
	case it.ServerSide && it.Kind != transcript.ToolDefinition:
		d.dropItem(ServerCallDropped, at, v, "the provider ran it")
	case it.Kind == transcript.MessageItem, it.Kind == transcript.System:
		if u.role != "assistant" && u.role != "user" && u.kind != transcript.System {
			d.dropItem(ItemDropped, at, v, "no message of a known role")
			return
		}
		if rawjson.IsString(v) {
			d.content(&u, v, at)
		} else {
			d.content(&u, rawjson.Get(v, "content"), at+"/content")
			d.rest(v, at, "type", "id", "status", "role", "content")
		}
		d.add(u)
	case it.Kind == transcript.Reasoning:
		d.reasoning(at, v)
	case it.Kind == transcript.ToolCall:
		d.call(&u, &it, v, kind)
	case it.Kind == transcript.ToolResult:
		d.result(&u, &it, v, kind)
	case kind == "additional_tools":
		d.change(ToolRewritten, at, kind, "tools of the request", "the other dialect has no tools that come later")
		d.readTools(rawjson.Get(v, "tools"), at+"/tools")
	case it.Kind == transcript.Compaction:
		d.dropItem(ItemDropped, at, v, "only the provider can read the summary")
	case it.Name == transcript.Reference:
		d.dropItem(HistoryMissing, at, v, "the provider holds what it names")
	default:
		d.dropItem(ItemDropped, at, v, "the other dialect has no such item")
	}
}

func (d responsesReader) call(u *utterance, it *transcript.Item, v []byte, kind string) {
	u.arguments, u.free = it.ArgumentsRaw, kind == "custom_tool_call"
	if kind != "function_call" && !u.free {
		u.name = strings.TrimSuffix(kind, "_call")
		d.change(CallRewritten, u.at, kind, "function "+u.name, "the other dialect has no such tool")
	} else {
		d.rest(v, u.at, "type", "id", "status", "call_id", "name", "arguments", "input")
	}
	d.add(*u)
}

func (d responsesReader) result(u *utterance, it *transcript.Item, v []byte, kind string) {
	u.role = "tool"
	output := rawjson.Get(v, "output")
	switch kind {
	case "function_call_output", "custom_tool_call_output":
		d.rest(v, u.at, "type", "id", "status", "call_id", "name", "output")
		d.content(u, output, u.at+"/output")
	default:
		d.change(CallRewritten, u.at, kind, "function result", "the other dialect has no such tool")
		text := it.Text
		if text == "" {
			text = string(output) + string(rawjson.Get(v, "tools"))
		}
		u.plain, u.pieces = true, []piece{{kind: textPiece, at: u.at, text: rawjson.Quote(text)}}
	}
	d.add(*u)
}

func writeResponsesRequest(d *draft, out *rawjson.Object) {
	w := responsesWriter{openAI{d, false}}
	var input [][]byte
	for i := range d.units {
		u := &d.units[i]
		if i == 0 && u.kind == transcript.System && u.role == "system" && u.plain {
			out.Set("instructions", w.content_(u))
			continue
		}
		input = append(input, w.unit(u))
	}
	out.Set("input", rawjson.Array(input))
	w.tools_(out)
	w.choice_(out)
	if f := d.format; f != nil {
		whole := rawjson.Object{}
		whole.Set("type", rawjson.Quote(f.kind))
		whole.Overlay(w.schema(f))
		setInside(out, "text", "format", whole.Bytes())
	}
	d.writeSettings(out, responsesSettings, func(s setting) bool {
		switch s.name {
		case "effort", "summary":
			setInside(out, "reasoning", s.name, s.v)
		case "verbosity":
			setInside(out, "text", "verbosity", s.v)
		default:
			return false
		}
		return true
	})
}

type responsesWriter struct{ openAI }

func (d responsesWriter) unit(u *utterance) []byte {
	var f rawjson.Object
	switch u.kind {
	case transcript.ToolCall:
		kind, argument := "function_call", "arguments"
		if u.free {
			kind, argument = "custom_tool_call", "input"
		}
		f.Set("type", rawjson.Quote(kind))
		f.Set("call_id", rawjson.Quote(u.id))
		f.Set("name", rawjson.Quote(u.name))
		f.Set(argument, rawjson.Quote(u.arguments))
	case transcript.ToolResult:
		d.lostMark(u)
		kind := "function_call_output"
		if u.free {
			kind = "custom_tool_call_output"
		}
		f.Set("type", rawjson.Quote(kind))
		f.Set("call_id", rawjson.Quote(u.id))
		f.Set("output", d.content_(u))
	default:
		f.Set("type", []byte(`"message"`))
		f.Set("role", rawjson.Quote(u.role))
		f.Set("content", d.content_(u))
	}
	return f.Bytes()
}
