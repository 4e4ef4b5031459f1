package chat

import (
	"cmp"
	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
	"slices"
)

// stream puts chat.completion.chunk objects together.
//
// Members of a chunk: id and model count from the first chunk where they are
// not empty (Azure and Snowflake begin with an empty one, Avian and Cerebras
// change the id on the way); of all others the last that is not null, usage
// included (Perplexity and Cerebras repeat it on every chunk, growing).
type stream struct {
	*api.Reader
	top     rawjson.Object
	choices []*choice
	done    bool
	failed  bool
	behind  bool // events came behind [DONE]
}

func (s *stream) Event(name string, data []byte) (content bool) {
	if data[0] == '[' && string(data) == "[DONE]" {
		s.done = true
		return false
	}
	if s.done && !s.behind {
		s.behind = true
		s.Warn("events came behind [DONE]")
	}
	wrong := name == "error"
	for c := rawjson.Walk(data); c.Object && c.Next(); {
		v, key := c.Value(), c.Key()
		switch string(key) {
		case "choices":
			n := int64(0)
			for e := rawjson.Walk(v); !e.Object && e.Next(); n++ {
				if s.choice(choiceIndex(e.Value(), n)).add(e.Value()) {
					content = true
				}
			}
		case "id", "model":
			if rawjson.IsEmpty(s.top.Get(string(key))) {
				s.top.SetKey(key, v)
			}
		case "object":
			wrong = wrong || string(v) == `"error"`
			if !s.top.Has("object") {
				s.top.Set("object", []byte(`"chat.completion"`))
			}
		case "obfuscation", "p": // OpenAI's and Bedrock's padding
		default:
			wrong = wrong || string(key) == "error" && rawjson.Present(v)
			if rawjson.Present(v) || !s.top.Has(string(key)) {
				s.top.SetKey(key, v)
			}
		}
	}
	// Groq fails with an event named error, OpenRouter with an error member
	// in a chunk that may hold choices and usage as well.
	if wrong {
		if e := api.ErrorOf(data, true); e != nil {
			s.Fail(e)
			s.failed = true
		}
	}
	return content
}

// maxChoices is what OpenAI allows for n.
const maxChoices = 128

// choice gives the choice of that index; one beyond the most there may be is
// read and thrown away.
func (s *stream) choice(index int64) *choice {
	for _, c := range s.choices {
		if c.index == index {
			return c
		}
	}
	c := &choice{stream: s, index: index}
	if len(s.choices) < maxChoices {
		s.choices = append(s.choices, c)
	}
	return c
}

func (s *stream) Object() (object []byte, complete bool) {
	if s.top.Len() == 0 && len(s.choices) == 0 {
		return nil, s.done
	}
	slices.SortStableFunc(s.choices, func(a, b *choice) int { return cmp.Compare(a.index, b.index) })
	var choices [][]byte
	finished := len(s.choices) > 0
	for _, c := range s.choices {
		choices = append(choices, c.json())
		finished = finished && !rawjson.IsEmpty(c.finish)
	}
	if len(choices) > 0 || s.top.Get("error") == nil {
		s.top.Set("choices", rawjson.Array(choices))
	}
	if finished && !s.done && !s.failed {
		s.Warn("the stream has no [DONE]")
	}
	return s.top.Bytes(), s.done || finished && !s.failed
}

// choice is one choice of a stream.
type choice struct {
	stream    *stream
	index     int64
	finish    []byte // the last that is not empty
	message   []byte // a whole message, which some gateways send instead of deltas
	content   content
	strings   namedStrings   // members of the delta that add up
	delta     rawjson.Object // members that do not
	lists     namedLists     // members that are lists and grow
	details   details
	audio     rawjson.Object
	speech    namedStrings // data and transcript of audio
	slots     []*slot
	latest    map[int64]*slot // by index
	nextIndex int64
	function  *slot
	logprobs  namedLists
	other     rawjson.Object
}

func (c *choice) add(v []byte) (content bool) {
	for m := rawjson.Walk(v); m.Object && m.Next(); {
		v, key := m.Value(), m.Key()
		switch string(key) {
		case "index":
		case "delta":
			content = c.addDelta(v) || content
		case "message":
			if rawjson.IsObject(v) {
				c.message, content = v, true
			}
		case "finish_reason":
			if !rawjson.IsEmpty(v) || c.finish == nil {
				c.finish = v
			}
		case "logprobs":
			for l := rawjson.Walk(v); l.Object && l.Next(); {
				c.logprobs.add(string(l.Key()), l.Value())
			}
		default:
			if rawjson.Present(v) {
				c.other.SetKey(key, v)
			}
		}
	}
	return content
}

