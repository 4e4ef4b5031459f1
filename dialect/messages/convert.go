package messages

import (
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/dialect/draft"
	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// defaultMaxTokens is sent where a request did not bound its answer: messages
// demands a bound, and every model in service takes this one.
const defaultMaxTokens = 4096

// reader reads a request into a draft.
type reader struct{ *draft.Draft }

func readMessagesRequest(to *draft.Draft, body []byte) {
	d := reader{to}
	d.readUnits(rawjson.Get(body, "system"), "/system", "system")
	draft.Each(rawjson.Get(body, "messages"), "/messages", func(v []byte, at string) {
		role := rawjson.String(rawjson.Get(v, "role"))
		if !rawjson.IsObject(v) || role == "" {
			d.DropItem(draft.ItemDropped, at, v, "no message of a known role")
			return
		}
		d.Rest(v, at, "role", "content", "id", "type")
		d.readUnits(rawjson.Get(v, "content"), at+"/content", role)
	})
	for c := rawjson.Walk(body); c.Next(); {
		switch v, name := c.Value(), string(c.Key()); name {
		case "system", "messages":
		case "tools":
			d.ReadTools(v, "/tools")
		case "tool_choice":
			if rawjson.Present(v) {
				d.ReadChoice(v, "/tool_choice")
				switch string(rawjson.Get(v, "disable_parallel_tool_use")) {
				case "true":
					d.Set("parallel_tool_calls", "/tool_choice/disable_parallel_tool_use", []byte("false"))
				case "false":
					d.Set("parallel_tool_calls", "/tool_choice/disable_parallel_tool_use", []byte("true"))
				}
			}
		case "metadata":
			d.Set("user", "/metadata/user_id", rawjson.Get(v, "user_id"))
			d.Rest(v, "/metadata", "user_id")
		case "output_config":
			d.outputConfig(v)
		case "output_format": // before output_config there was
			d.ReadFormat(v, "/output_format")
		case "thinking":
		case "cache_control":
			d.Member("", name, v)
		case "thread":
			if previous := rawjson.Get(v, "previous_message_id"); !rawjson.IsEmpty(previous) {
				d.Lose(draft.HistoryMissing, "/thread/previous_message_id", "the provider holds what it names")
			}
			d.Rest(v, "/thread", "type", "previous_message_id")
		default:
			if !d.ReadSetting(name, v) {
				d.DropSetting("/"+rawjson.EscapeToken(name), v)
			}
		}
	}
	d.readThinking(rawjson.Get(body, "thinking")) // behind the effort, which says more
}

func (d reader) outputConfig(v []byte) {
	for c := rawjson.Walk(v); c.Object && c.Next(); {
		switch name, at := string(c.Key()), "/output_config/"+rawjson.EscapeToken(string(c.Key())); name {
		case "format":
			d.ReadFormat(c.Value(), at)
		case "effort":
			d.Set("effort", at, c.Value())
		default:
			d.DropSetting(at, c.Value())
		}
	}
}

// readUnits reads what a message says, or the system prompt: adjacent
// texts and images are one utterance.
func (d reader) readUnits(v []byte, at, role string) {
	d.Message++
	says := draft.Utterance{Kind: transcript.MessageItem, Role: role, At: at, Message: d.Message}
	if role == "system" {
		says.Kind = transcript.System
	}
	if rawjson.IsString(v) {
		d.Content(&says, v, at)
		d.Add(says)
		return
	}
	flush := func() {
		if len(says.Parts) > 0 {
			d.Add(says)
			says.Parts = nil
		}
	}
	draft.Each(v, at, func(v []byte, at string) {
		switch it := blockItem(v, role); {
		case it.ServerSide:
			d.DropItem(draft.ServerCallDropped, at, v, "the provider ran it")
		case it.Kind == transcript.Reasoning:
			d.Reasoning(at, v)
		case it.Kind == transcript.ToolCall:
			flush()
			d.Rest(v, at, "type", "id", "name", "input")
			d.Add(draft.Utterance{Kind: it.Kind, Role: role, At: at, Message: d.Message, ID: it.CallID, Name: it.Name, Arguments: it.ArgumentsRaw})
		case it.Kind == transcript.ToolResult:
			flush()
			d.result(v, at, &it)
		case it.Kind == transcript.Compaction && it.Text != "":
			says.Parts = append(says.Parts, draft.Part{Kind: draft.TextPart, At: at, Text: rawjson.Get(v, "content")})
			d.Change(draft.PartRewritten, at, "compaction", "text", "the other dialect has no summaries of its own")
			d.Rest(v, at, "type", "content")
		default:
			if p, ok := d.Part(v, at); ok {
				if len(says.Parts) == 0 {
					says.At = at
				}
				says.Parts = append(says.Parts, p)
			}
		}
	})
	flush()
}

func (d reader) result(v []byte, at string, it *transcript.Item) {
	u := draft.Utterance{Kind: it.Kind, Role: "tool", At: at, Message: d.Message, ID: it.CallID, IsError: it.IsError}
	d.Rest(v, at, "type", "id", "tool_use_id", "content", "is_error")
	if content := rawjson.Get(v, "content"); rawjson.Present(content) {
		d.Content(&u, content, at+"/content")
	}
	d.Add(u)
}

// entry is a message being written, and the results of its calls,
// which have to stand at the head of the next one.
type entry struct {
	role    string
	blocks  [][]byte
	text    int // the source message of a text that is its last block; 0 if that is none
	results [][]byte
}

type writer struct {
	*draft.Draft
	system []*draft.Utterance
	out    []*entry
	owner  map[string]*entry
}

func writeMessagesRequest(d *draft.Draft, out *rawjson.Object) {
	w := writer{Draft: d, owner: map[string]*entry{}}
	for i := range d.Units {
		u := &d.Units[i]
		switch u.Kind {
		case transcript.System:
			if len(w.out) > 0 {
				d.Lose(draft.MessageMoved, u.At, "messages has its system prompt before all messages")
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
	w.writeTools(out)
	w.writeChoice(out)
	w.writeFormat(out)
	w.WriteSettings(out, settings, func(s draft.Setting) bool { return w.setting(s, out) })
	if out.Get("max_tokens") == nil {
		tokens := strconv.Itoa(defaultMaxTokens)
		out.Set("max_tokens", []byte(tokens))
		d.Change(draft.ParameterAdded, "", "", "max_tokens "+tokens, "messages demands it")
	}
}

func (w *writer) writeSystem(out *rawjson.Object) {
	var blocks [][]byte
	for i, u := range w.system {
		if u.Role != "system" {
			w.Change(draft.RoleChanged, u.At, u.Role, "system", "messages has one role for both")
		}
		if i > 0 {
			w.Lose(draft.MessagesMerged, u.At, "messages has one system prompt")
		}
		if u.Plain && len(w.system) == 1 && strings.TrimSpace(rawjson.Unquote(u.Parts[0].Text)) != "" {
			out.Set("system", u.Parts[0].Text)
			return
		}
		blocks = append(blocks, w.blocks(u)...)
	}
	if len(blocks) > 0 {
		out.Set("system", rawjson.Array(blocks))
	}
}

// entry gives the message that goes on with a role: the last one, or a new one.
func (w *writer) entry(role string) *entry {
	if n := len(w.out); n > 0 && w.out[n-1].role == role && len(w.out[n-1].results) == 0 {
		return w.out[n-1]
	}
	e := &entry{role: role}
	w.out = append(w.out, e)
	return e
}

func (w *writer) say(u *draft.Utterance) {
	blocks := w.blocks(u)
	if len(blocks) == 0 {
		return
	}
	e := w.entry(u.Role)
	if e.text != 0 && e.text != u.Message {
		w.Lose(draft.MessagesMerged, u.At, "in messages one role does not follow itself")
	}
	e.blocks, e.text = append(e.blocks, blocks...), u.Message
}

func (w *writer) call(u *draft.Utterance) {
	e := w.entry("assistant")
	e.blocks, e.text = append(e.blocks, w.toolUse(u)), 0
	w.owner[u.ID] = e
}

func (w *writer) toolUse(u *draft.Utterance) []byte {
	input := []byte(strings.TrimSpace(u.Arguments))
	switch {
	case u.Free:
		input = []byte(`{"input":` + string(rawjson.Quote(u.Arguments)) + `}`)
		w.Change(draft.CallRewritten, u.At, "free text", `{"input": text}`, "messages has no tools that take free text")
	case len(input) == 0:
		input = []byte("{}")
	case !rawjson.IsObject(input) || !rawjson.Valid(input):
		input = []byte(`{"input":` + string(rawjson.Quote(u.Arguments)) + `}`)
		w.Change(draft.ArgumentsRewritten, u.At, u.Arguments, `{"input": text}`, "messages takes a JSON object alone")
	}
	var f rawjson.Object
	f.Set("type", []byte(`"tool_use"`))
	f.Set("id", rawjson.Quote(u.ID))
	f.Set("name", rawjson.Quote(u.Name))
	f.Set("input", input)
	return f.Bytes()
}

func (w *writer) result(u *draft.Utterance) {
	var f rawjson.Object
	f.Set("type", []byte(`"tool_result"`))
	f.Set("tool_use_id", rawjson.Quote(u.ID))
	if u.Plain {
		if !rawjson.IsEmpty(u.Parts[0].Text) {
			f.Set("content", u.Parts[0].Text)
		}
	} else if blocks := w.blocks(u); len(blocks) > 0 {
		f.Set("content", rawjson.Array(blocks))
	}
	if u.IsError {
		f.Set("is_error", []byte("true"))
	}
	e := w.owner[u.ID]
	if e == nil { // its call is not in the history
		e = w.entry("user")
		e.blocks, e.text = append(e.blocks, f.Bytes()), 0
		return
	}
	if e != w.out[len(w.out)-1] {
		w.Lose(draft.MessageMoved, u.At, "a result stands right behind its call")
	}
	e.results = append(e.results, f.Bytes())
}

func (w *writer) messages() [][]byte {
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
