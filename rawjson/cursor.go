package rawjson

import (
	"bytes"
	"iter"
)

// A Cursor visits the members of an object or the elements of an array.
type Cursor struct {
	b          []byte
	At         int // index of the next byte; after the last value, of the one after the container
	head       int // where the current value begins, its key included
	Start, End int // of the current value
	keyEnd     int
	Object     bool // the container is an object
	Broken     bool // the container is cut off or damaged
	closed     bool // its closing bracket was read
}

// Walk returns a Cursor over the container that begins at v[0]. Over any other
// value it has nothing to visit.
func Walk(v []byte) Cursor {
	c := Cursor{b: v, closed: true}
	if len(v) > 0 && (v[0] == '{' || v[0] == '[') {
		c.Object, c.closed, c.At = v[0] == '{', false, 1
	}
	return c
}

// Next moves to the next value and reports whether there is one.
func (c *Cursor) Next() bool { return c.Begin() && c.Finish() }

// Begin moves to the start of the next value, when a member's key is known but its
// end is not. Call Finish before going on.
func (c *Cursor) Begin() bool {
	if c.closed || c.Broken {
		return false
	}
	first := c.At == 1
	i := SkipSpace(c.b, c.At)
	if i < len(c.b) && (c.b[i] == '}' || c.b[i] == ']') {
		c.closed, c.At, c.Broken = true, i+1, c.b[i] == '}' != c.Object
		return false
	}
	if !first {
		if i >= len(c.b) || c.b[i] != ',' {
			return c.fail()
		}
		i = SkipSpace(c.b, i+1)
	}
	c.head = i
	if c.Object {
		if i >= len(c.b) || c.b[i] != '"' {
			return c.fail()
		}
		if i = SkipString(c.b, i); i < 0 {
			return c.fail()
		}
		c.keyEnd = i
		i = SkipSpace(c.b, i)
		if i >= len(c.b) || c.b[i] != ':' {
			return c.fail()
		}
		i = SkipSpace(c.b, i+1)
	}
	c.Start = i
	return true
}

// Finish finds the end of the value that Begin moved to.
func (c *Cursor) Finish() bool {
	end := Skip(c.b, c.Start)
	if end < 0 {
		return c.fail()
	}
	c.End, c.At = end, end
	return true
}

func (c *Cursor) fail() bool {
	c.Broken = true
	return false
}

// Value returns the bytes of the current value.
func (c *Cursor) Value() []byte { return c.b[c.Start:c.End:c.End] }

// Key returns the name of the current member.
func (c *Cursor) Key() []byte { return KeyName(c.b[c.head:c.keyEnd]) }

// KeyName decodes a key, given with its quotes.
func KeyName(key []byte) []byte {
	if bytes.IndexByte(key, '\\') >= 0 {
		return []byte(Unquote(key))
	}
	return key[1 : len(key)-1]
}

// Get returns the member of an object under a path of names, nil if there is none.
// Of members with the same name the last counts, as in encoding/json.
func Get(v []byte, path ...string) []byte {
	for _, name := range path {
		var found []byte
		c := Walk(v)
		for c.Object && c.Next() {
			if string(c.Key()) == name {
				found = c.Value()
			}
		}
		if v = found; v == nil {
			return nil
		}
	}
	return v
}

// Elements returns the values of an array, nil for anything else.
func Elements(v []byte) [][]byte {
	var out [][]byte
	for c := Walk(v); !c.Object && c.Next(); {
		out = append(out, c.Value())
	}
	return out
}

// Members visits the members of an object.
func Members(v []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for c := Walk(v); c.Object && c.Next(); {
			if !yield(string(c.Key()), c.Value()) {
				return
			}
		}
	}
}

// Indexed visits the elements of an array.
func Indexed(v []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		n := 0
		for c := Walk(v); !c.Object && c.Next(); n++ {
			if !yield(n, c.Value()) {
				return
			}
		}
	}
}
