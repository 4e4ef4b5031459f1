package dialect

// chatContent is the content of a streamed message: text, or (Mistral) parts
// of type thinking and text, whose fragments join while the type is the same.
type chatContent struct {
	text  joined // while only strings came
	parts []chatPart
	null  bool
}

type chatPart struct {
	kind string // "text", "thinking", or "" for a part that came whole
	text joined
	raw  []byte
}

func (c *chatContent) add(v []byte) (content bool) {
	if isString(v) && len(c.parts) == 0 {
		c.text.add(v)
		return len(v) > 2
	}
	if isString(v) {
		if len(v) > 2 {
			c.addPart("text", v, nil)
		}
		return len(v) > 2
	}
	for e := walk(v); !e.object && e.next(); {
		if len(c.parts) == 0 && len(c.text.buf) > 0 {
			c.addPart("text", c.text.json(), nil)
		}
		p := e.value()
		content = true
		switch kind := str(get(p, "type")); kind {
		case "text":
			c.addPart("text", get(p, "text"), p)
		case "thinking":
			thoughts := get(p, "thinking")
			if isString(thoughts) {
				c.addPart("thinking", thoughts, p)
			}
			for t := walk(thoughts); !t.object && t.next(); {
				c.addPart("thinking", get(t.value(), "text"), p)
			}
		default:
			c.parts = append(c.parts, chatPart{raw: p})
		}
	}
	return content
}

func (c *chatContent) addPart(kind string, text, raw []byte) {
	if n := len(c.parts); n == 0 || c.parts[n-1].kind != kind {
		c.parts = append(c.parts, chatPart{kind: kind})
	}
	p := &c.parts[len(c.parts)-1]
	p.text.add(text)
	p.raw = raw
}

func (c *chatContent) json() []byte {
	if len(c.parts) == 0 {
		if len(c.text.buf) == 0 && c.null {
			return []byte("null")
		}
		return c.text.json()
	}
	var out [][]byte
	for i := range c.parts {
		p := &c.parts[i]
		switch p.kind {
		case "text":
			out = append(out, []byte(`{"type":"text","text":`+string(p.text.json())+`}`))
		case "thinking":
			out = append(out, []byte(`{"type":"thinking","thinking":[{"type":"text","text":`+string(p.text.json())+`}]}`))
		default:
			out = append(out, p.raw)
		}
	}
	return list(out)
}

// chatDetails are OpenRouter's reasoning_details: text and summaries come in
// fragments that share an index and a type, signatures and encrypted data in
// one of them.
type chatDetails struct{ all []*chatDetail }

type chatDetail struct {
	index, kind string
	members     fields
	text        namedStrings
}

func (d *chatDetails) add(v []byte) {
	index, kind := words(get(v, "index")), str(get(v, "type"))
	var e *chatDetail
	if n := len(d.all); n > 0 && d.all[n-1].index == index && d.all[n-1].kind == kind && kind != "reasoning.encrypted" {
		e = d.all[n-1]
	} else {
		e = &chatDetail{index: index, kind: kind}
		d.all = append(d.all, e)
	}
	for m := walk(v); m.object && m.next(); {
		switch v, key := m.value(), string(m.key()); {
		case (key == "text" || key == "summary") && isString(v):
			e.text.add(key, v)
			e.members.set(key, v)
		case has(v) || e.members.find(key) < 0:
			e.members.set(key, v)
		}
	}
}

func (d *chatDetails) json() []byte {
	var out [][]byte
	for _, e := range d.all {
		for _, s := range e.text.all {
			e.members.set(s.name, s.text.json())
		}
		out = append(out, e.members.json())
	}
	return list(out)
}
