package chat

import "github.com/retake-debugger/retake/rawjson"

// content is the content of a streamed message: text, or (Mistral) parts
// of type thinking and text, whose fragments join while the type is the same.
type content struct {
	text  rawjson.Fragments // while only strings came
	parts []part
	null  bool
}

type part struct {
	kind string // "text", "thinking", or "" for a part that came whole
	text rawjson.Fragments
	raw  []byte
}

func (c *content) add(v []byte) (content bool) {
	if rawjson.IsString(v) && len(c.parts) == 0 {
		c.text.Add(v)
		return len(v) > 2
	}
	if rawjson.IsString(v) {
		if len(v) > 2 {
			c.addPart("text", v, nil)
		}
		return len(v) > 2
	}
	for e := rawjson.Walk(v); !e.Object && e.Next(); {
		if len(c.parts) == 0 && c.text.Len() > 0 {
			c.addPart("text", c.text.Bytes(), nil)
		}
		p := e.Value()
		content = true
		switch kind := rawjson.String(rawjson.Get(p, "type")); kind {
		case "text":
			c.addPart("text", rawjson.Get(p, "text"), p)
		case "thinking":
			thoughts := rawjson.Get(p, "thinking")
			if rawjson.IsString(thoughts) {
				c.addPart("thinking", thoughts, p)
			}
			for t := rawjson.Walk(thoughts); !t.Object && t.Next(); {
				c.addPart("thinking", rawjson.Get(t.Value(), "text"), p)
			}
		default:
			c.parts = append(c.parts, part{raw: p})
		}
	}
	return content
}

func (c *content) addPart(kind string, text, raw []byte) {
	if n := len(c.parts); n == 0 || c.parts[n-1].kind != kind {
		c.parts = append(c.parts, part{kind: kind})
	}
	p := &c.parts[len(c.parts)-1]
	p.text.Add(text)
	p.raw = raw
}

func (c *content) json() []byte {
	if len(c.parts) == 0 {
		if c.text.Len() == 0 && c.null {
			return []byte("null")
		}
		return c.text.Bytes()
	}
	var out [][]byte
	for i := range c.parts {
		p := &c.parts[i]
		switch p.kind {
		case "text":
			out = append(out, []byte(`{"type":"text","text":`+string(p.text.Bytes())+`}`))
		case "thinking":
			out = append(out, []byte(`{"type":"thinking","thinking":[{"type":"text","text":`+string(p.text.Bytes())+`}]}`))
		default:
			out = append(out, p.raw)
		}
	}
	return rawjson.Array(out)
}

// details are OpenRouter's reasoning_details: text and summaries come in
// fragments that share an index and a type, signatures and encrypted data in
// one of them.
type details struct{ all []*detail }

type detail struct {
	index, kind string
	members     rawjson.Object
	text        namedStrings
}

func (d *details) add(v []byte) {
	index, kind := rawjson.Scalar(rawjson.Get(v, "index")), rawjson.String(rawjson.Get(v, "type"))
	var e *detail
	if n := len(d.all); n > 0 && d.all[n-1].index == index && d.all[n-1].kind == kind && kind != "reasoning.encrypted" {
		e = d.all[n-1]
	} else {
		e = &detail{index: index, kind: kind}
		d.all = append(d.all, e)
	}
	for m := rawjson.Walk(v); m.Object && m.Next(); {
		switch v, key := m.Value(), string(m.Key()); {
		case (key == "text" || key == "summary") && rawjson.IsString(v):
			e.text.add(key, v)
			e.members.Set(key, v)
		case rawjson.Present(v) || !e.members.Has(key):
			e.members.Set(key, v)
		}
	}
}

func (d *details) json() []byte {
	var out [][]byte
	for _, e := range d.all {
		for _, s := range e.text.all {
			e.members.Set(s.name, s.text.Bytes())
		}
		out = append(out, e.members.Bytes())
	}
	return rawjson.Array(out)
}