// addDelta adds one delta. What is text or reasoning adds up; lists grow; any
// other member (role, channel …) is what was said last.
func (c *choice) addDelta(v []byte) (content bool) {
	for m := rawjson.Walk(v); m.Object && m.Next(); {
		v, key := m.Value(), m.Key()
		if !rawjson.Present(v) {
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
			content = content || !rawjson.IsEmpty(v)
		case "reasoning_details":
			for e := rawjson.Walk(v); !e.Object && e.Next(); {
				c.details.add(e.Value())
				content = true
			}
		case "tool_calls":
			for e := rawjson.Walk(v); !e.Object && e.Next(); {
				c.slot(e.Value()).add(e.Value())
				content = true
			}
		case "function_call":
			if c.function == nil && blank(v) {
				continue
			}
			if c.function == nil {
				c.function = &slot{}
			}
			c.function.addFunction(v)
			content = true
		case "audio":
			c.addAudio(v)
			content = true
		default:
			if rawjson.IsArray(v) {
				c.lists.add(string(key), v)
			} else {
				c.delta.SetKey(key, v)
			}
		}
	}
	return content
}

// addAudio adds a fragment of spoken output. Its base64 data joins like text.
func (c *choice) addAudio(v []byte) {
	for m := rawjson.Walk(v); m.Object && m.Next(); {
		switch v, key := m.Value(), string(m.Key()); key {
		case "data", "transcript":
			c.speech.add(key, v)
		default:
			if rawjson.Present(v) {
				c.audio.Set(key, v)
			}
		}
	}
}

func (c *choice) json() []byte {
	var out rawjson.Object
	out.Set("index", appendInt(nil, c.index))
	message := c.messageJSON()
	if c.message != nil && !c.said() {
		message = c.message
	}
	out.Set("message", message)
	if len(c.logprobs.lists) > 0 {
		out.Set("logprobs", c.logprobs.json())
	}
	finish := c.finish
	if finish == nil {
		finish = []byte("null")
	}
	out.Set("finish_reason", finish)
	out.Merge(&c.other)
	return out.Bytes()
}

// said tells whether any delta carried content.
func (c *choice) said() bool {
	return len(c.content.parts) > 0 || c.content.text.Seen && c.content.text.Len() > 0 ||
		len(c.strings.all) > 0 || len(c.slots) > 0 || c.function != nil
}

func (c *choice) messageJSON() []byte {
	var m rawjson.Object
	m.Set("role", []byte(`"assistant"`))
	m.Set("content", c.content.json())
	for _, s := range c.strings.all {
		m.Set(s.name, s.text.Bytes())
	}
	m.Merge(&c.delta)
	if len(c.details.all) > 0 {
		m.Set("reasoning_details", c.details.json())
	}
	for _, l := range c.lists.lists {
		m.Set(l.name, rawjson.Array(l.elements))
	}
	if len(c.slots) > 0 {
		slices.SortStableFunc(c.slots, func(a, b *slot) int { return cmp.Compare(a.index, b.index) })
		var calls [][]byte
		for _, s := range c.slots {
			calls = append(calls, s.json())
		}
		m.Set("tool_calls", rawjson.Array(calls))
	}
	if c.function != nil {
		m.Set("function_call", c.function.functionJSON())
	}
	for _, s := range c.speech.all {
		c.audio.Set(s.name, s.text.Bytes())
	}
	if c.audio.Len() > 0 {
		m.Set("audio", c.audio.Bytes())
	}
	return m.Bytes()
}

// namedStrings are members that come in fragments, in order of appearance.
type namedStrings struct{ all []*namedString }

type namedString struct {
	name string
	text rawjson.Fragments
}

func (n *namedStrings) add(name string, v []byte) {
	for _, s := range n.all {
		if s.name == name {
			s.text.Add(v)
			return
		}
	}
	s := &namedString{name: name}
	s.text.Add(v)
	if s.text.Seen {
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
	l.elements = append(l.elements, rawjson.Elements(v)...)
}

func (n *namedLists) json() []byte {
	var out rawjson.Object
	for _, l := range n.lists {
		if l.elements == nil {
			out.Set(l.name, []byte("null"))
		} else {
			out.Set(l.name, rawjson.Array(l.elements))
		}
	}
	return out.Bytes()
}
