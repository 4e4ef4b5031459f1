package dialect

import "bytes"

// maxDepth is how deep JSON may be nested; encoding/json draws the same line.
const maxDepth = 10000

// skip gives the index behind the JSON value that begins at b[i], or -1 if it
// does not end. It trusts its input: brackets are counted, not matched, and
// the text between them is not looked at.
func skip(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	case ',', ':', '}', ']', ' ', '\t', '\r', '\n':
		return -1
	}
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\t', '\r', '\n', ':', '"', '{', '[':
			return i
		}
		i++
	}
	return i
}

func skipString(b []byte, i int) int {
	start, j := i, i+1
	for near := min(len(b), j+16); j < near && b[j] != '\\'; j++ { // most are short
		if b[j] == '"' {
			return j + 1
		}
	}
	for {
		k := bytes.IndexByte(b[j:], '"')
		if k < 0 {
			return -1
		}
		k += j
		e := k - 1
		for e > start && b[e] == '\\' {
			e--
		}
		if (k-e)%2 == 1 {
			return k + 1
		}
		j = k + 1
	}
}

func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// A cursor walks over the members of an object or the elements of an array.
// start and end are the value's place in b, head the place of what leads to
// it: the key of a member, else the same as start.
type cursor struct {
	b                []byte
	i                int
	head, start, end int
	keyEnd           int
	object           bool
	bad              bool // the container broke off or is damaged
	closed           bool // its closing bracket was seen, at i-1
}

// walk gives a cursor over the container that begins at v[0]. Over anything
// else it is one without values.
func walk(v []byte) cursor {
	c := cursor{b: v, closed: true}
	if len(v) > 0 && (v[0] == '{' || v[0] == '[') {
		c.object, c.closed, c.i = v[0] == '{', false, 1
	}
	return c
}

// next moves on to the next value and tells whether there is one.
func (c *cursor) next() bool { return c.begin() && c.finish() }

// begin moves on to where the next value begins: of a member its key is known.
// finish must follow to go on behind it.
func (c *cursor) begin() bool {
	if c.closed || c.bad {
		return false
	}
	first := c.i == 1
	i := skipSpace(c.b, c.i)
	if i < len(c.b) && (c.b[i] == '}' || c.b[i] == ']') {
		c.closed, c.i, c.bad = true, i+1, c.b[i] == '}' != c.object
		return false
	}
	if !first {
		if i >= len(c.b) || c.b[i] != ',' {
			return c.fail()
		}
		i = skipSpace(c.b, i+1)
	}
	c.head = i
	if c.object {
		if i >= len(c.b) || c.b[i] != '"' {
			return c.fail()
		}
		if i = skipString(c.b, i); i < 0 {
			return c.fail()
		}
		c.keyEnd = i
		i = skipSpace(c.b, i)
		if i >= len(c.b) || c.b[i] != ':' {
			return c.fail()
		}
		i = skipSpace(c.b, i+1)
	}
	c.start = i
	return true
}

// finish finds the end of the value that begin came to.
func (c *cursor) finish() bool {
	end := skip(c.b, c.start)
	if end < 0 {
		return c.fail()
	}
	c.end, c.i = end, end
	return true
}

func (c *cursor) fail() bool {
	c.bad = true
	return false
}

// value is the bytes of the value the cursor is at.
func (c *cursor) value() []byte { return c.b[c.start:c.end:c.end] }

// key is the name of the member the cursor is at.
func (c *cursor) key() []byte { return nameOf(c.b[c.head:c.keyEnd]) }

// nameOf gives the name that a key says.
func nameOf(key []byte) []byte {
	if bytes.IndexByte(key, '\\') >= 0 {
		return []byte(unquote(key))
	}
	return key[1 : len(key)-1]
}

// get gives the member of an object under a path of names, nil if there is
// none. Of members with the same name the last counts, as in encoding/json.
func get(v []byte, path ...string) []byte {
	for _, name := range path {
		var found []byte
		c := walk(v)
		for c.object && c.next() {
			if string(c.key()) == name {
				found = c.value()
			}
		}
		if v = found; v == nil {
			return nil
		}
	}
	return v
}

// has tells whether a value is there and not null.
func has(v []byte) bool { return len(v) > 0 && v[0] != 'n' }

func isString(v []byte) bool { return len(v) > 1 && v[0] == '"' }
func isArray(v []byte) bool  { return len(v) > 1 && v[0] == '[' }
func isObject(v []byte) bool { return len(v) > 1 && v[0] == '{' }

// isEmpty tells whether a value says nothing: absent, null, "", [] or {}.
func isEmpty(v []byte) bool {
	if !has(v) {
		return true
	}
	switch v[0] {
	case '"':
		return len(v) == 2
	case '[', '{':
		return skipSpace(v, 1) == len(v)-1
	}
	return false
}
