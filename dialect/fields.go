package dialect

import "slices"

// fields is a JSON object being built: its members in the order they came.
type fields struct {
	names []string
	vals  [][]byte
	index map[string]int // of names, once there are many
}

const manyFields = 16

func (f *fields) find(name string) int {
	if f.index != nil {
		if i, ok := f.index[name]; ok {
			return i
		}
		return -1
	}
	return slices.Index(f.names, name)
}

func (f *fields) get(name string) []byte {
	if i := f.find(name); i >= 0 {
		return f.vals[i]
	}
	return nil
}

// set puts a member in, in the place of an older one of that name.
func (f *fields) set(name string, v []byte) {
	if i := f.find(name); i >= 0 {
		f.vals[i] = v
		return
	}
	f.names, f.vals = append(f.names, name), append(f.vals, v)
	if f.index != nil {
		f.index[name] = len(f.names) - 1
	} else if len(f.names) > manyFields {
		f.index = make(map[string]int, 2*manyFields)
		for i, n := range f.names {
			f.index[n] = i
		}
	}
}

// setKey does what set does for the key of a cursor.
func (f *fields) setKey(name, v []byte) {
	if i := f.find(string(name)); i >= 0 {
		f.vals[i] = v
		return
	}
	f.set(string(name), v)
}

// overlay sets every member of an object that is not null.
func (f *fields) overlay(object []byte) {
	for c := walk(object); c.object && c.next(); {
		if has(c.value()) || f.find(string(c.key())) < 0 {
			f.setKey(c.key(), c.value())
		}
	}
}

// merge sets every member of another object under construction.
func (f *fields) merge(g *fields) {
	for i, name := range g.names {
		f.set(name, g.vals[i])
	}
}

// json writes the object.
func (f *fields) json() []byte {
	n := 2
	for i := range f.names {
		n += len(f.names[i]) + len(f.vals[i]) + 4
	}
	out := append(make([]byte, 0, n), '{')
	for i, name := range f.names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, quote(name)...), ':'), f.vals[i]...)
	}
	return append(out, '}')
}

// list writes an array.
func list(elements [][]byte) []byte {
	out := []byte{'['}
	for i, e := range elements {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, e...)
	}
	return append(out, ']')
}

// joined is a JSON string that comes in fragments. The fragments are joined in
// their escaped form, so what was escaped stays so, and a surrogate pair that
// the vendor cut in two is whole again.
type joined struct {
	buf  []byte
	seen bool
}

func (j *joined) add(v []byte) {
	if isString(v) {
		j.seen = true
		j.buf = append(j.buf, v[1:len(v)-1]...)
	}
}

// json gives the string, null if no fragment came.
func (j *joined) json() []byte {
	if !j.seen {
		return []byte("null")
	}
	out := make([]byte, 0, len(j.buf)+2)
	return append(append(append(out, '"'), j.buf...), '"')
}

// elements gives the values of an array.
func elements(v []byte) [][]byte {
	var out [][]byte
	for c := walk(v); !c.object && c.next(); {
		out = append(out, c.value())
	}
	return out
}
