package dialect

import (
	"maps"
	"slices"
	"strings"
)

// responsesStream puts the events of a Responses stream together.
//
// The terminal event holds the whole response, and then that is the answer.
// Where its output is missing or empty, or the stream was cut, the output is
// made of the items seen: as their output_item.done says, else as their
// output_item.added says with the deltas since. Items are known by their
// output_index: GitHub Copilot gives every event new item ids.
type responsesStream struct {
	*reader
	base  []byte // the response object of the latest event that had one
	ended bool   // a terminal event was seen
	items map[int64]*responsesStreamItem
	ids   map[string]int64 // item id to output index, for events without one
	last  int64
}

type responsesStreamItem struct {
	added []byte
	done  []byte
	// what deltas say, by part and member
	content   responsesParts
	summary   responsesParts
	arguments joined // of calls: arguments, input, code
	member    string // which of these
}

func (s *responsesStream) event(name string, data []byte) (content bool) {
	if data[0] == '[' { // OpenRouter ends its streams with [DONE]
		return false
	}
	kind := str(get(data, "type"))
	if kind == "" {
		kind = name
	}
	if response := get(data, "response"); isObject(response) {
		s.base = response
		switch kind {
		case "response.completed", "response.incomplete", "response.failed", "response.done", "response.cancelled":
			s.ended = true
			if e := get(response, "error"); isObject(e) {
				s.fail(errorObject(e))
			}
			return len(s.items) == 0 && !isEmpty(get(response, "output"))
		}
		return false
	}
	switch {
	case kind == "response.output_item.added":
		it := s.item(data)
		it.added = get(data, "item")
		t := str(get(it.added, "type"))
		return t != "message" && t != "reasoning"
	case kind == "response.output_item.done":
		s.item(data).done = get(data, "item")
		return true
	case strings.HasPrefix(kind, "response."):
		return s.delta(kind, data)
	case kind == "error" || errorOf(data, false) != nil:
		if e := errorOf(data, true); e != nil {
			s.fail(e)
		}
	default:
		s.warn("unknown event %q", start([]byte(kind), 100))
	}
	return false
}

// item finds the item that an event speaks of.
func (s *responsesStream) item(data []byte) *responsesStreamItem {
	id := str(get(data, "item_id"))
	if id == "" {
		id = str(get(data, "item", "id"))
	}
	index := s.last
	if v := get(data, "output_index"); has(v) {
		index = num(v)
	} else if id != "" {
		known, ok := s.ids[id]
		if index = known; !ok {
			index = s.last + int64(min(1, len(s.items)))
		}
	}
	if s.items == nil {
		s.items, s.ids = map[int64]*responsesStreamItem{}, map[string]int64{}
	}
	if id != "" {
		s.ids[id] = index
	}
	s.last = index
	it := s.items[index]
	if it == nil {
		it = &responsesStreamItem{}
		s.items[index] = it
	}
	return it
}

// delta takes what is said of a part of an item. Events that only report
// progress (in_progress, searching …) change nothing. The real name of the
// tool call event is response.function_call_arguments.delta.
func (s *responsesStream) delta(kind string, data []byte) (content bool) {
	text := get(data, "delta")
	switch kind {
	case "response.content_part.added", "response.content_part.done":
		s.item(data).content.set(get(data, "content_index"), get(data, "part"))
	case "response.reasoning_summary_part.added", "response.reasoning_summary_part.done":
		s.item(data).summary.set(get(data, "summary_index"), get(data, "part"))
	case "response.output_text.delta":
		s.item(data).content.add(get(data, "content_index"), "output_text", "text", text)
	case "response.refusal.delta":
		s.item(data).content.add(get(data, "content_index"), "refusal", "refusal", text)
	case "response.reasoning_text.delta":
		s.item(data).content.add(get(data, "content_index"), "reasoning_text", "text", text)
	case "response.reasoning_summary_text.delta":
		s.item(data).summary.add(get(data, "summary_index"), "summary_text", "text", text)
	case "response.function_call_arguments.delta", "response.mcp_call_arguments.delta":
		s.item(data).addArguments("arguments", text)
	case "response.custom_tool_call_input.delta":
		s.item(data).addArguments("input", text)
	case "response.code_interpreter_call_code.delta":
		s.item(data).addArguments("code", text)
	}
	return strings.HasSuffix(kind, ".delta") && !isEmpty(text)
}

func (it *responsesStreamItem) addArguments(member string, v []byte) {
	it.member = member
	it.arguments.add(v)
}

// responsesParts are the parts of an item, in the order of their indexes.
type responsesParts map[int64]*responsesPart

type responsesPart struct {
	whole []byte // as content_part.added or .done has it
	text  joined
	kind  string // of what the deltas add
	name  string
}

func (p *responsesParts) at(index []byte) *responsesPart {
	if *p == nil {
		*p = responsesParts{}
	}
	part := (*p)[num(index)]
	if part == nil {
		part = &responsesPart{}
		(*p)[num(index)] = part
	}
	return part
}

func (p *responsesParts) set(index, part []byte) {
	if isObject(part) {
		p.at(index).whole = part
	}
}

func (p *responsesParts) add(index []byte, kind, name string, text []byte) {
	part := p.at(index)
	part.kind, part.name = kind, name
	part.text.add(text)
}

func (p responsesParts) json() []byte {
	var out [][]byte
	for _, i := range slices.Sorted(maps.Keys(p)) {
		var f fields
		part := p[i]
		if f.overlay(part.whole); part.whole == nil {
			f.set("type", quote(part.kind))
		}
		if part.text.seen {
			f.set(part.name, part.text.json())
		}
		out = append(out, f.json())
	}
	return list(out)
}

// json gives the item as far as it is known; nil if nothing of it came.
func (it *responsesStreamItem) json() []byte {
	if isObject(it.done) {
		return it.done
	}
	var f fields
	f.overlay(it.added)
	if len(f.names) == 0 {
		kind := "message"
		switch {
		case it.arguments.seen:
			kind = map[string]string{"arguments": "function_call", "input": "custom_tool_call", "code": "code_interpreter_call"}[it.member]
		case it.summary != nil, it.content.hold("reasoning_text"):
			kind = "reasoning"
		case it.content == nil:
			return nil
		}
		f.set("type", quote(kind))
		if kind == "message" {
			f.set("role", []byte(`"assistant"`))
		}
	}
	if it.content != nil {
		f.set("content", it.content.json())
	}
	if it.summary != nil {
		f.set("summary", it.summary.json())
	}
	if it.arguments.seen {
		f.set(it.member, it.arguments.json())
	}
	return f.json()
}

func (p responsesParts) hold(kind string) bool {
	for _, part := range p {
		if part.kind == kind {
			return true
		}
	}
	return false
}

func (s *responsesStream) object() (object []byte, complete bool) {
	if s.base == nil && len(s.items) == 0 {
		return nil, s.ended
	}
	if n := len(elements(get(s.base, "output"))); s.ended && n > 0 || len(s.items) == 0 {
		if s.ended && n < len(s.items) {
			s.warn("the end event holds %d of %d items", n, len(s.items))
		}
		return s.base, s.ended
	}
	var output [][]byte
	for _, index := range slices.Sorted(maps.Keys(s.items)) {
		if v := s.items[index].json(); v != nil {
			output = append(output, v)
		}
	}
	var f fields
	f.overlay(s.base)
	f.set("output", list(output))
	return f.json(), s.ended
}
