package messages

import (
	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/rawjson"
	"maps"
	"slices"
)

// stream puts the events of a Messages stream together.
//
// Usage of message_delta lies over that of message_start and is never added
// to it: its counts are cumulative. A second message_start begins the answer
// again (a gateway that retried and spliced the streams together).
type stream struct {
	*api.Reader
	message rawjson.Object
	usage   rawjson.Object
	blocks  map[int64]*block
	begun   bool
	stopped bool
}

type block struct {
	start     []byte // content_block of its content_block_start
	text      rawjson.Fragments
	thinking  rawjson.Fragments
	signature []byte
	partial   rawjson.Fragments // of the input's JSON
	citations [][]byte
	other     rawjson.Object // what other deltas set
}

func (s *stream) Event(name string, data []byte) (content bool) {
	if data[0] == '[' { // gateways end their streams with [DONE]
		return false
	}
	kind := rawjson.String(rawjson.Get(data, "type"))
	if kind == "" {
		kind = name
	}
	switch kind {
	case "message_start":
		return s.start(rawjson.Get(data, "message"))
	case "content_block_start":
		b := s.block(rawjson.Get(data, "index"))
		*b = block{start: rawjson.Get(data, "content_block")}
		b.text.Add(rawjson.Get(b.start, "text"))
		b.thinking.Add(rawjson.Get(b.start, "thinking"))
		return b.text.Len() > 0 || b.thinking.Len() > 0 || !isTextual(b.start)
	case "content_block_delta":
		b := s.block(rawjson.Get(data, "index"))
		return b.delta(s.Reader, rawjson.Get(data, "delta"))
	case "message_delta":
		s.message.Overlay(rawjson.Get(data, "delta"))
		s.usage.Overlay(rawjson.Get(data, "usage"))
		if v := rawjson.Get(data, "context_management"); rawjson.Present(v) {
			s.message.Set("context_management", v)
		}
	case "message_stop":
		s.stopped = true
		// Bedrock adds amazon-bedrock-invocationMetrics here; nobody's usage.
	case "error":
		if e := api.ErrorOf(data, true); e != nil {
			s.Fail(e)
		}
	case "content_block_stop", "ping":
	default:
		if e := api.ErrorOf(data, false); e != nil {
			s.Fail(e)
			return false
		}
		s.Warn("unknown event %q", api.Start([]byte(kind), 100))
	}
	return false
}

// isTextual tells whether a block's content comes in deltas of text.
func isTextual(start []byte) bool {
	switch rawjson.String(rawjson.Get(start, "type")) {
	case "text", "thinking", "":
		return true
	}
	return false
}

func (s *stream) start(message []byte) (content bool) {
	if s.begun {
		s.Warn("message_start came again: what came before it does not count")
	}
	s.begun, s.stopped = true, false
	s.message, s.usage, s.blocks = rawjson.Object{}, rawjson.Object{}, nil
	s.message.Overlay(message)
	s.usage.Overlay(rawjson.Get(message, "usage"))
	// Programmatic tool calls continue in a stream whose message_start holds
	// all content already (seen from Anthropic).
	n := int64(0)
	for e := rawjson.Walk(rawjson.Get(message, "content")); !e.Object && e.Next(); n++ {
		b := s.at(n)
		b.start = e.Value()
		b.text.Add(rawjson.Get(b.start, "text"))
		b.thinking.Add(rawjson.Get(b.start, "thinking"))
	}
	return n > 0
}

func (s *stream) block(index []byte) *block { return s.at(rawjson.Count(index)) }

func (s *stream) at(index int64) *block {
	b := s.blocks[index]
	if b == nil {
		if s.blocks == nil {
			s.blocks = map[int64]*block{}
		}
		b = &block{}
		s.blocks[index] = b
	}
	return b
}

func (b *block) delta(r *api.Reader, v []byte) (content bool) {
	switch kind := rawjson.String(rawjson.Get(v, "type")); kind {
	case "text_delta":
		b.expect(`{"type":"text"}`)
		b.text.Add(rawjson.Get(v, "text"))
		return !rawjson.IsEmpty(rawjson.Get(v, "text"))
	case "thinking_delta":
		b.expect(`{"type":"thinking"}`)
		b.thinking.Add(rawjson.Get(v, "thinking"))
		return !rawjson.IsEmpty(rawjson.Get(v, "thinking"))
	case "signature_delta":
		b.expect(`{"type":"thinking"}`)
		b.signature = rawjson.Get(v, "signature")
	case "input_json_delta":
		b.expect(`{"type":"tool_use"}`)
		b.partial.Add(rawjson.Get(v, "partial_json"))
		return true
	case "citations_delta":
		if c := rawjson.Get(v, "citation"); c != nil {
			b.citations = append(b.citations, c)
		}
	default: // compaction_delta, what is still to come: its members are the block's
		for c := rawjson.Walk(v); c.Object && c.Next(); {
			if key := string(c.Key()); key != "type" && rawjson.Present(c.Value()) {
				b.other.Set(key, c.Value())
			}
		}
		if kind != "compaction_delta" {
			r.Warn("unknown delta %q", api.Start([]byte(kind), 100))
		}
		return true
	}
	return false
}

// expect gives a block a type if its start was not seen.
func (b *block) expect(start string) {
	if b.start == nil {
		b.start = []byte(start)
	}
}

func (b *block) json() []byte {
	var f rawjson.Object
	f.Overlay(b.start)
	if b.text.Seen {
		f.Set("text", b.text.Bytes())
	}
	if b.thinking.Seen {
		f.Set("thinking", b.thinking.Bytes())
	}
	if b.signature != nil {
		f.Set("signature", b.signature)
	}
	if len(b.citations) > 0 {
		f.Set("citations", rawjson.Array(append(rawjson.Elements(f.Get("citations")), b.citations...)))
	}
	if b.partial.Len() > 0 {
		f.Set("input", b.input())
	}
	f.Merge(&b.other)
	return f.Bytes()
}

// input gives the arguments of a call: the JSON that the fragments make, or,
// where they make none (cut by max_tokens), their text as a string.
func (b *block) input() []byte {
	text := b.partial.Bytes()
	if raw, whole, rest := rawjson.Mend([]byte(rawjson.Unquote(text))); whole && rest == 0 {
		return raw
	}
	return text
}

func (s *stream) Object() (object []byte, complete bool) {
	if !s.begun && len(s.blocks) == 0 && s.message.Len() == 0 {
		return nil, s.stopped
	}
	var content [][]byte
	for _, index := range slices.Sorted(maps.Keys(s.blocks)) {
		content = append(content, s.blocks[index].json())
	}
	s.message.Set("content", rawjson.Array(content))
	if s.usage.Len() > 0 {
		s.message.Set("usage", s.usage.Bytes())
	}
	return s.message.Bytes(), s.stopped
}
