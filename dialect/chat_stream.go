package dialect

import (
	"cmp"
	"slices"
)

// chatStream puts chat.completion.chunk objects together.
//
// Members of a chunk: id and model count from the first chunk where they are
// not empty (Azure and Snowflake begin with an empty one, Avian and Cerebras
// change the id on the way); of all others the last that is not null, usage
// included (Perplexity and Cerebras repeat it on every chunk, growing).
type chatStream struct {
	*reader
	top     fields
	choices []*chatChoice
	done    bool
	failed  bool
	behind  bool // events came behind [DONE]
}

func (s *chatStream) event(name string, data []byte) (content bool) {
	if data[0] == '[' && string(data) == "[DONE]" {
		s.done = true
		return false
	}
	if s.done && !s.behind {
		s.behind = true
		s.warn("events came behind [DONE]")
	}
	wrong := name == "error"
	for c := walk(data); c.object && c.next(); {
		v, key := c.value(), c.key()
		switch string(key) {
		case "choices":
			n := int64(0)
			for e := walk(v); !e.object && e.next(); n++ {
				if s.choice(choiceIndex(e.value(), n)).add(e.value()) {
					content = true
				}
			}
		case "id", "model":
			if isEmpty(s.top.get(string(key))) {
				s.top.setKey(key, v)
			}
		case "object":
			wrong = wrong || string(v) == `"error"`
			if s.top.find("object") < 0 {
				s.top.set("object", []byte(`"chat.completion"`))
			}
		case "obfuscation", "p": // OpenAI's and Bedrock's padding
		default:
			wrong = wrong || string(key) == "error" && has(v)
			if has(v) || s.top.find(string(key)) < 0 {
				s.top.setKey(key, v)
			}
		}
	}
	// Groq fails with an event named error, OpenRouter with an error member
	// in a chunk that may hold choices and usage as well.
	if wrong {
		if e := errorOf(data, true); e != nil {
			s.fail(e)
			s.failed = true
		}
	}
	return content
}

// maxChoices is what OpenAI allows for n.
const maxChoices = 128

// choice gives the choice of that index; one beyond the most there may be is
// read and thrown away.
func (s *chatStream) choice(index int64) *chatChoice {
	for _, c := range s.choices {
		if c.index == index {
			return c
		}
	}
	c := &chatChoice{stream: s, index: index}
	if len(s.choices) < maxChoices {
		s.choices = append(s.choices, c)
	}
	return c
}

func (s *chatStream) object() (object []byte, complete bool) {
	if len(s.top.names) == 0 && len(s.choices) == 0 {
		return nil, s.done
	}
	slices.SortStableFunc(s.choices, func(a, b *chatChoice) int { return cmp.Compare(a.index, b.index) })
	var choices [][]byte
	finished := len(s.choices) > 0
	for _, c := range s.choices {
		choices = append(choices, c.json())
		finished = finished && !isEmpty(c.finish)
	}
	if len(choices) > 0 || s.top.get("error") == nil {
		s.top.set("choices", list(choices))
	}
	if finished && !s.done && !s.failed {
		s.warn("the stream has no [DONE]")
	}
	return s.top.json(), s.done || finished && !s.failed
}

// chatChoice is one choice of a stream.
type chatChoice struct {
	stream    *chatStream
	index     int64
	finish    []byte // the last that is not empty
	message   []byte // a whole message, which some gateways send instead of deltas
	content   chatContent
	strings   namedStrings // members of the delta that add up
	delta     fields       // members that do not
	lists     namedLists   // members that are lists and grow
	details   chatDetails
	audio     fields
	speech    namedStrings // data and transcript of audio
	slots     []*chatSlot
	latest    map[int64]*chatSlot // by index
	nextIndex int64
	function  *chatSlot
	logprobs  namedLists
	other     fields
}

func (c *chatChoice) add(v []byte) (content bool) {
	for m := walk(v); m.object && m.next(); {
		v, key := m.value(), m.key()
		switch string(key) {
		case "index":
		case "delta":
			content = c.addDelta(v) || content
		case "message":
			if isObject(v) {
				c.message, content = v, true
			}
		case "finish_reason":
			if !isEmpty(v) || c.finish == nil {
				c.finish = v
			}
		case "logprobs":
			for l := walk(v); l.object && l.next(); {
				c.logprobs.add(string(l.key()), l.value())
			}
		default:
			if has(v) {
				c.other.setKey(key, v)
			}
		}
	}
	return content
}

