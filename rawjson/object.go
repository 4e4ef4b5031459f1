package rawjson

import "slices"

// Object is a JSON object under construction. Its members keep the order in which
// they were set.
type Object struct {
	names []string
	vals  [][]byte
	index map[string]int // of names, once there are many
}

const manyFields = 16

// Get returns the value of a member, nil if it was not set.
func (f *Object) Get(name string) []byte {
	if i := f.find(name); i >= 0 {
		return f.vals[i]
	}
	return nil
}

// Has reports whether a member of that name was set.
func (f *Object) Has(name string) bool { return f.find(name) >= 0 }

func (f *Object) find(name string) int {
	if f.index != nil {
		if i, ok := f.index[name]; ok {
			return i
		}
		return -1
	}
	return slices.Index(f.names, name)
}

// Set adds a member, or replaces the value of one that has the same name.
func (f *Object) Set(name string, v []byte) {
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

// SetKey is Set with a name as bytes.
func (f *Object) SetKey(name, v []byte) {
	if i := f.find(string(name)); i >= 0 {
		f.vals[i] = v
		return
	}
	f.Set(string(name), v)
}

// Overlay sets the members of a JSON object. A null does not replace a value.
func (f *Object) Overlay(object []byte) {
	for c := Walk(object); c.Object && c.Next(); {
		if Present(c.Value()) || f.find(string(c.Key())) < 0 {
			f.SetKey(c.Key(), c.Value())
		}
	}
}

// Merge sets the members of another Object.
func (f *Object) Merge(g *Object) {
	for i, name := range g.names {
		f.Set(name, g.vals[i])
	}
}

// Len returns the number of members.
func (f *Object) Len() int { return len(f.names) }

// Bytes returns the object as JSON.
func (f *Object) Bytes() []byte {
	n := 2
	for i := range f.names {
		n += len(f.names[i]) + len(f.vals[i]) + 4
	}
	out := append(make([]byte, 0, n), '{')
	for i, name := range f.names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, Quote(name)...), ':'), f.vals[i]...)
	}
	return append(out, '}')
}

// Array returns the elements as a JSON array.
func Array(elements [][]byte) []byte {
	out := []byte{'['}
	for i, e := range elements {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, e...)
	}
	return append(out, ']')
}
