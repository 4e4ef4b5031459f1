package dialect

import (
	"strconv"

	"github.com/retake-debugger/retake/transcript"
)

func readChatRequest(d *draft, body []byte) {
	for c := walk(body); c.next(); {
		switch v, name := c.value(), string(c.key()); name {
		case "messages":
			each(v, "/messages", d.chatMessage)
		case "tools", "functions":
			d.readTools(v, "/"+name)
		case "tool_choice", "function_call":
			if has(v) {
				d.readChoice(v, "/"+name)
			}
		case "max_tokens":
			d.set("max_tokens", "/max_tokens", v)
		case "stop":
			if isString(v) {
				v = list([][]byte{v})
			}
			d.set("stop", "/stop", v)
		case "response_format":
			d.readFormat(v, "/response_format")
		case "reasoning": // OpenRouter
			d.set("effort", "/reasoning/effort", get(v, "effort"))
			for m := walk(v); m.object && m.next(); {
				if inner := string(m.key()); inner != "effort" {
					d.dropSetting("/reasoning/"+escapeToken(inner), m.value())
				}
			}
		case "stream_options":
			for m := walk(v); m.object && m.next(); {
				if inner := string(m.key()); inner != "include_usage" || string(m.value()) != "true" {
					d.dropSetting("/stream_options/"+escapeToken(inner), m.value())
				}
			}
		case "n":
			if string(v) != "1" {
				d.dropSetting("/n", v)
			}
		default:
			if !d.readSetting(name, v) {
				d.dropSetting("/"+escapeToken(name), v)
			}
		}
	}
}

// chatMessage reads one message: what it says is one utterance, its calls are more.
func (d *draft) chatMessage(v []byte, at string) {
	d.message++
	u := utterance{kind: transcript.MessageItem, role: str(get(v, "role")), at: at, message: d.message}
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
	for c := walk(v); c.object && c.next(); {
		switch v, name := c.value(), string(c.key()); name {
		case "role", "refusal":
		case "content":
			d.content(&u, v, at+"/content")
		case "reasoning_content", "reasoning", "thinking", "reasoning_details":
			d.reasoning(at+"/"+name, v)
		case "tool_calls":
			each(v, at+"/tool_calls", func(v []byte, at string) { calls = append(calls, d.chatCall(v, at)) })
		case "function_call":
			if !blank(v) {
				calls = append(calls, d.chatCall(v, at+"/function_call"))
			}
		case "tool_call_id":
			u.id = str(v)
		case "name":
			if u.kind == transcript.ToolResult { // that of its call
				u.name = str(v)
			} else {
				d.member(at, name, v)
			}
		default:
			d.member(at, name, v)
		}
	}
	if v := get(v, "refusal"); isString(v) && !isEmpty(v) {
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

func (d *draft) chatCall(v []byte, at string) utterance {
	u := utterance{kind: transcript.ToolCall, role: "assistant", at: at, message: d.message, id: str(get(v, "id"))}
	f, inside := v, at
	for _, kind := range [...]string{"function", "custom"} {
		if inner := get(v, kind); !blank(inner) {
			f, inside = inner, at+"/"+kind
			d.rest(v, at, "id", "type", "index", "function", "custom")
		}
	}
	d.rest(f, inside, "id", "type", "index", "name", "arguments", "input", "function", "custom")
	u.name = str(get(f, "name"))
	if input := get(f, "input"); isString(input) {
		u.arguments, u.free = unquote(input), true
		return u
	}
	u.arguments = words(get(f, "arguments"))
	return u
}

// chatEntry is a message of chat being written, and the results of its calls,
// which have to stand right behind it.
type chatEntry struct {
	fields  fields
	message int // the last one whose text is in it
	parts   [][]byte
	plain   []byte
	calls   [][]byte
	results [][]byte
}

type chatWriter struct {
	*draft
	out   []*chatEntry
	owner map[string]*chatEntry // of the calls so far, the latest of an id
}

func writeChatRequest(d *draft, out *fields) {
	w := chatWriter{draft: d, owner: map[string]*chatEntry{}}
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
	out.set("messages", list(w.messages()))
	d.writeTools(out)
	d.writeChoice(out)
	d.writeFormat(out)
	d.writeSettings(out)
}

func (w *chatWriter) last() *chatEntry {
	if len(w.out) == 0 {
		return &chatEntry{}
	}
	return w.out[len(w.out)-1]
}

func (w *chatWriter) entry(role string) *chatEntry {
	e := &chatEntry{}
	e.fields.set("role", quote(role))
	w.out = append(w.out, e)
	return e
}

func (e *chatEntry) is(role string) bool { return str(e.fields.get("role")) == role }

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
		e.plain, e.message = w.openAIContent(u), u.message
		return
	}
	if e.plain != nil {
		e.parts = append(e.parts, []byte(`{"type":"text","text":`+string(e.plain)+`}`))
		e.plain = nil
	}
	e.parts, e.message = append(e.parts, w.openAIParts(u)...), u.message
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
	e.calls = append(e.calls, []byte(`{"id":`+string(quote(u.id))+`,"type":"`+kind+`","`+kind+`":{"name":`+string(quote(u.name))+
		`,"`+argument+`":`+string(quote(u.arguments))+`}}`))
	w.owner[u.id] = e
}

func (w *chatWriter) result(u *utterance) {
	w.lostMark(u)
	m := []byte(`{"role":"tool","tool_call_id":` + string(quote(u.id)) + `,"content":` + string(w.openAIContent(u)) + `}`)
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
			e.fields.set("content", list(e.parts))
		case e.plain != nil:
			e.fields.set("content", e.plain)
		case len(e.calls) > 0:
			e.fields.set("content", []byte("null"))
		case len(e.fields.names) > 0:
			e.fields.set("content", []byte(`""`))
		}
		if len(e.calls) > 0 {
			e.fields.set("tool_calls", list(e.calls))
		}
		if len(e.fields.names) > 0 {
			out = append(out, e.fields.json())
		}
		out = append(out, e.results...)
	}
	return out
}

// lostMark lists what a result says besides its text.
func (d *draft) lostMark(u *utterance) {
	if u.isError {
		d.change(ErrorMarkDropped, u.at, strconv.FormatBool(u.isError), "", "only messages marks results as errors")
	}
}
