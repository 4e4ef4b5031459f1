package responses

import (
	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
	"maps"
	"slices"
	"strings"
)

// stream puts the events of a Responses stream together.
//
// The terminal event holds the whole response, and then that is the answer.
// Where its output is missing or empty, or the stream was cut, the output is
// made of the items seen: as their output_item.done says, else as their
// output_item.added says with the deltas since. Items are known by their
// output_index: GitHub Copilot gives every event new item ids.
type stream struct {
	*api.Reader
	base  []byte // the response object of the latest event that had one
	ended bool   // a terminal event was seen
	items map[int64]*streamItem
	ids   map[string]int64 // item id to output index, for events without one
	last  int64
}

type streamItem struct {
	added []byte
	done  []byte
	// what deltas say, by part and member
	content   parts
	summary   parts
	arguments rawjson.Fragments // of calls: arguments, input, code
	member    string            // which of these
}

func (s *stream) Event(name string, data []byte) (content bool) {
	if data[0] == '[' { // OpenRouter ends its streams with [DONE]
		return false
	}
	kind := rawjson.String(rawjson.Get(data, "type"))
	if kind == "" {
		kind = name
	}
	if response := rawjson.Get(data, "response"); rawjson.IsObject(response) {
		s.base = response
		switch kind {
		case "response.completed", "response.incomplete", "response.failed", "response.done", "response.cancelled":
			s.ended = true
			if e := rawjson.Get(response, "error"); rawjson.IsObject(e) {
				s.Fail(api.ErrorObject(e))
			}
			return len(s.items) == 0 && !rawjson.IsEmpty(rawjson.Get(response, "output"))
		}
		return false
	}
	switch {
	case kind == "response.output_item.added":
		it := s.item(data)
		it.added = rawjson.Get(data, "item")
		t := rawjson.String(rawjson.Get(it.added, "type"))
		return t != "message" && t != "reasoning"
	case kind == "response.output_item.done":
		s.item(data).done = rawjson.Get(data, "item")
		return true
	case strings.HasPrefix(kind, "response."):
		return s.delta(kind, data)
	case kind == "error" || api.ErrorOf(data, false) != nil:
		if e := api.ErrorOf(data, true); e != nil {
			s.Fail(e)
		}
	default:
		s.Warn("unknown event %q", api.Start([]byte(kind), 100))
	}
	return false
}

// item finds the item that an event speaks of.
func (s *stream) item(data []byte) *streamItem {
	id := rawjson.String(rawjson.Get(data, "item_id"))
	if id == "" {
		id = rawjson.String(rawjson.Get(data, "item", "id"))
	}
	index := s.last
	if v := rawjson.Get(data, "output_index"); rawjson.Present(v) {
		index = rawjson.Count(v)
	} else if id != "" {
		known, ok := s.ids[id]
		if index = known; !ok {
			index = s.last + int64(min(1, len(s.items)))
		}
	}
	if s.items == nil {
		s.items, s.ids = map[int64]*streamItem{}, map[string]int64{}
	}
	if id != "" {
		s.ids[id] = index
	}
	s.last = index
	it := s.items[index]
	if it == nil {
		it = &streamItem{}
		s.items[index] = it
	}
	return it
}

// delta takes what is said of a part of an item. Events that only report
// progress (in_progress, searching …) change nothing. The real name of the
// tool call event is response.function_call_arguments.delta.
func (s *stream) delta(kind string, data []byte) (content bool) {
	text := rawjson.Get(data, "delta")
	switch kind {
	case "response.content_part.added", "response.content_part.done":
		s.item(data).content.set(rawjson.Get(data, "content_index"), rawjson.Get(data, "part"))
	case "response.reasoning_summary_part.added", "response.reasoning_summary_part.done":
		s.item(data).summary.set(rawjson.Get(data, "summary_index"), rawjson.Get(data, "part"))
	case "response.output_text.delta":
		s.item(data).content.add(rawjson.Get(data, "content_index"), "output_text", "text", text)
	case "response.refusal.delta":
		s.item(data).content.add(rawjson.Get(data, "content_index"), "refusal", "refusal", text)
	case "response.reasoning_text.delta":
		s.item(data).content.add(rawjson.Get(data, "content_index"), "reasoning_text", "text", text)
	case "response.reasoning_summary_text.delta":
		s.item(data).summary.add(rawjson.Get(data, "summary_index"), "summary_text", "text", text)
	case "response.function_call_arguments.delta", "response.mcp_call_arguments.delta":
		s.item(data).addArguments("arguments", text)
	case "response.custom_tool_call_input.delta":
		s.item(data).addArguments("input", text)
	case "response.code_interpreter_call_code.delta":
		s.item(data).addArguments("code", text)
	}
	return strings.HasSuffix(kind, ".delta") && !rawjson.IsEmpty(text)
}

