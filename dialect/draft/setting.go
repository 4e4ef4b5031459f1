package draft

import "github.com/retake-debugger/retake/rawjson"

// Setting is a parameter of a request under a name that is nobody's own: mostly
// that of chat.
type Setting struct {
	Name, At string
	V        []byte
}

type settings []Setting

func (s settings) Get(name string) *Setting {
	for i := range s {
		if s[i].Name == name {
			return &s[i]
		}
	}
	return nil
}

// Set keeps a parameter. One that says nothing is none; of two of a name the
// first counts.
func (d *Draft) Set(name, at string, v []byte) {
	if !rawjson.Present(v) {
		return
	}
	if old := d.Settings.Get(name); old != nil {
		if string(old.V) != string(v) {
			d.Lose(ParameterDropped, at, "another parameter says the same")
		}
		return
	}
	d.Settings = append(d.Settings, Setting{name, at, v})
}

func (d *Draft) DropSetting(at string, v []byte) {
	if !rawjson.IsEmpty(v) {
		d.Lose(ParameterDropped, at, "the other dialect has no counterpart")
	}
}

// ReadSetting reads a parameter that has the same meaning everywhere.
func (d *Draft) ReadSetting(name string, v []byte) bool {
	for neutral, own := range d.names {
		if own == name {
			d.Set(neutral, "/"+rawjson.EscapeToken(name), v)
			return true
		}
	}
	return false
}

// WriteSettings writes the parameters and lists those that have no counterpart. own
// names the parameters of the API that is written; written writes one that needs more
// than a name.
func (d *Draft) WriteSettings(out *rawjson.Object, own map[string]string, written func(s Setting) bool) {
	for _, s := range d.Settings {
		switch name := own[s.Name]; {
		case written(s):
		case name != "" && !rawjson.IsEmpty(s.V):
			out.Set(name, s.V)
		default:
			d.DropSetting(s.At, s.V)
		}
	}
}

// Format is how the answer has to look.
type Format struct {
	At, Kind string // json_object or json_schema
	Schema   []byte
	Rest     []formatMember // name, description, strict
}

type formatMember struct {
	Name, At string
	V        []byte
}

// ReadFormat reads response_format, text.format or output_config.format.
func (d *Draft) ReadFormat(v []byte, at string) {
	f := &Format{At: at, Kind: rawjson.String(rawjson.Get(v, "type"))}
	switch f.Kind {
	case "json_object":
	case "json_schema":
		if inner := rawjson.Get(v, "json_schema"); rawjson.IsObject(inner) { // chat
			d.Rest(v, at, "type", "json_schema")
			v, at = inner, at+"/json_schema"
		}
		for c := rawjson.Walk(v); c.Object && c.Next(); {
			switch name := string(c.Key()); name {
			case "type":
			case "schema":
				f.Schema = c.Value()
			case "name", "description", "strict":
				if rawjson.Present(c.Value()) {
					f.Rest = append(f.Rest, formatMember{name, at + "/" + name, c.Value()})
				}
			default:
				d.Member(at, name, c.Value())
			}
		}
	case "text", "": // any answer will do
		return
	default:
		d.DropSetting(at, v)
		return
	}
	d.Format = f
}

// SetInside sets a member of an object that is a member.
func SetInside(out *rawjson.Object, object, name string, v []byte) {
	var f rawjson.Object
	f.Overlay(out.Get(object))
	f.Set(name, v)
	out.Set(object, f.Bytes())
}
