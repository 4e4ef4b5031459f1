package dialect

import (
	"strings"

	"github.com/retake-debugger/retake/rawjson"
)

func (w *messagesWriter) tools_(out *rawjson.Object) {
	if len(w.tools) == 0 {
		return
	}
	all := make([][]byte, len(w.tools))
	for i := range w.tools {
		all[i] = w.tool(&w.tools[i])
	}
	out.Set("tools", rawjson.Array(all))
}

func (d *messagesWriter) tool(t *tool) []byte {
	var f rawjson.Object
	f.Set("name", rawjson.Quote(t.name))
	if rawjson.Present(t.description) {
		f.Set("description", t.description)
	}
	switch {
	case t.free:
		d.change(ToolRewritten, t.at, "free text", `{"input": text}`, "messages has no tools that take free text")
		f.Set("input_schema", []byte(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`))
	case t.schema == nil || rawjson.IsEmpty(t.schema):
		f.Set("input_schema", []byte(noArguments))
	default:
		f.Set("input_schema", t.schema)
	}
	if rawjson.Present(t.strict) {
		f.Set("strict", t.strict)
	}
	return f.Bytes()
}

func (d *messagesWriter) choice_(out *rawjson.Object) {
	c := d.choice
	if c == nil {
		return
	}
	if len(d.tools) == 0 {
		d.lose(ParameterDropped, c.at, "the other dialect takes no choice without tools")
		return
	}
	var f rawjson.Object
	switch c.mode {
	case "required":
		f.Set("type", []byte(`"any"`))
	case "one":
		f.Set("type", []byte(`"tool"`))
		f.Set("name", rawjson.Quote(c.names[0].name))
	case "allowed":
		kind := "auto"
		if c.must {
			kind = "any"
		}
		names := make([]string, len(c.names))
		for i, n := range c.names {
			names[i] = n.name
		}
		d.change(ParameterChanged, c.at, strings.Join(names, " "), kind, "messages cannot allow some tools alone")
		f.Set("type", rawjson.Quote(kind))
	default:
		f.Set("type", rawjson.Quote(c.mode))
	}
	out.Set("tool_choice", f.Bytes())
}
