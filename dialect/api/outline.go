package api

import (
	"github.com/retake-debugger/retake/rawjson"
)

// An Outline is a request body that was read once: the members of its object
// and the elements of its large arrays (API.Arrays).
type Outline struct {
	body    []byte
	Members []member
}

type member struct {
	name, value []byte
	List        []element // of a large array; a text in its place is its own only element
	read        bool      // into items
}

// element is a value by its place in the body.
type element struct {
	Start, End int
	Memo       *Memo  // what is remembered of it; nil if nothing is
	hash       uint64 // of its bytes, if there is a memory
	items      int    // how many it most likely holds
}

// indexer reads a body into its outline.
type indexer struct{ rawjson.Reader }

// OutlineOf reads the JSON object that body begins with as strictly as valid
// does, and gives the place behind it. What m remembers is not read but
// compared. It is not ok if body begins with no whole object.
func OutlineOf(a *API, body []byte, m *Memory) (o Outline, end int, ok bool) {
	var c indexer
	c.Init(body)
	if c.At >= len(body) || body[c.At] != '{' {
		return Outline{}, 0, false
	}
	o.body = body
	if c.At = rawjson.SkipSpace(body, c.At+1); c.At < len(body) && body[c.At] == '}' {
		return o, c.At + 1, true
	}
	for {
		v, ok := c.member(a, m)
		if !ok {
			return Outline{}, 0, false
		}
		o.Members = append(o.Members, v)
		if more, ok := c.Separator('}'); !more {
			return o, c.At, ok
		}
	}
}

func (c *indexer) member(a *API, m *Memory) (v member, ok bool) {
	if v.name, ok = c.Name(); !ok {
		return v, false
	}
	start := c.At
	switch large := a.repeats(v.name) && start < len(c.Text); {
	case large && c.Text[start] == '"':
		ok = c.text(&v, m.trail(Series{a.Name, string(v.name), true}))
	case large && c.Text[start] == '[':
		ok = c.elements(&v, m.trail(Series{a.Name, string(v.name), false}))
	default:
		ok = c.ReadValue()
	}
	v.value = c.Text[start:c.At:c.At]
	return v, ok
}

func (c *indexer) elements(v *member, t *trail) bool {
	if c.At = rawjson.SkipSpace(c.Text, c.At+1); c.At < len(c.Text) && c.Text[c.At] == ']' {
		c.At++
		return true
	}
	v.List = make([]element, 0, t.length())
	for {
		if more, ok := c.passOver(v, t); !more {
			return ok
		}
		if !c.element(v, t) {
			return false
		}
		if more, ok := c.Separator(']'); !more {
			return ok
		}
	}
}

// text reads a text that stands in the place of a list, or passes over it.
func (c *indexer) text(v *member, t *trail) bool {
	e := element{Start: c.At, items: 1}
	if n := t.expectOne(c.Text[c.At:], &e); n > 0 {
		c.At += n
		e.End = c.At
		v.List = append(v.List, e)
		return true
	}
	return c.element(v, t)
}

// passOver passes over the elements whose bytes are remembered. more says that
// another one comes behind them.
func (c *indexer) passOver(v *member, t *trail) (more, ok bool) {
	if t == nil {
		return true, true
	}
	t.memory.mu.Lock()
	defer t.memory.mu.Unlock()
	for {
		e := element{Start: c.At, items: 1}
		n := t.expect(c.Text[c.At:], &e)
		if n == 0 {
			return true, true
		}
		c.At += n
		e.End = c.At
		v.List = append(v.List, e)
		if more, ok := c.Separator(']'); !more {
			return false, ok
		}
	}
}

// element reads one value.
func (c *indexer) element(v *member, t *trail) bool {
	e := element{Start: c.At, items: 1}
	if !c.ReadValue() {
		return false
	}
	t.find(c.Text[e.Start:c.At], &e)
	e.End = c.At
	v.List = append(v.List, e)
	return true
}

// find gives the last member of that name, nil if there is none.
func (o *Outline) find(name string) *member {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if string(o.Members[i].name) == name {
			return &o.Members[i]
		}
	}
	return nil
}

// Value gives the value of a member, nil if there is none.
func (o *Outline) Value(name string) []byte {
	if m := o.find(name); m != nil {
		return m.value
	}
	return nil
}

// cuts gives what Split gives for the body, and a mark for each piece.
func (o *Outline) cuts() (ends []int, marks []Mark) {
	pieces := 1
	for i := range o.Members {
		if n := len(o.Members[i].List); n > 0 {
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
	for i := range o.Members {
		if list := o.Members[i].List; rawjson.IsArray(o.Members[i].value) && !cutList(list, cut) {
			break
		}
	}
	cut(len(o.body), Mark{})
	return ends, marks
}

func cutList(list []element, cut func(int, Mark) bool) bool {
	for i, e := range list {
		if i == 0 && !cut(e.Start, Mark{}) {
			return false
		}
		m := Mark{e.Memo}
		if i > 0 && e.Start-list[i-1].End > 1 { // more than a comma before it
			m = Mark{}
		}
		if !cut(e.End, m) {
			return false
		}
	}
	return true
}