// addDelta adds one delta. What is text or reasoning adds up; lists grow; any
// other member (role, channel …) is what was said last.
func (c *chatChoice) addDelta(v []byte) (content bool) {
	for m := walk(v); m.object && m.next(); {
		v, key := m.value(), m.key()
		if !has(v) {
			if string(key) == "content" {
				c.content.null = true
			}
			continue
		}
		switch string(key) {
		case "content":
			content = c.content.add(v) || content
		case "refusal", "reasoning_content", "reasoning", "thinking":
			c.strings.add(string(key), v)
			content = content || !isEmpty(v)
		case "reasoning_details":
			for e := walk(v); !e.object && e.next(); {
				c.details.add(e.value())
				content = true
			}
		case "tool_calls":
			for e := walk(v); !e.object && e.next(); {
				c.slot(e.value()).add(e.value())
				content = true
			}
		case "function_call":
			if c.function == nil && blank(v) {
				continue
			}
			if c.function == nil {
				c.function = &chatSlot{}
			}
			c.function.addFunction(v)
			content = true
		case "audio":
			c.addAudio(v)
			content = true
		default:
			if isArray(v) {
				c.lists.add(string(key), v)
			} else {
				c.delta.setKey(key, v)
			}
		}
	}
	return content
}

// addAudio adds a fragment of spoken output. Its base64 data joins like text.
func (c *chatChoice) addAudio(v []byte) {
	for m := walk(v); m.object && m.next(); {
		switch v, key := m.value(), string(m.key()); key {
		case "data", "transcript":
			c.speech.add(key, v)
		default:
			if has(v) {
				c.audio.set(key, v)
			}
		}
	}
}

func (c *chatChoice) json() []byte {
	var out fields
	out.set("index", appendInt(nil, c.index))
	message := c.messageJSON()
	if c.message != nil && !c.said() {
		message = c.message
	}
	out.set("message", message)
	if len(c.logprobs.lists) > 0 {
		out.set("logprobs", c.logprobs.json())
	}
	finish := c.finish
	if finish == nil {
		finish = []byte("null")
	}
	out.set("finish_reason", finish)
	out.merge(&c.other)
	return out.json()
}

// said tells whether any delta carried content.
func (c *chatChoice) said() bool {
	return len(c.content.parts) > 0 || c.content.text.seen && len(c.content.text.buf) > 0 ||
		len(c.strings.all) > 0 || len(c.slots) > 0 || c.function != nil
}

func (c *chatChoice) messageJSON() []byte {
	var m fields
	m.set("role", []byte(`"assistant"`))
	m.set("content", c.content.json())
	for _, s := range c.strings.all {
		m.set(s.name, s.text.json())
	}
	m.merge(&c.delta)
	if len(c.details.all) > 0 {
		m.set("reasoning_details", c.details.json())
	}
	for _, l := range c.lists.lists {
		m.set(l.name, list(l.elements))
	}
	if len(c.slots) > 0 {
		slices.SortStableFunc(c.slots, func(a, b *chatSlot) int { return cmp.Compare(a.index, b.index) })
		var calls [][]byte
		for _, s := range c.slots {
			calls = append(calls, s.json())
		}
		m.set("tool_calls", list(calls))
	}
	if c.function != nil {
		m.set("function_call", c.function.functionJSON())
	}
	for _, s := range c.speech.all {
		c.audio.set(s.name, s.text.json())
	}
	if len(c.audio.names) > 0 {
		m.set("audio", c.audio.json())
	}
	return m.json()
}

// namedStrings are members that come in fragments, in order of appearance.
type namedStrings struct{ all []*namedString }

type namedString struct {
	name string
	text joined
}

func (n *namedStrings) add(name string, v []byte) {
	for _, s := range n.all {
		if s.name == name {
			s.text.add(v)
			return
		}
	}
	s := &namedString{name: name}
	s.text.add(v)
	if s.text.seen {
		n.all = append(n.all, s)
	}
}

// namedLists are members whose elements come one after the other.
type namedLists struct{ lists []*namedList }

type namedList struct {
	name     string
	elements [][]byte
}

// maxLists bounds the members that one message may grow, against a hostile
// stream of ever new names.
const maxLists = 64

func (n *namedLists) add(name string, v []byte) {
	var l *namedList
	for _, have := range n.lists {
		if have.name == name {
			l = have
		}
	}
	if l == nil {
		if len(n.lists) == maxLists {
			return
		}
		l = &namedList{name: name}
		n.lists = append(n.lists, l)
	}
	l.elements = append(l.elements, elements(v)...)
}

func (n *namedLists) json() []byte {
	var out fields
	for _, l := range n.lists {
		if l.elements == nil {
			out.set(l.name, []byte("null"))
		} else {
			out.set(l.name, list(l.elements))
		}
	}
	return out.json()
}
