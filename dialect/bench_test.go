package dialect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/transcript"
)

// chatHistory is a request of n rounds: a call, its result, an answer.
func chatHistory(n, size int) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"m","stream":true,"messages":[{"role":"system","content":"Be brief."}`)
	text := strings.Repeat("some words of text, \\\"quoted\\\" and a line\\n", size/42+1)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"user","content":"%s"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"a%d.txt\"}"}}]},{"role":"tool","tool_call_id":"call_%d","content":"%s"}`, text, i, i, i, text)
	}
	b.WriteString(`],"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}]}`)
	return []byte(b.String())
}

func chatStreamBody(chunks int) []byte {
	var b strings.Builder
	for i := range chunks {
		fmt.Fprintf(&b, "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,\"model\":\"m-1\",\"system_fingerprint\":\"fp\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word%d\"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null,\"obfuscation\":\"aBcDeF\"}\n\n", i)
	}
	return []byte(b.String() + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

func BenchmarkSplit(b *testing.B) {
	for _, size := range []int{200, 2000, 20000} {
		body := chatHistory(20, size)
		b.Run(fmt.Sprintf("%dKB", len(body)>>10), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				Split(transcript.Chat, body)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	answer := []byte(`{"id":"c","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
	for name, w := range map[string]*api.Wire{
		"request_4KB":   {Request: chatHistory(4, 300), Response: answer, Status: 200},
		"request_100KB": {Request: chatHistory(20, 2400), Response: answer, Status: 200},
		"stream_20":     {Request: chatHistory(1, 100), Response: chatStreamBody(20), Status: 200},
		"stream_500":    {Request: chatHistory(1, 100), Response: chatStreamBody(500), Status: 200},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(w.Request) + len(w.Response)))
			b.ReportAllocs()
			for b.Loop() {
				Decode(transcript.Chat, w)
			}
		})
	}
}
