package dialect

import (
	"bytes"
	"strconv"
)

// chatSlot is one tool call of a stream, put together from its fragments.
//
// A fragment belongs to the slot of its index. It opens a new slot where there
// is none, where it has no index but a name or an id of its own (Mistral,
// Gemini's compatible endpoint), and where the slot holds another id and the
// fragment brings its own id and name (Cerebras, Gemini bridges and old vLLM
// give every parallel call index 0). An empty id never replaces one (Alibaba),
// and a name that comes again is not a second half of it.
type chatSlot struct {
	index     int64
	id        []byte
	kind      []byte
	name      []byte
	arguments joined
	object    []byte // arguments that came as an object instead of text
	custom    bool   // a custom tool: free text under custom.input
	extra     fields // other members of the call (extra_content …)
	inner     fields // other members of its function
}

// slot finds or opens the slot of a fragment.
func (c *chatChoice) slot(v []byte) *chatSlot {
	id, name, index := get(v, "id"), get(v, "function", "name"), get(v, "index")
	if name == nil {
		name = get(v, "custom", "name")
	}
	var found *chatSlot
	if has(index) {
		found = c.latest[num(index)]
	} else if n := len(c.slots); n > 0 && isEmpty(id) && isEmpty(name) {
		found = c.slots[n-1]
	}
	if found != nil {
		other := !isEmpty(found.id) && !isEmpty(id) && !bytes.Equal(found.id, id)
		if !other || isEmpty(name) {
			return found
		}
		c.stream.turn.Collisions++
		c.stream.warn("choice %d: a second tool call claims index %d", c.index, found.index)
	}
	s := &chatSlot{index: num(index)}
	if !has(index) {
		s.index = c.nextIndex
	}
	if c.latest == nil {
		c.latest = map[int64]*chatSlot{}
	}
	c.latest[s.index], c.nextIndex = s, max(c.nextIndex, s.index+1)
	c.slots = append(c.slots, s)
	return s
}

func (s *chatSlot) add(v []byte) {
	for m := walk(v); m.object && m.next(); {
		switch v, key := m.value(), string(m.key()); key {
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
			if has(v) {
				s.extra.set(key, v)
			}
		}
	}
}

func (s *chatSlot) addFunction(v []byte) {
	for m := walk(v); m.object && m.next(); {
		switch v, key := m.value(), string(m.key()); key {
		case "name":
			keepFirst(&s.name, v)
		case "arguments", "input":
			if isString(v) {
				s.arguments.add(v)
			} else if has(v) {
				s.object = v
			}
		default:
			if has(v) {
				s.inner.set(key, v)
			}
		}
	}
}

func keepFirst(to *[]byte, v []byte) {
	if isEmpty(*to) && has(v) {
		*to = v
	}
}

func (s *chatSlot) functionJSON() []byte {
	var f fields
	if s.name != nil {
		f.set("name", s.name)
	}
	arguments := s.object
	if arguments == nil || len(s.arguments.buf) > 0 {
		if arguments = []byte(`""`); s.arguments.seen {
			arguments = s.arguments.json()
		}
	}
	if s.custom {
		f.set("input", arguments)
	} else {
		f.set("arguments", arguments)
	}
	f.merge(&s.inner)
	return f.json()
}

func (s *chatSlot) json() []byte {
	var f fields
	if s.id != nil {
		f.set("id", s.id)
	}
	kind, member := []byte(`"function"`), "function"
	if s.custom {
		kind, member = []byte(`"custom"`), "custom"
	}
	if s.kind != nil {
		kind = s.kind
	}
	f.set("type", kind)
	f.set(member, s.functionJSON())
	f.merge(&s.extra)
	return f.json()
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }
