package dialect

import (
	"strings"

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
	kind := str(get(v, "type"))
	t := tool{at: at}
	switch inner := get(v, "function"); {
	case isObject(inner): // chat
		d.rest(v, at, "type", "function")
		d.function(&t, inner, at+"/function")
	case kind == "custom" && isObject(get(v, "custom")): // chat
		d.rest(v, at, "type", "custom")
		d.freeTool(&t, get(v, "custom"), at+"/custom")
	case kind == "custom" && d.from == transcript.Responses:
		d.freeTool(&t, v, at)
	case kind == "namespace":
		d.namespace(v, at)
		return
	case isObject(v) && (kind == "" || kind == "function" || kind == "custom"):
		d.function(&t, v, at)
	default:
		d.dropItem(ToolDropped, at, v, "the provider knows what it is; another one does not")
		return
	}
	d.tools = append(d.tools, t)
}

func (d *draft) function(t *tool, v []byte, at string) {
	t.name, t.description, t.strict = str(get(v, "name")), get(v, "description"), get(v, "strict")
	for _, member := range [...]string{"input_schema", "parameters"} {
		if s := get(v, member); isObject(s) {
			t.schema = s
		}
	}
	d.rest(v, at, "type", "name", "description", "parameters", "input_schema", "strict")
}

func (d *draft) freeTool(t *tool, v []byte, at string) {
	t.free, t.name, t.description, t.grammar = true, str(get(v, "name")), get(v, "description"), get(v, "format")
	d.rest(v, at, "type", "name", "description", "format")
}

// namespace takes the functions out of a group of them.
func (d *draft) namespace(v []byte, at string) {
	d.change(ToolRewritten, at, "namespace "+str(get(v, "name")), "its functions", "other dialects have no groups of tools")
	d.readTools(get(v, "tools"), at+"/tools")
}

// writeTools writes the definitions.
func (d *draft) writeTools(out *fields) {
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
	out.set("tools", list(all))
}

func (d *draft) openAITool(t *tool) []byte {
	chat := d.to == transcript.Chat
	var f fields
	f.set("name", quote(t.name))
	if has(t.description) {
		f.set("description", t.description)
	}
	kind := "function"
	switch {
	case t.free:
		kind = "custom"
		if has(t.grammar) {
			f.set("format", d.grammar(t.grammar))
		}
	default:
		if t.schema != nil {
			f.set("parameters", t.schema)
		} else if !chat {
			f.set("parameters", []byte(noArguments))
		}
		if has(t.strict) {
			f.set("strict", t.strict)
		} else if !chat { // where it is on unless it is off
			f.set("strict", []byte("false"))
		}
	}
	if chat {
		return []byte(`{"type":"` + kind + `","` + kind + `":` + string(f.json()) + `}`)
	}
	whole := fields{}
	whole.set("type", quote(kind))
	whole.merge(&f)
	return whole.json()
}

// grammar writes the format of free text: chat has an object around what
// responses has beside the type.
func (d *draft) grammar(v []byte) []byte {
	inner := get(v, "grammar")
	switch {
	case str(get(v, "type")) != "grammar":
	case d.to == transcript.Responses && isObject(inner):
		f := fields{}
		f.set("type", []byte(`"grammar"`))
		f.overlay(inner)
		return f.json()
	case d.to == transcript.Chat && inner == nil:
		if without, err := remove(v, "/type"); err == nil {
			return []byte(`{"type":"grammar","grammar":` + string(without) + `}`)
		}
	}
	return v
}

func (d *draft) messagesTool(t *tool) []byte {
	var f fields
	f.set("name", quote(t.name))
	if has(t.description) {
		f.set("description", t.description)
	}
	switch {
	case t.free:
		d.change(ToolRewritten, t.at, "free text", `{"input": text}`, "messages has no tools that take free text")
		f.set("input_schema", []byte(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`))
	case t.schema == nil || isEmpty(t.schema):
		f.set("input_schema", []byte(noArguments))
	default:
		f.set("input_schema", t.schema)
	}
	if has(t.strict) {
		f.set("strict", t.strict)
	}
	return f.json()
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
	c := toolChoice{at: at, mode: str(v)}
	if isObject(v) {
		c.mode = str(get(v, "type"))
		if c.mode == "" && isString(get(v, "name")) { // chat, before tools there were
			c.mode = "function"
		}
	}
	switch c.mode {
	case "auto", "none", "required":
	case "any":
		c.mode = "required"
	case "tool", "function", "custom":
		name := get(v, "name")
		for _, inner := range [...]string{"function", "custom"} {
			if n := get(v, inner, "name"); n != nil {
				name = n
			}
		}
		c.names = []chosen{{str(name), c.mode == "custom"}}
		c.mode = "one"
	case "allowed_tools":
		allowed := v
		if inner := get(v, "allowed_tools"); inner != nil {
			allowed = inner
		}
		c.mode, c.must = "allowed", str(get(allowed, "mode")) == "required"
		each(get(allowed, "tools"), at+"/tools", func(v []byte, _ string) {
			kind := str(get(v, "type"))
			if n := get(v, kind, "name"); n != nil {
				v = get(v, kind)
			}
			c.names = append(c.names, chosen{str(get(v, "name")), kind == "custom"})
		})
	default:
		d.lose(ParameterDropped, at, "the other dialect has no such choice")
		return
	}
	d.choice = &c
}

func (d *draft) writeChoice(out *fields) {
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
	v := quote(c.mode)
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
		inner := `"mode":"` + mode + `","tools":` + string(list(refs))
		if d.to == transcript.Chat {
			inner = `"allowed_tools":{` + inner + `}`
		}
		v = []byte(`{"type":"allowed_tools",` + inner + `}`)
	}
	out.set("tool_choice", v)
}

func (d *draft) openAIChosen(c chosen) []byte {
	kind := "function"
	if c.free {
		kind = "custom"
	}
	if name := string(quote(c.name)); d.to == transcript.Chat {
		return []byte(`{"type":"` + kind + `","` + kind + `":{"name":` + name + `}}`)
	} else {
		return []byte(`{"type":"` + kind + `","name":` + name + `}`)
	}
}

func (d *draft) messagesChoice(out *fields) {
	c := d.choice
	var f fields
	switch c.mode {
	case "required":
		f.set("type", []byte(`"any"`))
	case "one":
		f.set("type", []byte(`"tool"`))
		f.set("name", quote(c.names[0].name))
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
		f.set("type", quote(kind))
	default:
		f.set("type", quote(c.mode))
	}
	out.set("tool_choice", f.json())
}
