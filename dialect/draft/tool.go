package draft

import "github.com/retake-debugger/retake/rawjson"

// Tool is the definition of a tool that the client runs.
type Tool struct {
	Name, At    string
	Description []byte
	Schema      []byte // of its arguments; nil for one that takes free text
	Strict      []byte
	Free        bool
	Grammar     []byte // of the free text
}

// ReadTools reads a list of definitions, in the spelling of whichever dialect.
func (d *Draft) ReadTools(v []byte, at string) { Each(v, at, d.readTool) }

func (d *Draft) readTool(v []byte, at string) {
	kind := rawjson.String(rawjson.Get(v, "type"))
	t := Tool{At: at}
	switch inner := rawjson.Get(v, "function"); {
	case rawjson.IsObject(inner): // chat
		d.Rest(v, at, "type", "function")
		d.function(&t, inner, at+"/function")
	case kind == "custom" && rawjson.IsObject(rawjson.Get(v, "custom")): // chat
		d.Rest(v, at, "type", "custom")
		d.freeTool(&t, rawjson.Get(v, "custom"), at+"/custom")
	case kind == "custom" && d.CustomIsFree:
		d.freeTool(&t, v, at)
	case kind == "namespace":
		d.namespace(v, at)
		return
	case rawjson.IsObject(v) && (kind == "" || kind == "function" || kind == "custom"):
		d.function(&t, v, at)
	default:
		d.DropItem(ToolDropped, at, v, "the provider knows what it is; another one does not")
		return
	}
	d.Tools = append(d.Tools, t)
}

func (d *Draft) function(t *Tool, v []byte, at string) {
	t.Name, t.Description, t.Strict = rawjson.String(rawjson.Get(v, "name")), rawjson.Get(v, "description"), rawjson.Get(v, "strict")
	for _, member := range [...]string{"input_schema", "parameters"} {
		if s := rawjson.Get(v, member); rawjson.IsObject(s) {
			t.Schema = s
		}
	}
	d.Rest(v, at, "type", "name", "description", "parameters", "input_schema", "strict")
}

func (d *Draft) freeTool(t *Tool, v []byte, at string) {
	t.Free, t.Name, t.Description, t.Grammar = true, rawjson.String(rawjson.Get(v, "name")), rawjson.Get(v, "description"), rawjson.Get(v, "format")
	d.Rest(v, at, "type", "name", "description", "format")
}

// namespace takes the functions out of a group of them.
func (d *Draft) namespace(v []byte, at string) {
	d.Change(ToolRewritten, at, "namespace "+rawjson.String(rawjson.Get(v, "name")), "its functions", "other dialects have no groups of tools")
	d.ReadTools(rawjson.Get(v, "tools"), at+"/tools")
}

// toolChoice says which tools may or must be called.
type toolChoice struct {
	At    string
	Mode  string // auto, none, required, one, allowed
	Must  bool   // of allowed ones: one of them has to be called
	Names []Chosen
}

type Chosen struct {
	Name string
	Free bool
}

// ReadChoice reads which tool is wanted, in the spelling of whichever dialect.
func (d *Draft) ReadChoice(v []byte, at string) {
	c := toolChoice{At: at, Mode: rawjson.String(v)}
	if rawjson.IsObject(v) {
		c.Mode = rawjson.String(rawjson.Get(v, "type"))
		if c.Mode == "" && rawjson.IsString(rawjson.Get(v, "name")) { // chat, before tools there were
			c.Mode = "function"
		}
	}
	switch c.Mode {
	case "auto", "none", "required":
	case "any":
		c.Mode = "required"
	case "tool", "function", "custom":
		name := rawjson.Get(v, "name")
		for _, inner := range [...]string{"function", "custom"} {
			if n := rawjson.Get(v, inner, "name"); n != nil {
				name = n
			}
		}
		c.Names = []Chosen{{rawjson.String(name), c.Mode == "custom"}}
		c.Mode = "one"
	case "allowed_tools":
		allowed := v
		if inner := rawjson.Get(v, "allowed_tools"); inner != nil {
			allowed = inner
		}
		c.Mode, c.Must = "allowed", rawjson.String(rawjson.Get(allowed, "mode")) == "required"
		Each(rawjson.Get(allowed, "tools"), at+"/tools", func(v []byte, _ string) {
			kind := rawjson.String(rawjson.Get(v, "type"))
			if n := rawjson.Get(v, kind, "name"); n != nil {
				v = rawjson.Get(v, kind)
			}
			c.Names = append(c.Names, Chosen{rawjson.String(rawjson.Get(v, "name")), kind == "custom"})
		})
	default:
		d.Lose(ParameterDropped, at, "the other dialect has no such choice")
		return
	}
	d.Choice = &c
}
