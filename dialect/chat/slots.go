package chat

import (
	"bytes"
	"github.com/retake-debugger/retake/rawjson"
	"strconv"
)

// slot is one tool call of a stream, put together from its fragments.
//
// A fragment belongs to the slot of its index. It opens a new slot where there
// is none, where it has no index but a name or an id of its own (Mistral,
// Gemini's compatible endpoint), and where the slot holds another id and the
// fragment brings its own id and name (Cerebras, Gemini bridges and old vLLM
// give every parallel call index 0). An empty id never replaces one (Alibaba),
// and a name that comes again is not a second half of it.
type slot struct {
	index     int64
	id        []byte
	kind      []byte
	name      []byte
	arguments rawjson.Fragments
	object    []byte         // arguments that came as an object instead of text
	custom    bool           // a custom tool: free text under custom.input
	extra     rawjson.Object // other members of the call (extra_content …)
	inner     rawjson.Object // other members of its function
}

// slot finds or opens the slot of a fragment.
func (c *choice) slot(v []byte) *slot {
	id, name, index := rawjson.Get(v, "id"), rawjson.Get(v, "function", "name"), rawjson.Get(v, "index")
	if name == nil {
		name = rawjson.Get(v, "custom", "name")
	}
	var found *slot
	if rawjson.Present(index) {
		found = c.latest[rawjson.Count(index)]
	} else if n := len(c.slots); n > 0 && rawjson.IsEmpty(id) && rawjson.IsEmpty(name) {
		found = c.slots[n-1]
	}
	if found != nil {
		other := !rawjson.IsEmpty(found.id) && !rawjson.IsEmpty(id) && !bytes.Equal(found.id, id)
		if !other || rawjson.IsEmpty(name) {
			return found
		}
		c.stream.Turn.Collisions++
		c.stream.Warn("choice %d: a second tool call claims index %d", c.index, found.index)
	}
	s := &slot{index: rawjson.Count(index)}
	if !rawjson.Present(index) {
		s.index = c.nextIndex
	}
	if c.latest == nil {
		c.latest = map[int64]*slot{}
	}
	c.latest[s.index], c.nextIndex = s, max(c.nextIndex, s.index+1)
	c.slots = append(c.slots, s)
	return s
}

func (s *slot) add(v []byte) {
	for m := rawjson.Walk(v); m.Object && m.Next(); {
		switch v, key := m.Value(), string(m.Key()); key {
		case "index":
		case "id":
			keepFirst(&s.id, v)
		case "type":
			keepFirst(&s.kind, v)
		case "function":
			s.addFunction(v)
		case "custom":
			if !blank(v) {
				s.custom = true
				s.addFunction(v)
			}
		default:
			if rawjson.Present(v) {
				s.extra.Set(key, v)
			}
		}
	}
}

func (s *slot) addFunction(v []byte) {
	for m := rawjson.Walk(v); m.Object && m.Next(); {
		switch v, key := m.Value(), string(m.Key()); key {
		case "name":
			keepFirst(&s.name, v)
		case "arguments", "input":
			if rawjson.IsString(v) {
				s.arguments.Add(v)
			} else if rawjson.Present(v) {
				s.object = v
			}
		default:
			if rawjson.Present(v) {
				s.inner.Set(key, v)
			}
		}
	}
}

func keepFirst(to *[]byte, v []byte) {
	if rawjson.IsEmpty(*to) && rawjson.Present(v) {
		*to = v
	}
}

func (s *slot) functionJSON() []byte {
	var f rawjson.Object
	if s.name != nil {
		f.Set("name", s.name)
	}
	arguments := s.object
	if arguments == nil || s.arguments.Len() > 0 {
		if arguments = []byte(`""`); s.arguments.Seen {
			arguments = s.arguments.Bytes()
		}
	}
	if s.custom {
		f.Set("input", arguments)
	} else {
		f.Set("arguments", arguments)
	}
	f.Merge(&s.inner)
	return f.Bytes()
}

func (s *slot) json() []byte {
	var f rawjson.Object
	if s.id != nil {
		f.Set("id", s.id)
	}
	kind, member := []byte(`"function"`), "function"
	if s.custom {
		kind, member = []byte(`"custom"`), "custom"
	}
	if s.kind != nil {
		kind = s.kind
	}
	f.Set("type", kind)
	f.Set(member, s.functionJSON())
	f.Merge(&s.extra)
	return f.Bytes()
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }
