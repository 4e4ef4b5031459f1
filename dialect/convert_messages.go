package dialect

import (
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// defaultMaxTokens is sent where a request did not bound its answer: messages
// demands a bound, and every model in service takes this one.
const defaultMaxTokens = 4096

// messagesReader reads a request into a draft.
type messagesReader struct{ *draft }

func readMessagesRequest(to *draft, body []byte) {
	d := messagesReader{to}
	d.units_(rawjson.Get(body, "system"), "/system", "system")
	each(rawjson.Get(body, "messages"), "/messages", func(v []byte, at string) {
		role := rawjson.String(rawjson.Get(v, "role"))
		if !rawjson.IsObject(v) || role == "" {
			d.dropItem(ItemDropped, at, v, "no message of a known role")
			return
		}
		d.rest(v, at, "role", "content", "id", "type")
		d.units_(rawjson.Get(v, "content"), at+"/content", role)
	})
	for c := rawjson.Walk(body); c.Next(); {
		switch v, name := c.Value(), string(c.Key()); name {
		case "system", "messages":
		case "tools":
			d.readTools(v, "/tools")
		case "tool_choice":
			if rawjson.Present(v) {
				d.readChoice(v, "/tool_choice")
				switch string(rawjson.Get(v, "disable_parallel_tool_use")) {
				case "true":
					d.set("parallel_tool_calls", "/tool_choice/disable_parallel_tool_use", []byte("false"))
				case "false":
					d.set("parallel_tool_calls", "/tool_choice/disable_parallel_tool_use", []byte("true"))
				}
			}
		case "metadata":
			d.set("user", "/metadata/user_id", rawjson.Get(v, "user_id"))
			d.rest(v, "/metadata", "user_id")
		case "output_config":
			d.outputConfig(v)
		case "output_format": // before output_config there was
			d.readFormat(v, "/output_format")
		case "thinking":
		case "cache_control":
			d.member("", name, v)
		case "thread":
			if previous := rawjson.Get(v, "previous_message_id"); !rawjson.IsEmpty(previous) {
				d.lose(HistoryMissing, "/thread/previous_message_id", "the provider holds what it names")
			}
			d.rest(v, "/thread", "type", "previous_message_id")
		default:
			if !d.readSetting(name, v) {
				d.dropSetting("/"+rawjson.EscapeToken(name), v)
			}
		}
	}
	d.readThinking(rawjson.Get(body, "thinking")) // behind the effort, which says more
}

func (d messagesReader) outputConfig(v []byte) {
	for c := rawjson.Walk(v); c.Object && c.Next(); {
		switch name, at := string(c.Key()), "/output_config/"+rawjson.EscapeToken(string(c.Key())); name {
		case "format":
			d.readFormat(c.Value(), at)
		case "effort":
			d.set("effort", at, c.Value())
		default:
			d.dropSetting(at, c.Value())
		}
	}
}

// units_ reads what a message says, or the system prompt: adjacent
// texts and images are one utterance.
func (d messagesReader) units_(v []byte, at, role string) {
	d.message++
	says := utterance{kind: transcript.MessageItem, role: role, at: at, message: d.message}
	if role == "system" {
		says.kind = transcript.System
	}
	if rawjson.IsString(v) {
		d.content(&says, v, at)
		d.add(says)
		return
	}
	flush := func() {
		if len(says.pieces) > 0 {
			d.add(says)
			says.pieces = nil
		}
	}
	each(v, at, func(v []byte, at string) {
		switch it := blockItem(v, role); {
		case it.ServerSide:
			d.dropItem(ServerCallDropped, at, v, "the provider ran it")
		case it.Kind == transcript.Reasoning:
			d.reasoning(at, v)
		case it.Kind == transcript.ToolCall:
			flush()
			d.rest(v, at, "type", "id", "name", "input")
			d.add(utterance{kind: it.Kind, role: role, at: at, message: d.message, id: it.CallID, name: it.Name, arguments: it.ArgumentsRaw})
		case it.Kind == transcript.ToolResult:
			flush()
			d.result(v, at, &it)
		case it.Kind == transcript.Compaction && it.Text != "":
			says.pieces = append(says.pieces, piece{kind: textPiece, at: at, text: rawjson.Get(v, "content")})
			d.change(PartRewritten, at, "compaction", "text", "the other dialect has no summaries of its own")
			d.rest(v, at, "type", "content")
		default:
			if p, ok := d.part(v, at); ok {
				if len(says.pieces) == 0 {
					says.at = at
				}
				says.pieces = append(says.pieces, p)
			}
		}
	})
	flush()
}

func (d messagesReader) result(v []byte, at string, it *transcript.Item) {
	u := utterance{kind: it.Kind, role: "tool", at: at, message: d.message, id: it.CallID, isError: it.IsError}
	d.rest(v, at, "type", "id", "tool_use_id", "content", "is_error")
	if content := rawjson.Get(v, "content"); rawjson.Present(content) {
		d.content(&u, content, at+"/content")
	}
	d.add(u)
}

// messagesEntry is a message being written, and the results of its calls,
// which have to stand at the head of the next one.
type messagesEntry struct {
	role    string
	blocks  [][]byte
	text    int // the source message of a text that is its last block; 0 if that is none
	results [][]byte
}

type messagesWriter struct {
	*draft
	system []*utterance
	out    []*messagesEntry
	owner  map[string]*messagesEntry
}

func writeMessagesRequest(d *draft, out *rawjson.Object) {
	w := messagesWriter{draft: d, owner: map[string]*messagesEntry{}}
	for i := range d.units {
		u := &d.units[i]
		switch u.kind {
		case transcript.System:
			if len(w.out) > 0 {
				d.lose(MessageMoved, u.at, "messages has its system prompt before all messages")
			}
			w.system = append(w.system, u)
		case transcript.ToolCall:
			w.call(u)
		case transcript.ToolResult:
			w.result(u)
		default:
			w.say(u)
		}
	}
	w.writeSystem(out)
	out.Set("messages", rawjson.Array(w.messages()))
	w.tools_(out)
	w.choice_(out)
	w.format_(out)
	w.writeSettings(out, messagesSettings, func(s setting) bool { return w.setting(s, out) })
	if out.Get("max_tokens") == nil {
		tokens := strconv.Itoa(defaultMaxTokens)
		out.Set("max_tokens", []byte(tokens))
		d.change(ParameterAdded, "", "", "max_tokens "+tokens, "messages demands it")
	}
}

func (w *messagesWriter) writeSystem(out *rawjson.Object) {
	var blocks [][]byte
	for i, u := range w.system {
		if u.role != "system" {
			w.change(RoleChanged, u.at, u.role, "system", "messages has one role for both")
		}
		if i > 0 {
			w.lose(MessagesMerged, u.at, "messages has one system prompt")
		}
		if u.plain && len(w.system) == 1 && strings.TrimSpace(rawjson.Unquote(u.pieces[0].text)) != "" {
			out.Set("system", u.pieces[0].text)
			return
		}
		blocks = append(blocks, w.blocks(u)...)
	}
	if len(blocks) > 0 {
		out.Set("system", rawjson.Array(blocks))
	}
}

// entry gives the message that goes on with a role: the last one, or a new one.
func (w *messagesWriter) entry(role string) *messagesEntry {
	if n := len(w.out); n > 0 && w.out[n-1].role == role && len(w.out[n-1].results) == 0 {
		return w.out[n-1]
	}
	e := &messagesEntry{role: role}
	w.out = append(w.out, e)
	return e
}

func (w *messagesWriter) say(u *utterance) {
	blocks := w.blocks(u)
	if len(blocks) == 0 {
		return
	}
	e := w.entry(u.role)
	if e.text != 0 && e.text != u.message {
		w.lose(MessagesMerged, u.at, "in messages one role does not follow itself")
	}
	e.blocks, e.text = append(e.blocks, blocks...), u.message
}

func (w *messagesWriter) call(u *utterance) {
	e := w.entry("assistant")
	e.blocks, e.text = append(e.blocks, w.toolUse(u)), 0
	w.owner[u.id] = e
}

func (d *messagesWriter) toolUse(u *utterance) []byte {
	input := []byte(strings.TrimSpace(u.arguments))
	switch {
	case u.free:
		input = []byte(`{"input":` + string(rawjson.Quote(u.arguments)) + `}`)
		d.change(CallRewritten, u.at, "free text", `{"input": text}`, "messages has no tools that take free text")
	case len(input) == 0:
		input = []byte("{}")
	case !rawjson.IsObject(input) || !rawjson.Valid(input):
		input = []byte(`{"input":` + string(rawjson.Quote(u.arguments)) + `}`)
		d.change(ArgumentsRewritten, u.at, u.arguments, `{"input": text}`, "messages takes a JSON object alone")
	}
	var f rawjson.Object
	f.Set("type", []byte(`"tool_use"`))
	f.Set("id", rawjson.Quote(u.id))
	f.Set("name", rawjson.Quote(u.name))
	f.Set("input", input)
	return f.Bytes()
}

func (w *messagesWriter) result(u *utterance) {
	var f rawjson.Object
	f.Set("type", []byte(`"tool_result"`))
	f.Set("tool_use_id", rawjson.Quote(u.id))
	if u.plain {
		if !rawjson.IsEmpty(u.pieces[0].text) {
			f.Set("content", u.pieces[0].text)
		}
	} else if blocks := w.blocks(u); len(blocks) > 0 {
		f.Set("content", rawjson.Array(blocks))
	}
	if u.isError {
		f.Set("is_error", []byte("true"))
	}
	e := w.owner[u.id]
	if e == nil { // its call is not in the history
		e = w.entry("user")
		e.blocks, e.text = append(e.blocks, f.Bytes()), 0
		return
	}
	if e != w.out[len(w.out)-1] {
		w.lose(MessageMoved, u.at, "a result stands right behind its call")
	}
	e.results = append(e.results, f.Bytes())
}

func (w *messagesWriter) messages() [][]byte {
	var out [][]byte
	write := func(role string, blocks [][]byte) {
		if len(blocks) > 0 {
			out = append(out, []byte(`{"role":"`+role+`","content":`+string(rawjson.Array(blocks))+`}`))
		}
	}
	var results [][]byte
	for _, e := range w.out {
		if e.role == "user" {
			write("user", append(results, e.blocks...))
		} else {
			write("user", results)
			write("assistant", e.blocks)
		}
		results = e.results
	}
	write("user", results)
	return out
}
