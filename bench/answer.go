package main

import (
	"fmt"
	"hash/crc32"
	"strconv"
)

// mark is what an answer says about its request: a checksum of its body and
// its length. It is in the answer's ids and chooses its text.
type mark struct {
	sum  uint32
	size int
}

// castagnoli is the polynomial that processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func markOf(body []byte) mark { return mark{crc32.Checksum(body, castagnoli), len(body)} }

func (m mark) String() string { return fmt.Sprintf("%08x%08x", m.sum, m.size) }

// place is where the text of part n of the answer is cut from.
func (m mark) place(n int) uint64 { return uint64(m.sum)*2654435761 + uint64(n)*40503 }

// appendMessage appends the assistant's message in an answer: text of about
// size bytes and a tool call.
func appendMessage(b []byte, t text, m mark, size int) []byte {
	id := m.String()
	b = append(b, `{"role":"assistant","content":"`...)
	b = append(b, t.cut(m.place(0), max(16, size-500))...)
	b = append(b, `","tool_calls":[{"id":"call_`...)
	b = append(b, id...)
	b = append(b, `","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"/src/`...)
	b = append(b, id...)
	return append(b, `.go\",\"limit\":80}"}}]}`...)
}

// appendAnswer appends an answer that is not streamed.
func appendAnswer(b []byte, t text, m mark, size int) []byte {
	b = append(b, `{"id":"chatcmpl-`...)
	b = append(b, m.String()...)
	b = append(b, `","object":"chat.completion","created":1760000000,"model":"stub-1","choices":[{"index":0,"message":`...)
	b = appendMessage(b, t, m, size)
	b = append(b, `,"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(m.size/4), 10)
	return append(b, `,"completion_tokens":1000,"total_tokens":0},"system_fingerprint":"fp_stub"}`...)
}

// eventText is how much text an event of a stream carries.
const eventText = 60

// appendEvent appends event n of a stream, n < of.
func appendEvent(b []byte, t text, m mark, n, of int) []byte {
	b = append(b, `data: {"id":"chatcmpl-`...)
	b = append(b, m.String()...)
	b = append(b, `","object":"chat.completion.chunk","created":1760000000,"model":"stub-1","system_fingerprint":"fp_stub","choices":[{"index":0,"delta":{`...)
	if n == 0 {
		b = append(b, `"role":"assistant",`...)
	}
	if n < of-1 {
		b = append(b, `"content":"`...)
		b = append(b, t.cut(m.place(n), eventText)...)
		return append(b, "\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n"...)
	}
	return append(b, "},\"logprobs\":null,\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"...)
}

// appendStream appends a whole stream.
func appendStream(b []byte, t text, m mark, events int) []byte {
	for n := range events {
		b = appendEvent(b, t, m, n, events)
	}
	return b
}
