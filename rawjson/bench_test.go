package rawjson

import (
	"fmt"
	"strings"
	"testing"
)

// history is a request of n rounds: a call, its result and an answer.
func history(n, size int) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"m","messages":[{"role":"system","content":"Be brief."}`)
	text := strings.Repeat(`The quick brown fox jumps over the \"lazy\" dog.\n`, size/50+1)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a/%d.go\"}"}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"call_%d","content":"%s"}`, i, text)
	}
	return []byte(b.String() + `]}`)
}

func BenchmarkValid(b *testing.B) {
	body := history(20, 4000)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		Valid(body)
	}
}

func BenchmarkLocate(b *testing.B) {
	body := history(20, 4000)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := Locate(body, "/messages/39/content"); err != nil {
			b.Fatal(err)
		}
	}
}
