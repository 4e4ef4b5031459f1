//go:build unix

package ingest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/transcript"
)

// BenchmarkCommit_FiftyAgents commits 10,000 exchanges: fifty agents of 200
// steps each, interleaved, whose last requests hold all their 200 steps.
func BenchmarkCommit_FiftyAgents(b *testing.B) {
	const agents, steps, group = 50, 200, 64
	for range b.N {
		db := benchStore(b)
		w := newWords(3)
		histories := make([]strings.Builder, agents)
		for i := range histories {
			fmt.Fprintf(&histories[i], `{"model":"m","tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"system","content":"%s"},{"role":"user","content":"Do it"}`, w.text(2000))
		}
		var committer ingest.Committer
		var cpu time.Duration
		var batch []*transcript.Capture
		commit := func() {
			before := processTime(b)
			if _, err := committer.Commit(context.Background(), db, batch); err != nil {
				b.Fatal(err)
			}
			cpu += processTime(b) - before
			batch = batch[:0]
		}
		for n := range agents * steps {
			h := &histories[n%agents]
			request := h.String() + "]}"
			message := fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"call_%dx%d","type":"function","function":{"name":"f","arguments":"{\"path\":\"%d.txt\"}"}}]}`, n, n, n)
			fmt.Fprintf(h, `,%s,{"role":"tool","tool_call_id":"call_%dx%d","content":"%s"}`, message, n, n, w.text(300))
			answer := fmt.Sprintf(`{"id":"c%d","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":%s,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`, n, message)
			if batch = append(batch, capture(n, "/v1/chat/completions", request, answer)); len(batch) == group {
				commit()
			}
		}
		commit()
		b.ReportMetric(float64(cpu.Microseconds())/(agents*steps), "cpu-µs/exchange")
		db.Close()
	}
}
