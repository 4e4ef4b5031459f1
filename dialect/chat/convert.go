package chat

import (
	"github.com/retake-debugger/retake/dialect/draft"
	"github.com/retake-debugger/retake/dialect/openai"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// reader reads a request into a draft.
type reader struct{ *draft.Draft }

func readChatRequest(to *draft.Draft, body []byte) {
	d := reader{to}
	for c := rawjson.Walk(body); c.Next(); {
		switch v, name := c.Value(), string(c.Key()); name {
		case "messages":
			draft.Each(v, "/messages", d.readMessage)
		case "tools", "functions":
			d.ReadTools(v, "/"+name)
		case "tool_choice", "function_call":
			if rawjson.Present(v) {
				d.ReadChoice(v, "/"+name)
			}
		case "max_tokens":
			d.Set("max_tokens", "/max_tokens", v)
		case "stop":
			if rawjson.IsString(v) {
				v = rawjson.Array([][]byte{v})
			}
			d.Set("stop", "/stop", v)
		case "response_format":
			d.ReadFormat(v, "/response_format")
		case "reasoning": // OpenRouter
			d.Set("effort", "/reasoning/effort", rawjson.Get(v, "effort"))
			for m := rawjson.Walk(v); m.Object && m.Next(); {
				if inner := string(m.Key()); inner != "effort" {
					d.DropSetting("/reasoning/"+rawjson.EscapeToken(inner), m.Value())
				}
			}
		case "stream_options":
			for m := rawjson.Walk(v); m.Object && m.Next(); {
				if inner := string(m.Key()); inner != "include_usage" || string(m.Value()) != "true" {
					d.DropSetting("/stream_options/"+rawjson.EscapeToken(inner), m.Value())
				}
			}
		case "n":
			if string(v) != "1" {
				d.DropSetting("/n", v)
			}
		default:
			if !d.ReadSetting(name, v) {
				d.DropSetting("/"+rawjson.EscapeToken(name), v)
			}
		}
	}
}

// readMessage reads one message: what it says is one utterance, its calls are more.
func (d reader) readMessage(v []byte, at string) {
	d.Message++
	u := draft.Utterance{Kind: transcript.MessageItem, Role: rawjson.String(rawjson.Get(v, "role")), At: at, Message: d.Message}
	switch u.Role {
	case "system", "developer":
		u.Kind = transcript.System
	case "tool", "function":
		u.Kind = transcript.ToolResult
	case "user", "assistant":
	default:
		d.DropItem(draft.ItemDropped, at, v, "no message of a known role")
		return
	}
	var calls []draft.Utterance
	for c := rawjson.Walk(v); c.Object && c.Next(); {
		switch v, name := c.Value(), string(c.Key()); name {
		case "role", "refusal":
		case "content":
			d.Content(&u, v, at+"/content")
		case "reasoning_content", "reasoning", "thinking", "reasoning_details":
			d.Reasoning(at+"/"+name, v)
		case "tool_calls":
			draft.Each(v, at+"/tool_calls", func(v []byte, at string) { calls = append(calls, d.call(v, at)) })
		case "function_call":
			if !blank(v) {
				calls = append(calls, d.call(v, at+"/function_call"))
			}
		case "tool_call_id":
			u.ID = rawjson.String(v)
		case "name":
			if u.Kind == transcript.ToolResult { // that of its call
				u.Name = rawjson.String(v)
			} else {
				d.Member(at, name, v)
			}
		default:
			d.Member(at, name, v)
		}
	}
	if v := rawjson.Get(v, "refusal"); rawjson.IsString(v) && !rawjson.IsEmpty(v) {
		u.Plain = false
		u.Parts = append(u.Parts, draft.Part{Kind: draft.RefusalPart, At: at + "/refusal", Text: v})
	}
	if u.Kind != transcript.MessageItem || u.Says() || len(calls) == 0 && len(u.Parts) > 0 {
		d.Add(u)
	}
	for _, c := range calls {
		d.Add(c)
	}
}

func (d reader) call(v []byte, at string) draft.Utterance {
	u := draft.Utterance{Kind: transcript.ToolCall, Role: "assistant", At: at, Message: d.Message, ID: rawjson.String(rawjson.Get(v, "id"))}
	f, inside := v, at
	for _, kind := range [...]string{"function", "custom"} {
		if inner := rawjson.Get(v, kind); !blank(inner) {
			f, inside = inner, at+"/"+kind
			d.Rest(v, at, "id", "type", "index", "function", "custom")
		}
	}
	d.Rest(f, inside, "id", "type", "index", "name", "arguments", "input", "function", "custom")
	u.Name = rawjson.String(rawjson.Get(f, "name"))
	if input := rawjson.Get(f, "input"); rawjson.IsString(input) {
		u.Arguments, u.Free = rawjson.Unquote(input), true
		return u
	}
	u.Arguments = rawjson.Scalar(rawjson.Get(f, "arguments"))
	return u
}

// entry is a message of chat being written, and the results of its calls,
// which have to stand right behind it.
type entry struct {
	fields  rawjson.Object
	message int // the last one whose text is in it
	parts   [][]byte
	plain   []byte
	calls   [][]byte
	results [][]byte
}

type writer struct {
	openai.Writer
	out   []*entry
	owner map[string]*entry // of the calls so far, the latest of an id
}

func writeChatRequest(d *draft.Draft, out *rawjson.Object) {
	w := writer{Writer: openai.Writer{Draft: d, Wraps: true}, owner: map[string]*entry{}}
	for i := range d.Units {
		u := &d.Units[i]
		switch u.Kind {
		case transcript.ToolCall:
			w.call(u)
		case transcript.ToolResult:
			w.result(u)
		default:
			w.say(u)
		}
	}
	out.Set("messages", rawjson.Array(w.messages()))
	w.WriteTools(out)
	w.WriteChoice(out)
	w.writeFormat(out)
	w.writeParameters(out)
}

func (w *writer) writeFormat(out *rawjson.Object) {
	switch f := w.Format; {
	case f == nil:
	case f.Kind == "json_schema":
		out.Set("response_format", []byte(`{"type":"json_schema","json_schema":`+string(w.Schema(f))+`}`))
	default:
		out.Set("response_format", []byte(`{"type":"`+f.Kind+`"}`))
	}
}

func (w *writer) writeParameters(out *rawjson.Object) {
	w.WriteSettings(out, settings, func(s draft.Setting) bool {
		alone := s.Name == "parallel_tool_calls" && len(w.Tools) == 0
		if alone {
			w.Lose(draft.ParameterDropped, s.At, "chat takes it beside tools alone")
		}
		return alone
	})
	if v := w.Settings.Get("stream"); v != nil && string(v.V) == "true" {
		// The other APIs always tell what a stream used.
		out.Set("stream_options", []byte(`{"include_usage":true}`))
	}
}

func (w *writer) last() *entry {
	if len(w.out) == 0 {
		return &entry{}
	}
	return w.out[len(w.out)-1]
}

func (w *writer) entry(role string) *entry {
	e := &entry{}
	e.fields.Set("role", rawjson.Quote(role))
	w.out = append(w.out, e)
	return e
}

func (e *entry) is(role string) bool { return rawjson.String(e.fields.Get("role")) == role }

func (w *writer) say(u *draft.Utterance) {
	e := w.last()
	switch open := e.is(u.Role) && len(e.results) == 0; {
	case open && len(e.calls) > 0: // calls are the end of a message
		w.Lose(draft.MessageMoved, u.At, "what an assistant says stands before its calls")
	case open && e.message == u.Message && u.Message > 0:
	default:
		e = w.entry(u.Role)
	}
	if u.Plain && len(e.parts) == 0 && e.plain == nil {
		e.plain, e.message = w.ContentOf(u), u.Message
		return
	}
	if e.plain != nil {
		e.parts = append(e.parts, []byte(`{"type":"text","text":`+string(e.plain)+`}`))
		e.plain = nil
	}
	e.parts, e.message = append(e.parts, w.Parts(u)...), u.Message
}

func (w *writer) call(u *draft.Utterance) {
	e := w.last()
	if !e.is("assistant") || len(e.results) > 0 {
		e = w.entry("assistant")
	}
	kind, argument := "function", "arguments"
	if u.Free {
		kind, argument = "custom", "input"
	}
	e.calls = append(e.calls, []byte(`{"id":`+string(rawjson.Quote(u.ID))+`,"type":"`+kind+`","`+kind+`":{"name":`+string(rawjson.Quote(u.Name))+
		`,"`+argument+`":`+string(rawjson.Quote(u.Arguments))+`}}`))
	w.owner[u.ID] = e
}

func (w *writer) result(u *draft.Utterance) {
	w.LostMark(u)
	m := []byte(`{"role":"tool","tool_call_id":` + string(rawjson.Quote(u.ID)) + `,"content":` + string(w.ContentOf(u)) + `}`)
	e := w.owner[u.ID]
	if e == nil { // its call is not in the history
		e = &entry{}
		w.out = append(w.out, e)
	}
	if e != w.last() {
		w.Lose(draft.MessageMoved, u.At, "a result stands right behind its call")
	}
	e.results = append(e.results, m)
}

func (w *writer) messages() [][]byte {
	var out [][]byte
	for _, e := range w.out {
		switch {
		case len(e.parts) > 0:
			e.fields.Set("content", rawjson.Array(e.parts))
		case e.plain != nil:
			e.fields.Set("content", e.plain)
		case len(e.calls) > 0:
			e.fields.Set("content", []byte("null"))
		case e.fields.Len() > 0:
			e.fields.Set("content", []byte(`""`))
		}
		if len(e.calls) > 0 {
			e.fields.Set("tool_calls", rawjson.Array(e.calls))
		}
		if e.fields.Len() > 0 {
			out = append(out, e.fields.Bytes())
		}
		out = append(out, e.results...)
	}
	return out
}
