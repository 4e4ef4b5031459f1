package responses

import (
	"strings"

	"github.com/retake-debugger/retake/dialect/draft"
	"github.com/retake-debugger/retake/dialect/openai"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// reader reads a request into a draft.
type reader struct{ *draft.Draft }

func readResponsesRequest(to *draft.Draft, body []byte) {
	d := reader{to}
	d.CustomIsFree = true
	for _, member := range [...]string{"instructions", "input"} { // instructions come first
		role := map[string]string{"instructions": "system", "input": "user"}[member]
		v := rawjson.Get(body, member)
		if rawjson.IsString(v) {
			d.Message++
			u := draft.Utterance{Kind: transcript.MessageItem, Role: role, At: "/" + member, Message: d.Message}
			if role == "system" {
				u.Kind = transcript.System
			}
			d.Content(&u, v, u.At)
			d.Add(u)
			continue
		}
		draft.Each(v, "/"+member, func(v []byte, at string) { d.item(v, at, role) })
	}
	for c := rawjson.Walk(body); c.Next(); {
		switch v, name := c.Value(), string(c.Key()); name {
		case "instructions", "input":
		case "tools":
			d.ReadTools(v, "/tools")
		case "tool_choice":
			if rawjson.Present(v) {
				d.ReadChoice(v, "/tool_choice")
			}
		case "previous_response_id", "conversation", "prompt":
			if !rawjson.IsEmpty(v) {
				d.Lose(draft.HistoryMissing, "/"+name, "the provider holds what it names")
			}
		case "include":
			draft.Each(v, "/include", func(v []byte, at string) {
				if rawjson.String(v) != "reasoning.encrypted_content" { // only this dialect hides reasoning unless asked
					d.DropSetting(at, v)
				}
			})
		case "reasoning", "text", "stream_options":
			d.group(name, v)
		default:
			if !d.ReadSetting(name, v) {
				d.DropSetting("/"+rawjson.EscapeToken(name), v)
			}
		}
	}
}

// group reads a parameter that is an object of several.
func (d reader) group(group string, v []byte) {
	for m := rawjson.Walk(v); m.Object && m.Next(); {
		switch inner, at := string(m.Key()), "/"+group+"/"+rawjson.EscapeToken(string(m.Key())); {
		case group == "text" && inner == "format":
			d.ReadFormat(m.Value(), at)
		case group == "text" && inner == "verbosity", group == "reasoning" && inner == "effort":
			d.Set(inner, at, m.Value())
		default:
			d.DropSetting(at, m.Value())
		}
	}
}

// item reads one element of the input.
func (d reader) item(v []byte, at, role string) {
	d.Message++
	it, _ := responsesItem(v, role)
	kind := rawjson.String(rawjson.Get(v, "type"))
	u := draft.Utterance{Kind: it.Kind, Role: it.Role, At: at, Message: d.Message, ID: it.CallID, Name: it.Name}
	switch {
	case it.ServerSide && it.Kind != transcript.ToolDefinition:
		d.DropItem(draft.ServerCallDropped, at, v, "the provider ran it")
	case it.Kind == transcript.MessageItem, it.Kind == transcript.System:
		if u.Role != "assistant" && u.Role != "user" && u.Kind != transcript.System {
			d.DropItem(draft.ItemDropped, at, v, "no message of a known role")
			return
		}
		if rawjson.IsString(v) {
			d.Content(&u, v, at)
		} else {
			d.Content(&u, rawjson.Get(v, "content"), at+"/content")
			d.Rest(v, at, "type", "id", "status", "role", "content")
		}
		d.Add(u)
	case it.Kind == transcript.Reasoning:
		d.Reasoning(at, v)
	case it.Kind == transcript.ToolCall:
		d.call(&u, &it, v, kind)
	case it.Kind == transcript.ToolResult:
		d.result(&u, &it, v, kind)
	case kind == "additional_tools":
		d.Change(draft.ToolRewritten, at, kind, "tools of the request", "the other dialect has no tools that come later")
		d.ReadTools(rawjson.Get(v, "tools"), at+"/tools")
	case it.Kind == transcript.Compaction:
		d.DropItem(draft.ItemDropped, at, v, "only the provider can read the summary")
	case it.Name == transcript.Reference:
		d.DropItem(draft.HistoryMissing, at, v, "the provider holds what it names")
	default:
		d.DropItem(draft.ItemDropped, at, v, "the other dialect has no such item")
	}
}

func (d reader) call(u *draft.Utterance, it *transcript.Item, v []byte, kind string) {
	u.Arguments, u.Free = it.ArgumentsRaw, kind == "custom_tool_call"
	if kind != "function_call" && !u.Free {
		u.Name = strings.TrimSuffix(kind, "_call")
		d.Change(draft.CallRewritten, u.At, kind, "function "+u.Name, "the other dialect has no such tool")
	} else {
		d.Rest(v, u.At, "type", "id", "status", "call_id", "name", "arguments", "input")
	}
	d.Add(*u)
}

func (d reader) result(u *draft.Utterance, it *transcript.Item, v []byte, kind string) {
	u.Role = "tool"
	output := rawjson.Get(v, "output")
	switch kind {
	case "function_call_output", "custom_tool_call_output":
		d.Rest(v, u.At, "type", "id", "status", "call_id", "name", "output")
		d.Content(u, output, u.At+"/output")
	default:
		d.Change(draft.CallRewritten, u.At, kind, "function result", "the other dialect has no such tool")
		text := it.Text
		if text == "" {
			text = string(output) + string(rawjson.Get(v, "tools"))
		}
		u.Plain, u.Parts = true, []draft.Part{{Kind: draft.TextPart, At: u.At, Text: rawjson.Quote(text)}}
	}
	d.Add(*u)
}

func writeResponsesRequest(d *draft.Draft, out *rawjson.Object) {
	w := writer{openai.Writer{Draft: d}}
	var input [][]byte
	for i := range d.Units {
		u := &d.Units[i]
		if i == 0 && u.Kind == transcript.System && u.Role == "system" && u.Plain {
			out.Set("instructions", w.ContentOf(u))
			continue
		}
		input = append(input, w.unit(u))
	}
	out.Set("input", rawjson.Array(input))
	w.WriteTools(out)
	w.WriteChoice(out)
	if f := d.Format; f != nil {
		whole := rawjson.Object{}
		whole.Set("type", rawjson.Quote(f.Kind))
		whole.Overlay(w.Schema(f))
		draft.SetInside(out, "text", "format", whole.Bytes())
	}
	d.WriteSettings(out, settings, func(s draft.Setting) bool {
		switch s.Name {
		case "effort", "summary":
			draft.SetInside(out, "reasoning", s.Name, s.V)
		case "verbosity":
			draft.SetInside(out, "text", "verbosity", s.V)
		default:
			return false
		}
		return true
	})
}

type writer struct{ openai.Writer }

func (d writer) unit(u *draft.Utterance) []byte {
	var f rawjson.Object
	switch u.Kind {
	case transcript.ToolCall:
		kind, argument := "function_call", "arguments"
		if u.Free {
			kind, argument = "custom_tool_call", "input"
		}
		f.Set("type", rawjson.Quote(kind))
		f.Set("call_id", rawjson.Quote(u.ID))
		f.Set("name", rawjson.Quote(u.Name))
		f.Set(argument, rawjson.Quote(u.Arguments))
	case transcript.ToolResult:
		d.LostMark(u)
		kind := "function_call_output"
		if u.Free {
			kind = "custom_tool_call_output"
		}
		f.Set("type", rawjson.Quote(kind))
		f.Set("call_id", rawjson.Quote(u.ID))
		f.Set("output", d.ContentOf(u))
	default:
		f.Set("type", []byte(`"message"`))
		f.Set("role", rawjson.Quote(u.Role))
		f.Set("content", d.ContentOf(u))
	}
	return f.Bytes()
}
