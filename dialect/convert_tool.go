package dialect

import "github.com/retake-debugger/retake/rawjson"

// tool is the definition of a tool that the client runs.
type tool struct {
	name, at    string
	description []byte
	schema      []byte // of its arguments; nil for one that takes free text
	strict      []byte
	free        bool
	grammar     []byte // of the free text
}

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
	case kind == "custom" && d.customIsFree:
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
