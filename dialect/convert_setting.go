package dialect

import "github.com/retake-debugger/retake/rawjson"

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
	for neutral, own := range d.names {
		if own == name {
			d.set(neutral, "/"+rawjson.EscapeToken(name), v)
			return true
		}
	}
	return false
}

// writeSettings writes the parameters and lists those that have no counterpart. own
// names the parameters of the API that is written; written writes one that needs more
// than a name.
func (d *draft) writeSettings(out *rawjson.Object, own map[string]string, written func(s setting) bool) {
	for _, s := range d.settings {
		switch name := own[s.name]; {
		case written(s):
		case name != "" && !rawjson.IsEmpty(s.v):
			out.Set(name, s.v)
		default:
			d.dropSetting(s.at, s.v)
		}
	}
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

// setInside sets a member of an object that is a member.
func setInside(out *rawjson.Object, object, name string, v []byte) {
	var f rawjson.Object
	f.Overlay(out.Get(object))
	f.Set(name, v)
	out.Set(object, f.Bytes())
}
