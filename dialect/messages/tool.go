package messages

import (
	"strings"

	"github.com/retake-debugger/retake/dialect/draft"
	"github.com/retake-debugger/retake/dialect/openai"
	"github.com/retake-debugger/retake/rawjson"
)

func (w *writer) writeTools(out *rawjson.Object) {
	if len(w.Tools) == 0 {
		return
	}
	all := make([][]byte, len(w.Tools))
	for i := range w.Tools {
		all[i] = w.tool(&w.Tools[i])
	}
	out.Set("tools", rawjson.Array(all))
}

func (w *writer) tool(t *draft.Tool) []byte {
	var f rawjson.Object
	f.Set("name", rawjson.Quote(t.Name))
	if rawjson.Present(t.Description) {
		f.Set("description", t.Description)
	}
	switch {
	case t.Free:
		w.Change(draft.ToolRewritten, t.At, "free text", `{"input": text}`, "messages has no tools that take free text")
		f.Set("input_schema", []byte(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`))
	case t.Schema == nil || rawjson.IsEmpty(t.Schema):
		f.Set("input_schema", []byte(openai.NoArguments))
	default:
		f.Set("input_schema", t.Schema)
	}
	if rawjson.Present(t.Strict) {
		f.Set("strict", t.Strict)
	}
	return f.Bytes()
}

func (w *writer) writeChoice(out *rawjson.Object) {
	c := w.Choice
	if c == nil {
		return
	}
	if len(w.Tools) == 0 {
		w.Lose(draft.ParameterDropped, c.At, "the other dialect takes no choice without tools")
		return
	}
	var f rawjson.Object
	switch c.Mode {
	case "required":
		f.Set("type", []byte(`"any"`))
	case "one":
		f.Set("type", []byte(`"tool"`))
		f.Set("name", rawjson.Quote(c.Names[0].Name))
	case "allowed":
		kind := "auto"
		if c.Must {
			kind = "any"
		}
		names := make([]string, len(c.Names))
		for i, n := range c.Names {
			names[i] = n.Name
		}
		w.Change(draft.ParameterChanged, c.At, strings.Join(names, " "), kind, "messages cannot allow some tools alone")
		f.Set("type", rawjson.Quote(kind))
	default:
		f.Set("type", rawjson.Quote(c.Mode))
	}
	out.Set("tool_choice", f.Bytes())
}
