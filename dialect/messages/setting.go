package messages

import (
	"github.com/retake-debugger/retake/dialect/draft"
	"github.com/retake-debugger/retake/rawjson"
	"strconv"
)

// setting writes a parameter that needs more than a name, and reports whether it did.
func (w *writer) setting(s draft.Setting, out *rawjson.Object) bool {
	switch s.Name {
	case "temperature":
		out.Set(s.Name, w.temperature(s))
	case "user":
		draft.SetInside(out, "metadata", "user_id", s.V)
	case "effort":
		w.effort(s, out)
	case "parallel_tool_calls":
		return w.parallel(s, out)
	case "store": // nothing is stored
		return string(s.V) == "false"
	default:
		return false
	}
	return true
}

func (w *writer) parallel(s draft.Setting, out *rawjson.Object) bool {
	if choice := out.Get("tool_choice"); choice == nil && len(w.Tools) == 0 {
		return false
	} else if choice == nil {
		out.Set("tool_choice", []byte(`{"type":"auto"}`))
	} else if rawjson.String(rawjson.Get(choice, "type")) == "none" {
		return false
	}
	disable := "false"
	if string(s.V) == "false" {
		disable = "true"
	}
	draft.SetInside(out, "tool_choice", "disable_parallel_tool_use", []byte(disable))
	return true
}

// temperature is at most 1, elsewhere 2.
func (w *writer) temperature(s draft.Setting) []byte {
	if t, err := strconv.ParseFloat(string(s.V), 64); err != nil || t <= 1 {
		return s.V
	}
	w.Change(draft.ParameterChanged, s.At, string(s.V), "1", "messages goes no higher")
	return []byte("1")
}

// effort writes how much a model shall think: adaptive thinking, which
// does not ask for the thinking blocks of earlier answers, and an effort. A
// request with a tool that must be called, or with a temperature, may not think;
// the effort holds for it none the less.
func (w *writer) effort(s draft.Setting, out *rawjson.Object) {
	effort := rawjson.String(s.V)
	switch effort {
	case "none":
		out.Set("thinking", []byte(`{"type":"disabled"}`))
		return
	case "minimal":
		w.Change(draft.ParameterChanged, s.At, effort, "low", "messages has no such effort")
		effort = "low"
	}
	if kind := rawjson.String(rawjson.Get(out.Get("tool_choice"), "type")); kind != "any" && kind != "tool" && w.Settings.Get("temperature") == nil {
		out.Set("thinking", []byte(`{"type":"adaptive"}`))
	}
	draft.SetInside(out, "output_config", "effort", rawjson.Quote(effort))
}

// readThinking reads the thinking of messages. OpenAI counts no budget: of one
// only an effort is left.
func (d reader) readThinking(v []byte) {
	const at = "/thinking"
	switch kind := rawjson.String(rawjson.Get(v, "type")); kind {
	case "disabled":
		d.Set("effort", at+"/type", []byte(`"none"`))
	case "enabled":
		budget := rawjson.Get(v, "budget_tokens")
		effort := effortOf(rawjson.Count(budget))
		if d.Settings.Get("effort") == nil {
			d.Set("effort", at, rawjson.Quote(effort))
		}
		if rawjson.Present(budget) {
			d.Change(draft.ParameterChanged, at+"/budget_tokens", string(budget), effort, "the other dialect has an effort in place of a budget")
		}
	case "adaptive":
		if d.Settings.Get("effort") == nil {
			d.Lose(draft.ParameterDropped, at, "the other dialect lets a model think as much as it likes unless an effort is named")
		}
	default:
		d.DropSetting(at, v)
		return
	}
	for c := rawjson.Walk(v); c.Object && c.Next(); {
		if name := string(c.Key()); name != "type" && name != "budget_tokens" {
			d.DropSetting(at+"/"+rawjson.EscapeToken(name), c.Value())
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

func (w *writer) writeFormat(out *rawjson.Object) {
	f := w.Format
	if f == nil {
		return
	}
	if f.Kind != "json_schema" || f.Schema == nil {
		w.Lose(draft.ParameterDropped, f.At, "messages has no such format")
		return
	}
	for _, m := range f.Rest {
		w.Member(m.At[:len(m.At)-len(m.Name)-1], m.Name, m.V)
	}
	var schema rawjson.Object
	schema.Set("type", []byte(`"json_schema"`))
	schema.Set("schema", f.Schema)
	draft.SetInside(out, "output_config", "format", schema.Bytes())
}
