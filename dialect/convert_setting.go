package dialect

import (
	"strconv"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// setting is a parameter of a request under a name that is nobody's own: mostly
// that of chat.
type setting struct {
	name, at string
	v        []byte
}

type settings []setting

func (s settings) get(name string) *setting {
	for i := range s {
		if s[i].name == name {
			return &s[i]
		}
	}
	return nil
}

// settingNames are the parameters that are the same everywhere but for their
// names. "" is where there is none.
var settingNames = []struct{ name, chat, responses, messages string }{
	{"model", "model", "model", "model"},
	{"stream", "stream", "stream", "stream"},
	{"max_tokens", "max_completion_tokens", "max_output_tokens", "max_tokens"},
	{"temperature", "temperature", "temperature", "temperature"},
	{"top_p", "top_p", "top_p", "top_p"},
	{"stop", "stop", "", "stop_sequences"},
	{"metadata", "metadata", "metadata", ""},
	{"store", "store", "store", ""},
	{"user", "user", "user", ""}, // in messages inside metadata
	{"safety_identifier", "safety_identifier", "safety_identifier", ""},
	{"prompt_cache_key", "prompt_cache_key", "prompt_cache_key", ""},
	{"prompt_cache_retention", "prompt_cache_retention", "prompt_cache_retention", ""},
	{"service_tier", "service_tier", "service_tier", ""},
	{"parallel_tool_calls", "parallel_tool_calls", "parallel_tool_calls", ""}, // in messages inside tool_choice
	{"effort", "reasoning_effort", "", ""},                                    // elsewhere inside an object
	{"verbosity", "verbosity", "", ""},
}

func settingName(d transcript.Dialect, i int) string {
	switch n := &settingNames[i]; d {
	case transcript.Chat:
		return n.chat
	case transcript.Responses:
		return n.responses
	default:
		return n.messages
	}
}

// set keeps a parameter. One that says nothing is none; of two of a name the
// first counts.
func (d *draft) set(name, at string, v []byte) {
	if !rawjson.Present(v) {
		return
	}
	if old := d.settings.get(name); old != nil {
		if string(old.v) != string(v) {
			d.lose(ParameterDropped, at, "another parameter says the same")
		}
		return
	}
	d.settings = append(d.settings, setting{name, at, v})
}

func (d *draft) dropSetting(at string, v []byte) {
	if !rawjson.IsEmpty(v) {
		d.lose(ParameterDropped, at, "the other dialect has no counterpart")
	}
}

// readSetting reads a parameter that has the same meaning everywhere.
func (d *draft) readSetting(name string, v []byte) bool {
	for i := range settingNames {
		if settingName(d.from, i) == name {
			d.set(settingNames[i].name, "/"+rawjson.EscapeToken(name), v)
			return true
		}
	}
	return false
}

// writeSettings writes the parameters and lists those that have no counterpart.
func (d *draft) writeSettings(out *rawjson.Object) {
	for _, s := range d.settings {
		name := ""
		for i := range settingNames {
			if settingNames[i].name == s.name {
				name = settingName(d.to, i)
			}
		}
		switch {
		case s.name == "parallel_tool_calls" && len(d.tools) == 0 && d.to == transcript.Chat:
			d.lose(ParameterDropped, s.at, "chat takes it beside tools alone")
		case name == "temperature" && d.to == transcript.Messages:
			out.Set(name, d.messagesTemperature(s))
		case name != "" && !rawjson.IsEmpty(s.v):
			out.Set(name, s.v)
		case d.nested(s, out):
		case s.name == "store" && string(s.v) == "false": // messages stores nothing
		default:
			d.dropSetting(s.at, s.v)
		}
	}
	if v := d.settings.get("stream"); d.to == transcript.Chat && v != nil && string(v.v) == "true" {
		// The others always tell what a stream used.
		out.Set("stream_options", []byte(`{"include_usage":true}`))
	}
}

// messagesTemperature is at most 1, elsewhere 2.
func (d *draft) messagesTemperature(s setting) []byte {
	if t, err := strconv.ParseFloat(string(s.v), 64); err != nil || t <= 1 {
		return s.v
	}
	d.change(ParameterChanged, s.at, string(s.v), "1", "messages goes no higher")
	return []byte("1")
}

// nested writes parameters that stand inside others.
func (d *draft) nested(s setting, out *rawjson.Object) bool {
	into := func(member, name string, v []byte) bool {
		setInside(out, member, name, v)
		return true
	}
	switch responses := d.to == transcript.Responses; {
	case s.name == "effort" && responses:
		return into("reasoning", "effort", s.v)
	case s.name == "summary" && responses:
		return into("reasoning", "summary", s.v)
	case s.name == "verbosity" && responses:
		return into("text", "verbosity", s.v)
	case d.to != transcript.Messages:
	case s.name == "user":
		return into("metadata", "user_id", s.v)
	case s.name == "effort":
		d.messagesEffort(s, out)
		return true
	case s.name == "parallel_tool_calls":
		if choice := out.Get("tool_choice"); choice == nil && len(d.tools) == 0 {
			return false
		} else if choice == nil {
			out.Set("tool_choice", []byte(`{"type":"auto"}`))
		} else if rawjson.String(rawjson.Get(choice, "type")) == "none" {
			return false
		}
		disable := "false"
		if string(s.v) == "false" {
			disable = "true"
		}
		return into("tool_choice", "disable_parallel_tool_use", []byte(disable))
	}
	return false
}

// messagesEffort writes how much a model shall think: adaptive thinking, which
// does not ask for the thinking blocks of earlier answers, and an effort. A
// request with a tool that must be called, or with a temperature, may not think;
// the effort holds for it none the less.
func (d *draft) messagesEffort(s setting, out *rawjson.Object) {
	effort := rawjson.String(s.v)
	switch effort {
	case "none":
		out.Set("thinking", []byte(`{"type":"disabled"}`))
		return
	case "minimal":
		d.change(ParameterChanged, s.at, effort, "low", "messages has no such effort")
		effort = "low"
	}
	if kind := rawjson.String(rawjson.Get(out.Get("tool_choice"), "type")); kind != "any" && kind != "tool" && d.settings.get("temperature") == nil {
		out.Set("thinking", []byte(`{"type":"adaptive"}`))
	}
	setInside(out, "output_config", "effort", rawjson.Quote(effort))
}

// readThinking reads the thinking of messages. OpenAI counts no budget: of one
// only an effort is left.
func (d *draft) readThinking(v []byte) {
	const at = "/thinking"
	switch kind := rawjson.String(rawjson.Get(v, "type")); kind {
	case "disabled":
		d.set("effort", at+"/type", []byte(`"none"`))
	case "enabled":
		budget := rawjson.Get(v, "budget_tokens")
		effort := effortOf(rawjson.Count(budget))
		if d.settings.get("effort") == nil {
			d.set("effort", at, rawjson.Quote(effort))
		}
		if rawjson.Present(budget) {
			d.change(ParameterChanged, at+"/budget_tokens", string(budget), effort, "the other dialect has an effort in place of a budget")
		}
	case "adaptive":
		if d.settings.get("effort") == nil {
			d.lose(ParameterDropped, at, "the other dialect lets a model think as much as it likes unless an effort is named")
		}
	default:
		d.dropSetting(at, v)
		return
	}
	for c := rawjson.Walk(v); c.Object && c.Next(); {
		if name := string(c.Key()); name != "type" && name != "budget_tokens" {
			d.dropSetting(at+"/"+rawjson.EscapeToken(name), c.Value())
		}
	}
}

// effortOf names a budget of thinking, in tokens, by the effort that gateways
// give about as many for.
func effortOf(budget int64) string {
	switch {
	case budget <= 2048:
		return "low"
	case budget <= 8192:
		return "medium"
	}
	return "high"
}

// format is how the answer has to look.
type format struct {
	at, kind string // json_object or json_schema
	schema   []byte
	rest     []formatMember // name, description, strict
}

type formatMember struct {
	name, at string
	v        []byte
}

// readFormat reads response_format, text.format or output_config.format.
func (d *draft) readFormat(v []byte, at string) {
	f := &format{at: at, kind: rawjson.String(rawjson.Get(v, "type"))}
	switch f.kind {
	case "json_object":
	case "json_schema":
		if inner := rawjson.Get(v, "json_schema"); rawjson.IsObject(inner) { // chat
			d.rest(v, at, "type", "json_schema")
			v, at = inner, at+"/json_schema"
		}
		for c := rawjson.Walk(v); c.Object && c.Next(); {
			switch name := string(c.Key()); name {
			case "type":
			case "schema":
				f.schema = c.Value()
			case "name", "description", "strict":
				if rawjson.Present(c.Value()) {
					f.rest = append(f.rest, formatMember{name, at + "/" + name, c.Value()})
				}
			default:
				d.member(at, name, c.Value())
			}
		}
	case "text", "": // any answer will do
		return
	default:
		d.dropSetting(at, v)
		return
	}
	d.format = f
}

func (d *draft) writeFormat(out *rawjson.Object) {
	f := d.format
	if f == nil {
		return
	}
	var schema rawjson.Object
	if d.to == transcript.Messages {
		if f.kind != "json_schema" || f.schema == nil {
			d.lose(ParameterDropped, f.at, "messages has no such format")
			return
		}
		for _, m := range f.rest {
			d.member(m.at[:len(m.at)-len(m.name)-1], m.name, m.v)
		}
		schema.Set("type", []byte(`"json_schema"`))
		schema.Set("schema", f.schema)
		setInside(out, "output_config", "format", schema.Bytes())
		return
	}
	if f.kind == "json_schema" {
		for _, m := range f.rest {
			schema.Set(m.name, m.v)
		}
		if schema.Get("name") == nil {
			schema.Set("name", []byte(`"answer"`))
			d.change(ParameterAdded, "", "", "answer", "the other dialect wants a name for the schema")
		}
		if f.schema != nil {
			schema.Set("schema", f.schema)
		}
	}
	switch inner := string(schema.Bytes()); {
	case d.to == transcript.Responses:
		whole := rawjson.Object{}
		whole.Set("type", rawjson.Quote(f.kind))
		whole.Merge(&schema)
		setInside(out, "text", "format", whole.Bytes())
	case f.kind == "json_schema":
		out.Set("response_format", []byte(`{"type":"json_schema","json_schema":`+inner+`}`))
	default:
		out.Set("response_format", []byte(`{"type":"`+f.kind+`"}`))
	}
}

// setInside sets a member of an object that is a member.
func setInside(out *rawjson.Object, object, name string, v []byte) {
	var f rawjson.Object
	f.Overlay(out.Get(object))
	f.Set(name, v)
	out.Set(object, f.Bytes())
}
