package dialect

import (
	"maps"
	"slices"
)

// messagesStream puts the events of a Messages stream together.
//
// Usage of message_delta lies over that of message_start and is never added
// to it: its counts are cumulative. A second message_start begins the answer
// again (a gateway that retried and spliced the streams together).
type messagesStream struct {
	*reader
	message fields
	usage   fields
	blocks  map[int64]*messagesBlock
	begun   bool
	stopped bool
}

type messagesBlock struct {
	start     []byte // content_block of its content_block_start
	text      joined
	thinking  joined
	signature []byte
	partial   joined // of the input's JSON
	citations [][]byte
	other     fields // what other deltas set
}

func (s *messagesStream) event(name string, data []byte) (content bool) {
	if data[0] == '[' { // gateways end their streams with [DONE]
		return false
	}
	kind := str(get(data, "type"))
	if kind == "" {
		kind = name
	}
	switch kind {
	case "message_start":
		return s.start(get(data, "message"))
	case "content_block_start":
		b := s.block(get(data, "index"))
		*b = messagesBlock{start: get(data, "content_block")}
		b.text.add(get(b.start, "text"))
		b.thinking.add(get(b.start, "thinking"))
		return len(b.text.buf) > 0 || len(b.thinking.buf) > 0 || !isTextual(b.start)
	case "content_block_delta":
		b := s.block(get(data, "index"))
		return b.delta(s.reader, get(data, "delta"))
	case "message_delta":
		s.message.overlay(get(data, "delta"))
		s.usage.overlay(get(data, "usage"))
		if v := get(data, "context_management"); has(v) {
			s.message.set("context_management", v)
		}
	case "message_stop":
		s.stopped = true
		// Bedrock adds amazon-bedrock-invocationMetrics here; nobody's usage.
	case "error":
		if e := errorOf(data, true); e != nil {
			s.fail(e)
		}
	case "content_block_stop", "ping":
	default:
		if e := errorOf(data, false); e != nil {
			s.fail(e)
			return false
		}
		s.warn("unknown event %q", start([]byte(kind), 100))
	}
	return false
}

// isTextual tells whether a block's content comes in deltas of text.
func isTextual(start []byte) bool {
	switch str(get(start, "type")) {
	case "text", "thinking", "":
		return true
	}
	return false
}

func (s *messagesStream) start(message []byte) (content bool) {
	if s.begun {
		s.warn("message_start came again: what came before it does not count")
	}
	s.begun, s.stopped = true, false
	s.message, s.usage, s.blocks = fields{}, fields{}, nil
	s.message.overlay(message)
	s.usage.overlay(get(message, "usage"))
	// Programmatic tool calls continue in a stream whose message_start holds
	// all content already (seen from Anthropic).
	n := int64(0)
	for e := walk(get(message, "content")); !e.object && e.next(); n++ {
		b := s.at(n)
		b.start = e.value()
		b.text.add(get(b.start, "text"))
		b.thinking.add(get(b.start, "thinking"))
	}
	return n > 0
}

func (s *messagesStream) block(index []byte) *messagesBlock { return s.at(num(index)) }

func (s *messagesStream) at(index int64) *messagesBlock {
	b := s.blocks[index]
	if b == nil {
		if s.blocks == nil {
			s.blocks = map[int64]*messagesBlock{}
		}
		b = &messagesBlock{}
		s.blocks[index] = b
	}
	return b
}

func (b *messagesBlock) delta(r *reader, v []byte) (content bool) {
	switch kind := str(get(v, "type")); kind {
	case "text_delta":
		b.expect(`{"type":"text"}`)
		b.text.add(get(v, "text"))
		return !isEmpty(get(v, "text"))
	case "thinking_delta":
		b.expect(`{"type":"thinking"}`)
		b.thinking.add(get(v, "thinking"))
		return !isEmpty(get(v, "thinking"))
	case "signature_delta":
		b.expect(`{"type":"thinking"}`)
		b.signature = get(v, "signature")
	case "input_json_delta":
		b.expect(`{"type":"tool_use"}`)
		b.partial.add(get(v, "partial_json"))
		return true
	case "citations_delta":
		if c := get(v, "citation"); c != nil {
			b.citations = append(b.citations, c)
		}
	default: // compaction_delta, what is still to come: its members are the block's
		for c := walk(v); c.object && c.next(); {
			if key := string(c.key()); key != "type" && has(c.value()) {
				b.other.set(key, c.value())
			}
		}
		if kind != "compaction_delta" {
			r.warn("unknown delta %q", start([]byte(kind), 100))
		}
		return true
	}
	return false
}

// expect gives a block a type if its start was not seen.
func (b *messagesBlock) expect(start string) {
	if b.start == nil {
		b.start = []byte(start)
	}
}

func (b *messagesBlock) json() []byte {
	var f fields
	f.overlay(b.start)
	if b.text.seen {
		f.set("text", b.text.json())
	}
	if b.thinking.seen {
		f.set("thinking", b.thinking.json())
	}
	if b.signature != nil {
		f.set("signature", b.signature)
	}
	if len(b.citations) > 0 {
		f.set("citations", list(append(elements(f.get("citations")), b.citations...)))
	}
	if len(b.partial.buf) > 0 {
		f.set("input", b.input())
	}
	f.merge(&b.other)
	return f.json()
}

// input gives the arguments of a call: the JSON that the fragments make, or,
// where they make none (cut by max_tokens), their text as a string.
func (b *messagesBlock) input() []byte {
	text := b.partial.json()
	if raw, whole, rest := mend([]byte(unquote(text))); whole && rest == 0 {
		return raw
	}
	return text
}

func (s *messagesStream) object() (object []byte, complete bool) {
	if !s.begun && len(s.blocks) == 0 && len(s.message.names) == 0 {
		return nil, s.stopped
	}
	var content [][]byte
	for _, index := range slices.Sorted(maps.Keys(s.blocks)) {
		content = append(content, s.blocks[index].json())
	}
	s.message.set("content", list(content))
	if len(s.usage.names) > 0 {
		s.message.set("usage", s.usage.json())
	}
	return s.message.json(), s.stopped
}
