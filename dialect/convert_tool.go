package dialect

import (
	"strings"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// tool is the definition of a tool that the client runs.
type tool struct {
	name, at    string
	description []byte
	schema      []byte // of its arguments; nil for one that takes free text
	strict      []byte
	free        bool
	grammar     []byte // of the free text
}

// noArguments is the schema of a tool that has none: messages demands one.
const noArguments = `{"type":"object","properties":{}}`

// readTools reads a list of definitions, in the spelling of whichever dialect.
func (d *draft) readTools(v []byte, at string) { each(v, at, d.readTool) }

func (d *draft) readTool(v []byte, at string) {
	kind := rawjson.String(rawjson.Get(v, "type"))
	t := tool{at: at}
	switch inner := rawjson.Get(v, "function"); {
	case rawjson.IsObject(inner): // chat
		d.rest(v, at, "type", "function")
		d.function(&t, inner, at+"/function")
	case kind == "custom" && rawjson.IsObject(rawjson.Get(v, "custom")): // chat
		d.rest(v, at, "type", "custom")
		d.freeTool(&t, rawjson.Get(v, "custom"), at+"/custom")
	case kind == "custom" && d.from == transcript.Responses:
		d.freeTool(&t, v, at)
	case kind == "namespace":
		d.namespace(v, at)
		return
	case rawjson.IsObject(v) && (kind == "" || kind == "function" || kind == "custom"):
		d.function(&t, v, at)
	default:
		d.dropItem(ToolDropped, at, v, "the provider knows what it is; another one does not")
		return
	}
	d.tools = append(d.tools, t)
}

func (d *draft) function(t *tool, v []byte, at string) {
	t.name, t.description, t.strict = rawjson.String(rawjson.Get(v, "name")), rawjson.Get(v, "description"), rawjson.Get(v, "strict")
	for _, member := range [...]string{"input_schema", "parameters"} {
		if s := rawjson.Get(v, member); rawjson.IsObject(s) {
			t.schema = s
		}
	}
	d.rest(v, at, "type", "name", "description", "parameters", "input_schema", "strict")
}

func (d *draft) freeTool(t *tool, v []byte, at string) {
	t.free, t.name, t.description, t.grammar = true, rawjson.String(rawjson.Get(v, "name")), rawjson.Get(v, "description"), rawjson.Get(v, "format")
	d.rest(v, at, "type", "name", "description", "format")
}

// namespace takes the functions out of a group of them.
func (d *draft) namespace(v []byte, at string) {
	d.change(ToolRewritten, at, "namespace "+rawjson.String(rawjson.Get(v, "name")), "its functions", "other dialects have no groups of tools")
	d.readTools(rawjson.Get(v, "tools"), at+"/tools")
}

// writeTools writes the definitions.
func (d *draft) writeTools(out *rawjson.Object) {
	if len(d.tools) == 0 {
		return
	}
	all := make([][]byte, len(d.tools))
	for i := range d.tools {
		switch t := &d.tools[i]; d.to {
		case transcript.Messages:
			all[i] = d.messagesTool(t)
		default:
			all[i] = d.openAITool(t)
		}
	}
	out.Set("tools", rawjson.Array(all))
}

func (d *draft) openAITool(t *tool) []byte {
	chat := d.to == transcript.Chat
	var f rawjson.Object
	f.Set("name", rawjson.Quote(t.name))
	if rawjson.Present(t.description) {
		f.Set("description", t.description)
	}
	kind := "function"
	switch {
	case t.free:
		kind = "custom"
		if rawjson.Present(t.grammar) {
			f.Set("format", d.grammar(t.grammar))
		}
	default:
		if t.schema != nil {
			f.Set("parameters", t.schema)
		} else if !chat {
			f.Set("parameters", []byte(noArguments))
		}
		if rawjson.Present(t.strict) {
			f.Set("strict", t.strict)
		} else if !chat { // where it is on unless it is off
			f.Set("strict", []byte("false"))
		}
	}
	if chat {
		return []byte(`{"type":"` + kind + `","` + kind + `":` + string(f.Bytes()) + `}`)
	}
	whole := rawjson.Object{}
	whole.Set("type", rawjson.Quote(kind))
	whole.Merge(&f)
	return whole.Bytes()
}

// grammar writes the format of free text: chat has an object around what
// responses has beside the type.
func (d *draft) grammar(v []byte) []byte {
	inner := rawjson.Get(v, "grammar")
	switch {
	case rawjson.String(rawjson.Get(v, "type")) != "grammar":
	case d.to == transcript.Responses && rawjson.IsObject(inner):
		f := rawjson.Object{}
		f.Set("type", []byte(`"grammar"`))
		f.Overlay(inner)
		return f.Bytes()
	case d.to == transcript.Chat && inner == nil:
		if without, err := rawjson.Apply(v, rawjson.Edit{Op: rawjson.Delete, At: "/type"}); err == nil {
			return []byte(`{"type":"grammar","grammar":` + string(without) + `}`)
		}
	}
	return v
}

func (d *draft) messagesTool(t *tool) []byte {
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

// toolChoice says which tools may or must be called.
type toolChoice struct {
	at    string
	mode  string // auto, none, required, one, allowed
	must  bool   // of allowed ones: one of them has to be called
	names []chosen
}

type chosen struct {
	name string
	free bool
}

// readChoice reads which tool is wanted, in the spelling of whichever dialect.
func (d *draft) readChoice(v []byte, at string) {
	c := toolChoice{at: at, mode: rawjson.String(v)}
	if rawjson.IsObject(v) {
		c.mode = rawjson.String(rawjson.Get(v, "type"))
		if c.mode == "" && rawjson.IsString(rawjson.Get(v, "name")) { // chat, before tools there were
			c.mode = "function"
		}
	}
	switch c.mode {
	case "auto", "none", "required":
	case "any":
		c.mode = "required"
	case "tool", "function", "custom":
		name := rawjson.Get(v, "name")
		for _, inner := range [...]string{"function", "custom"} {
			if n := rawjson.Get(v, inner, "name"); n != nil {
				name = n
			}
		}
		c.names = []chosen{{rawjson.String(name), c.mode == "custom"}}
		c.mode = "one"
	case "allowed_tools":
		allowed := v
		if inner := rawjson.Get(v, "allowed_tools"); inner != nil {
			allowed = inner
		}
		c.mode, c.must = "allowed", rawjson.String(rawjson.Get(allowed, "mode")) == "required"
		each(rawjson.Get(allowed, "tools"), at+"/tools", func(v []byte, _ string) {
			kind := rawjson.String(rawjson.Get(v, "type"))
			if n := rawjson.Get(v, kind, "name"); n != nil {
				v = rawjson.Get(v, kind)
			}
			c.names = append(c.names, chosen{rawjson.String(rawjson.Get(v, "name")), kind == "custom"})
		})
	default:
		d.lose(ParameterDropped, at, "the other dialect has no such choice")
		return
	}
	d.choice = &c
}

func (d *draft) writeChoice(out *rawjson.Object) {
	switch {
	case d.choice == nil:
		return
	case len(d.tools) == 0 && d.to != transcript.Responses:
		d.lose(ParameterDropped, d.choice.at, "the other dialect takes no choice without tools")
		return
	case d.to == transcript.Messages:
		d.messagesChoice(out)
		return
	}
	c := d.choice
	v := rawjson.Quote(c.mode)
	switch c.mode {
	case "one":
		v = d.openAIChosen(c.names[0])
	case "allowed":
		refs := make([][]byte, len(c.names))
		for i, n := range c.names {
			refs[i] = d.openAIChosen(n)
		}
		mode := "auto"
		if c.must {
			mode = "required"
		}
		inner := `"mode":"` + mode + `","tools":` + string(rawjson.Array(refs))
		if d.to == transcript.Chat {
			inner = `"allowed_tools":{` + inner + `}`
		}
		v = []byte(`{"type":"allowed_tools",` + inner + `}`)
	}
	out.Set("tool_choice", v)
}

func (d *draft) openAIChosen(c chosen) []byte {
	kind := "function"
	if c.free {
		kind = "custom"
	}
	if name := string(rawjson.Quote(c.name)); d.to == transcript.Chat {
		return []byte(`{"type":"` + kind + `","` + kind + `":{"name":` + name + `}}`)
	} else {
		return []byte(`{"type":"` + kind + `","name":` + name + `}`)
	}
}

func (d *draft) messagesChoice(out *rawjson.Object) {
	c := d.choice
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