func (it *streamItem) addArguments(member string, v []byte) {
	it.member = member
	it.arguments.Add(v)
}

// parts are the parts of an item, in the order of their indexes.
type parts map[int64]*streamPart

type streamPart struct {
	whole []byte // as content_part.added or .done has it
	text  rawjson.Fragments
	kind  string // of what the deltas add
	name  string
}

func (p *parts) at(index []byte) *streamPart {
	if *p == nil {
		*p = parts{}
	}
	part := (*p)[rawjson.Count(index)]
	if part == nil {
		part = &streamPart{}
		(*p)[rawjson.Count(index)] = part
	}
	return part
}

func (p *parts) set(index, part []byte) {
	if rawjson.IsObject(part) {
		p.at(index).whole = part
	}
}

func (p *parts) add(index []byte, kind, name string, text []byte) {
	part := p.at(index)
	part.kind, part.name = kind, name
	part.text.Add(text)
}

func (p parts) json() []byte {
	var out [][]byte
	for _, i := range slices.Sorted(maps.Keys(p)) {
		var f rawjson.Object
		part := p[i]
		if f.Overlay(part.whole); part.whole == nil {
			f.Set("type", rawjson.Quote(part.kind))
		}
		if part.text.Seen {
			f.Set(part.name, part.text.Bytes())
		}
		out = append(out, f.Bytes())
	}
	return rawjson.Array(out)
}

// json gives the item as far as it is known; nil if nothing of it came.
func (it *streamItem) json() []byte {
	if rawjson.IsObject(it.done) {
		return it.done
	}
	var f rawjson.Object
	f.Overlay(it.added)
	if f.Len() == 0 {
		kind := "message"
		switch {
		case it.arguments.Seen:
			kind = map[string]string{"arguments": "function_call", "input": "custom_tool_call", "code": "code_interpreter_call"}[it.member]
		case it.summary != nil, it.content.hold("reasoning_text"):
			kind = "reasoning"
		case it.content == nil:
			return nil
		}
		f.Set("type", rawjson.Quote(kind))
		if kind == "message" {
			f.Set("role", []byte(`"assistant"`))
		}
	}
	if it.content != nil {
		f.Set("content", it.content.json())
	}
	if it.summary != nil {
		f.Set("summary", it.summary.json())
	}
	if it.arguments.Seen {
		f.Set(it.member, it.arguments.Bytes())
	}
	return f.Bytes()
}

func (p parts) hold(kind string) bool {
	for _, part := range p {
		if part.kind == kind {
			return true
		}
	}
	return false
}

func (s *stream) Object() (object []byte, complete bool) {
	if s.base == nil && len(s.items) == 0 {
		return nil, s.ended
	}
	if n := len(rawjson.Elements(rawjson.Get(s.base, "output"))); s.ended && n > 0 || len(s.items) == 0 {
		if s.ended && n < len(s.items) {
			s.Warn("the end event holds %d of %d items", n, len(s.items))
		}
		return s.base, s.ended
	}
	var output [][]byte
	for _, index := range slices.Sorted(maps.Keys(s.items)) {
		if v := s.items[index].json(); v != nil {
			output = append(output, v)
		}
	}
	var f rawjson.Object
	f.Overlay(s.base)
	f.Set("output", rawjson.Array(output))
	return f.Bytes(), s.ended
}
