package dialect

import (
	"github.com/retake-debugger/retake/rawjson"
	"strconv"
)

// setting writes a parameter that needs more than a name, and reports whether it did.
func (w *messagesWriter) setting(s setting, out *rawjson.Object) bool {
	switch s.name {
	case "temperature":
		out.Set(s.name, w.temperature(s))
	case "user":
		setInside(out, "metadata", "user_id", s.v)
	case "effort":
		w.effort(s, out)
	case "parallel_tool_calls":
		return w.parallel(s, out)
	case "store": // nothing is stored
		return string(s.v) == "false"
	default:
		return false
	}
	return true
}

func (w *messagesWriter) parallel(s setting, out *rawjson.Object) bool {
	if choice := out.Get("tool_choice"); choice == nil && len(w.tools) == 0 {
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
	setInside(out, "tool_choice", "disable_parallel_tool_use", []byte(disable))
	return true
}

// temperature is at most 1, elsewhere 2.
func (d *messagesWriter) temperature(s setting) []byte {
	if t, err := strconv.ParseFloat(string(s.v), 64); err != nil || t <= 1 {
		return s.v
	}
	d.change(ParameterChanged, s.at, string(s.v), "1", "messages goes no higher")
	return []byte("1")
}

// effort writes how much a model shall think: adaptive thinking, which
// does not ask for the thinking blocks of earlier answers, and an effort. A
// request with a tool that must be called, or with a temperature, may not think;
// the effort holds for it none the less.
func (d *messagesWriter) effort(s setting, out *rawjson.Object) {
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
func (d messagesReader) readThinking(v []byte) {
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

func (w *messagesWriter) format_(out *rawjson.Object) {
	f := w.draft.format
	if f == nil {
		return
	}
	if f.kind != "json_schema" || f.schema == nil {
		w.lose(ParameterDropped, f.at, "messages has no such format")
		return
	}
	for _, m := range f.rest {
		w.member(m.at[:len(m.at)-len(m.name)-1], m.name, m.v)
	}
	var schema rawjson.Object
	schema.Set("type", []byte(`"json_schema"`))
	schema.Set("schema", f.schema)
	setInside(out, "output_config", "format", schema.Bytes())
}
