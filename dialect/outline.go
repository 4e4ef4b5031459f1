package dialect

import "github.com/retake-debugger/retake/transcript"

// An outline is a request body that was read once: the members of its object
// and the elements of its large arrays (isLarge).
type outline struct {
	body    []byte
	members []member
}

type member struct {
	name, value []byte
	list        []element // of a large array; a text in its place is its own only element
	read        bool      // into items
}

// element is a value by its place in the body.
type element struct {
	start, end int
	memo       *memo  // what is remembered of it; nil if nothing is
	hash       uint64 // of its bytes, if there is a memory
	items      int    // how many it most likely holds
}

// outlineOf reads the JSON object that body begins with as strictly as valid
// does, and gives the place behind it. What m remembers is not read but
// compared. It is not ok if body begins with no whole object.
func outlineOf(d transcript.Dialect, body []byte, m *Memory) (o outline, end int, ok bool) {
	c := check{b: body, cut: -1, i: skipSpace(body, 0)}
	c.stack = c.room[:0]
	if c.i >= len(body) || body[c.i] != '{' {
		return outline{}, 0, false
	}
	o.body = body
	if c.i = skipSpace(body, c.i+1); c.i < len(body) && body[c.i] == '}' {
		return o, c.i + 1, true
	}
	for {
		v, ok := c.member(d, m)
		if !ok {
			return outline{}, 0, false
		}
		o.members = append(o.members, v)
		if more, ok := c.separator('}'); !more {
			return o, c.i, ok
		}
	}
}

func (c *check) member(d transcript.Dialect, m *Memory) (v member, ok bool) {
	key := c.i
	if !c.name() {
		return v, false
	}
	v.name = nameOf(c.b[key:c.named])
	start := c.i
	switch large := isLarge(v.name) && start < len(c.b); {
	case large && c.b[start] == '"':
		ok = c.text(&v, m.trail(series{d, string(v.name), true}))
	case large && c.b[start] == '[':
		ok = c.elements(&v, m.trail(series{d, string(v.name), false}))
	default:
		ok = c.inner(1)
	}
	v.value = c.b[start:c.i:c.i]
	return v, ok
}

// inner reads a value that lies in so many containers.
func (c *check) inner(under int) bool {
	c.under, c.stack = under, c.stack[:0]
	return c.value()
}

func (c *check) elements(v *member, t *trail) bool {
	if c.i = skipSpace(c.b, c.i+1); c.i < len(c.b) && c.b[c.i] == ']' {
		c.i++
		return true
	}
	v.list = make([]element, 0, t.length())
	for {
		if more, ok := c.passOver(v, t); !more {
			return ok
		}
		if !c.element(v, t) {
			return false
		}
		if more, ok := c.separator(']'); !more {
			return ok
		}
	}
}

// text reads a text that stands in the place of a list, or passes over it.
func (c *check) text(v *member, t *trail) bool {
	e := element{start: c.i, items: 1}
	if n := t.expectOne(c.b[c.i:], &e); n > 0 {
		c.i += n
		e.end = c.i
		v.list = append(v.list, e)
		return true
	}
	return c.element(v, t)
}

// passOver passes over the elements whose bytes are remembered. more says that
// another one comes behind them.
func (c *check) passOver(v *member, t *trail) (more, ok bool) {
	if t == nil {
		return true, true
	}
	t.memory.mu.Lock()
	defer t.memory.mu.Unlock()
	for {
		e := element{start: c.i, items: 1}
		n := t.expect(c.b[c.i:], &e)
		if n == 0 {
			return true, true
		}
		c.i += n
		e.end = c.i
		v.list = append(v.list, e)
		if more, ok := c.separator(']'); !more {
			return false, ok
		}
	}
}

// element reads one value.
func (c *check) element(v *member, t *trail) bool {
	e := element{start: c.i, items: 1}
	if !c.inner(2) {
		return false
	}
	t.find(c.b[e.start:c.i], &e)
	e.end = c.i
	v.list = append(v.list, e)
	return true
}

// separator reads what follows a value in a container: more follows, or it
// ends with that bracket.
func (c *check) separator(closing byte) (more, ok bool) {
	if c.i = skipSpace(c.b, c.i); c.i >= len(c.b) {
		return false, false
	}
	switch c.b[c.i] {
	case ',':
		c.i = skipSpace(c.b, c.i+1)
		return true, true
	case closing:
		c.i++
		return false, true
	}
	return false, false
}

// find gives the last member of that name, nil if there is none.
func (o *outline) find(name string) *member {
	for i := len(o.members) - 1; i >= 0; i-- {
		if string(o.members[i].name) == name {
			return &o.members[i]
		}
	}
	return nil
}

// value gives the value of a member, nil if there is none.
func (o *outline) value(name string) []byte {
	if m := o.find(name); m != nil {
		return m.value
	}
	return nil
}

// cuts gives what Split gives for the body, and a mark for each piece.
func (o *outline) cuts() (ends []int, marks []Mark) {
	pieces := 1
	for i := range o.members {
		if n := len(o.members[i].list); n > 0 {
			pieces += n + 1
		}
	}
	pieces = min(pieces, maxSegments)
	ends, marks = make([]int, 0, pieces), make([]Mark, 0, pieces)
	cut := func(at int, m Mark) bool {
		if len(ends) == 0 || at > ends[len(ends)-1] {
			ends, marks = append(ends, at), append(marks, m)
		}
		return len(ends) < maxSegments
	}
	for i := range o.members {
		if list := o.members[i].list; isArray(o.members[i].value) && !cutList(list, cut) {
			break
		}
	}
	cut(len(o.body), Mark{})
	return ends, marks
}

func cutList(list []element, cut func(int, Mark) bool) bool {
	for i, e := range list {
		if i == 0 && !cut(e.start, Mark{}) {
			return false
		}
		m := Mark{e.memo}
		if i > 0 && e.start-list[i-1].end > 1 { // more than a comma before it
			m = Mark{}
		}
		if !cut(e.end, m) {
			return false
		}
	}
	return true
}
