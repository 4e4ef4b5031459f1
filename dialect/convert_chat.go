package dialect

import (
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// chatReader reads a request into a draft.
type chatReader struct{ *draft }

func readChatRequest(to *draft, body []byte) {
	d := chatReader{to}
	for c := rawjson.Walk(body); c.Next(); {
		switch v, name := c.Value(), string(c.Key()); name {
		case "messages":
			each(v, "/messages", d.readMessage)
		case "tools", "functions":
			d.readTools(v, "/"+name)
		case "tool_choice", "function_call":
			if rawjson.Present(v) {
				d.readChoice(v, "/"+name)
			}
		case "max_tokens":
			d.set("max_tokens", "/max_tokens", v)
		case "stop":
			if rawjson.IsString(v) {
				v = rawjson.Array([][]byte{v})
			}
			d.set("stop", "/stop", v)
		case "response_format":
			d.readFormat(v, "/response_format")
		case "reasoning": // OpenRouter
			d.set("effort", "/reasoning/effort", rawjson.Get(v, "effort"))
			for m := rawjson.Walk(v); m.Object && m.Next(); {
				if inner := string(m.Key()); inner != "effort" {
					d.dropSetting("/reasoning/"+rawjson.EscapeToken(inner), m.Value())
				}
			}
		case "stream_options":
			for m := rawjson.Walk(v); m.Object && m.Next(); {
				if inner := string(m.Key()); inner != "include_usage" || string(m.Value()) != "true" {
					d.dropSetting("/stream_options/"+rawjson.EscapeToken(inner), m.Value())
				}
			}
		case "n":
			if string(v) != "1" {
				d.dropSetting("/n", v)
			}
		default:
			if !d.readSetting(name, v) {
				d.dropSetting("/"+rawjson.EscapeToken(name), v)
			}
		}
	}
}

// readMessage reads one message: what it says is one utterance, its calls are more.
func (d chatReader) readMessage(v []byte, at string) {
	d.message++
	u := utterance{kind: transcript.MessageItem, role: rawjson.String(rawjson.Get(v, "role")), at: at, message: d.message}
	switch u.role {
	case "system", "developer":
		u.kind = transcript.System
	case "tool", "function":
		u.kind = transcript.ToolResult
	case "user", "assistant":
	default:
		d.dropItem(ItemDropped, at, v, "no message of a known role")
		return
	}
	var calls []utterance
	for c := rawjson.Walk(v); c.Object && c.Next(); {
		switch v, name := c.Value(), string(c.Key()); name {
		case "role", "refusal":
		case "content":
			d.content(&u, v, at+"/content")
		case "reasoning_content", "reasoning", "thinking", "reasoning_details":
			d.reasoning(at+"/"+name, v)
		case "tool_calls":
			each(v, at+"/tool_calls", func(v []byte, at string) { calls = append(calls, d.call(v, at)) })
		case "function_call":
			if !blank(v) {
				calls = append(calls, d.call(v, at+"/function_call"))
			}
		case "tool_call_id":
			u.id = rawjson.String(v)
		case "name":
			if u.kind == transcript.ToolResult { // that of its call
				u.name = rawjson.String(v)
			} else {
				d.member(at, name, v)
			}
		default:
			d.member(at, name, v)
		}
	}
	if v := rawjson.Get(v, "refusal"); rawjson.IsString(v) && !rawjson.IsEmpty(v) {
		u.plain = false
		u.pieces = append(u.pieces, piece{kind: refusalPiece, at: at + "/refusal", text: v})
	}
	if u.kind != transcript.MessageItem || u.says() || len(calls) == 0 && len(u.pieces) > 0 {
		d.add(u)
	}
	for _, c := range calls {
		d.add(c)
	}
}

func (d chatReader) call(v []byte, at string) utterance {
	u := utterance{kind: transcript.ToolCall, role: "assistant", at: at, message: d.message, id: rawjson.String(rawjson.Get(v, "id"))}
	f, inside := v, at
	for _, kind := range [...]string{"function", "custom"} {
		if inner := rawjson.Get(v, kind); !blank(inner) {
			f, inside = inner, at+"/"+kind
			d.rest(v, at, "id", "type", "index", "function", "custom")
		}
	}
	d.rest(f, inside, "id", "type", "index", "name", "arguments", "input", "function", "custom")
	u.name = rawjson.String(rawjson.Get(f, "name"))
	if input := rawjson.Get(f, "input"); rawjson.IsString(input) {
		u.arguments, u.free = rawjson.Unquote(input), true
		return u
	}
	u.arguments = rawjson.Scalar(rawjson.Get(f, "arguments"))
	return u
}

// chatEntry is a message of chat being written, and the results of its calls,
// which have to stand right behind it.
type chatEntry struct {
	fields  rawjson.Object
	message int // the last one whose text is in it
	parts   [][]byte
	plain   []byte
	calls   [][]byte
	results [][]byte
}

type chatWriter struct {
	openAI
	out   []*chatEntry
	owner map[string]*chatEntry // of the calls so far, the latest of an id
}

func writeChatRequest(d *draft, out *rawjson.Object) {
	w := chatWriter{openAI: openAI{d, true}, owner: map[string]*chatEntry{}}
	for i := range d.units {
		u := &d.units[i]
		switch u.kind {
		case transcript.ToolCall:
			w.call(u)
		case transcript.ToolResult:
			w.result(u)
		default:
			w.say(u)
		}
	}
	out.Set("messages", rawjson.Array(w.messages()))
	w.tools_(out)
	w.choice_(out)
	w.format(out)
	w.settings_(out)
}

func (w *chatWriter) format(out *rawjson.Object) {
	switch f := w.draft.format; {
	case f == nil:
	case f.kind == "json_schema":
		out.Set("response_format", []byte(`{"type":"json_schema","json_schema":`+string(w.schema(f))+`}`))
	default:
		out.Set("response_format", []byte(`{"type":"`+f.kind+`"}`))
	}
}

func (w *chatWriter) settings_(out *rawjson.Object) {
	w.writeSettings(out, chatSettings, func(s setting) bool {
		alone := s.name == "parallel_tool_calls" && len(w.tools) == 0
		if alone {
			w.lose(ParameterDropped, s.at, "chat takes it beside tools alone")
		}
		return alone
	})
	if v := w.settings.get("stream"); v != nil && string(v.v) == "true" {
		// The other APIs always tell what a stream used.
		out.Set("stream_options", []byte(`{"include_usage":true}`))
	}
}

func (w *chatWriter) last() *chatEntry {
	if len(w.out) == 0 {
		return &chatEntry{}
	}
	return w.out[len(w.out)-1]
}

func (w *chatWriter) entry(role string) *chatEntry {
	e := &chatEntry{}
	e.fields.Set("role", rawjson.Quote(role))
	w.out = append(w.out, e)
	return e
}

func (e *chatEntry) is(role string) bool { return rawjson.String(e.fields.Get("role")) == role }

func (w *chatWriter) say(u *utterance) {
	e := w.last()
	switch open := e.is(u.role) && len(e.results) == 0; {
	case open && len(e.calls) > 0: // calls are the end of a message
		w.lose(MessageMoved, u.at, "what an assistant says stands before its calls")
	case open && e.message == u.message && u.message > 0:
	default:
		e = w.entry(u.role)
	}
	if u.plain && len(e.parts) == 0 && e.plain == nil {
		e.plain, e.message = w.content_(u), u.message
		return
	}
	if e.plain != nil {
		e.parts = append(e.parts, []byte(`{"type":"text","text":`+string(e.plain)+`}`))
		e.plain = nil
	}
	e.parts, e.message = append(e.parts, w.parts(u)...), u.message
}

func (w *chatWriter) call(u *utterance) {
	e := w.last()
	if !e.is("assistant") || len(e.results) > 0 {
		e = w.entry("assistant")
	}
	kind, argument := "function", "arguments"
	if u.free {
		kind, argument = "custom", "input"
	}
	e.calls = append(e.calls, []byte(`{"id":`+string(rawjson.Quote(u.id))+`,"type":"`+kind+`","`+kind+`":{"name":`+string(rawjson.Quote(u.name))+
		`,"`+argument+`":`+string(rawjson.Quote(u.arguments))+`}}`))
	w.owner[u.id] = e
}

func (w *chatWriter) result(u *utterance) {
	w.lostMark(u)
	m := []byte(`{"role":"tool","tool_call_id":` + string(rawjson.Quote(u.id)) + `,"content":` + string(w.content_(u)) + `}`)
	e := w.owner[u.id]
	if e == nil { // its call is not in the history
		e = &chatEntry{}
		w.out = append(w.out, e)
	}
	if e != w.last() {
		w.lose(MessageMoved, u.at, "a result stands right behind its call")
	}
	e.results = append(e.results, m)
}

func (w *chatWriter) messages() [][]byte {
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
