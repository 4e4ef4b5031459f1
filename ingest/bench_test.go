//go:build unix

package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// BenchmarkCommit_Small commits groups of 64 exchanges of 4 KB that have
// nothing to do with each other.
func BenchmarkCommit_Small(b *testing.B) {
	db, w := benchStore(b), newWords(1)
	const group = 64
	n := 0
	commits(b, group, func() []*transcript.Capture {
		captures := make([]*transcript.Capture, group)
		for i := range captures {
			ask := fmt.Sprintf(`{"model":"m","messages":[{"role":"system","content":"%s"},{"role":"user","content":"%s"}]}`, w.text(2500), w.text(500))
			answer := fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`, n, w.text(700))
			captures[i] = capture(n, "/v1/chat/completions", ask, answer)
			n++
		}
		return captures
	}, db)
}

// BenchmarkCommit_Growing commits runs of 200 steps, 20 KB at first and 2.5 KB
// new each time: a call with its result and the text around it. Alone, each step
// is committed by itself; queued, eight steps of a run at once; together, one
// step each of eight runs.
func BenchmarkCommit_Growing(b *testing.B) {
	for _, a := range []agent{chatAgent{}, messagesAgent{}, responsesAgent{}} {
		for _, mode := range []struct {
			name         string
			runs, queued int
			words        func(b *testing.B, seed uint64) *words
		}{{"alone", 1, 1, madeUp}, {"recorded", 1, 1, recordedWords}, {"queued", 1, 8, madeUp}, {"together", 8, 1, madeUp}} {
			b.Run(strings.Trim(a.path(), "/")+"/"+mode.name, func(b *testing.B) {
				db, w := benchStore(b), mode.words(b, 2)
				histories := make([]bytes.Buffer, mode.runs)
				requests := make([][]byte, mode.runs*mode.queued) // used again: their garbage is none of a commit's
				n := 0
				commits(b, mode.runs*mode.queued, func() (captures []*transcript.Capture) {
					for range mode.runs * mode.queued {
						h := &histories[n%mode.runs]
						if n/mode.runs%200 == 0 {
							h.Reset()
							h.WriteString(a.begin(w))
						}
						request := &requests[len(captures)]
						*request = append(append((*request)[:0], h.Bytes()...), a.end()...)
						c := capture(n, a.path(), "", a.step(h, w, n))
						c.Request = wire(*request)
						captures = append(captures, c)
						n++
					}
					return captures
				}, db)
			})
		}
	}
}

// wire is a captured body that lies in a buffer.
type wire []byte

func (w wire) Size() int64                  { return int64(len(w)) }
func (w wire) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(w)), nil }

// commits times commits alone: not the making of what they commit. The timer of
// the benchmark is not stopped for that: to stop it stops the world, after which
// the runtime looks after its threads every 20 µs for a millisecond.
func commits(b *testing.B, group int, next func() []*transcript.Capture, db *store.DB) {
	ctx := context.Background()
	var committer ingest.Committer
	commit := func(captures []*transcript.Capture) {
		if _, err := committer.Commit(ctx, db, captures); err != nil {
			b.Fatal(err)
		}
	}
	for range 4 {
		commit(next())
	}
	var cpu, took time.Duration
	for range b.N {
		captures := next()
		before, began := processTime(b), time.Now()
		commit(captures)
		cpu, took = cpu+processTime(b)-before, took+time.Since(began)
	}
	b.ReportMetric(float64(cpu.Microseconds())/float64(group*b.N), "cpu-µs/exchange")
	b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "ns/op")
}

// processTime is the CPU time of the whole process: garbage collection and the
// store's checkpoints, beside the commits, are in it. The search index is not: it
// is made behind them (BenchmarkIndex).
func processTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchStore(b *testing.B) *store.DB {
	db, err := store.Open(filepath.Join(b.TempDir(), "t.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	return db
}

// agent writes the requests of one API.
type agent interface {
	path() string
	begin(w *words) string
	// step adds an answer and what the client sends back, and gives the answer.
	step(history *bytes.Buffer, w *words, n int) string
	end() string
}

const schema = `{"type":"object","properties":{"path":{"type":"string","description":"%s"}},"required":["path"]}`

type chatAgent struct{}

func (chatAgent) path() string { return "/v1/chat/completions" }
func (chatAgent) begin(w *words) string {
	tools := make([]string, 12)
	for i := range tools {
		tools[i] = fmt.Sprintf(`{"type":"function","function":{"name":"tool%d","description":"%s","parameters":`+schema+`}}`, i, w.text(500), w.text(100))
	}
	return fmt.Sprintf(`{"model":"m","tools":[%s],"messages":[{"role":"system","content":"%s"},{"role":"user","content":"%s"}`, strings.Join(tools, ","), w.text(12000), w.text(300))
}
func (chatAgent) step(h *bytes.Buffer, w *words, n int) string {
	message := fmt.Sprintf(`{"role":"assistant","content":"%s","tool_calls":[{"id":"call_%d","type":"function","function":{"name":"tool1","arguments":"{\"path\":\"%d.txt\"}"}}]}`, w.text(400), n, n)
	fmt.Fprintf(h, `,%s,{"role":"tool","tool_call_id":"call_%d","content":"%s"}`, message, n, w.text(1800))
	return fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":%s,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`, n, message)
}
func (chatAgent) end() string { return "]}" }

type messagesAgent struct{}

func (messagesAgent) path() string { return "/v1/messages" }
func (messagesAgent) begin(w *words) string {
	tools := make([]string, 12)
	for i := range tools {
		tools[i] = fmt.Sprintf(`{"name":"tool%d","description":"%s","input_schema":`+schema+`}`, i, w.text(500), w.text(100))
	}
	return fmt.Sprintf(`{"model":"m","max_tokens":4096,"tools":[%s],"system":[{"type":"text","text":"%s"}],"messages":[{"role":"user","content":[{"type":"text","text":"%s"}]}`, strings.Join(tools, ","), w.text(12000), w.text(300))
}
func (messagesAgent) step(h *bytes.Buffer, w *words, n int) string {
	content := fmt.Sprintf(`[{"type":"text","text":"%s"},{"type":"tool_use","id":"toolu_%d","name":"tool1","input":{"path":"%d.txt"}}]`, w.text(400), n, n)
	fmt.Fprintf(h, `,{"role":"assistant","content":%s},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":[{"type":"text","text":"%s"}]}]}`, content, n, w.text(1800))
	return fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"m-1","content":%s,"stop_reason":"tool_use","usage":{"input_tokens":10,"output_tokens":5}}`, n, content)
}
func (messagesAgent) end() string { return "]}" }

type responsesAgent struct{}

func (responsesAgent) path() string { return "/v1/responses" }
func (responsesAgent) begin(w *words) string {
	tools := make([]string, 12)
	for i := range tools {
		tools[i] = fmt.Sprintf(`{"type":"function","name":"tool%d","description":"%s","parameters":`+schema+`}`, i, w.text(500), w.text(100))
	}
	return fmt.Sprintf(`{"model":"m","instructions":"%s","tools":[%s],"store":false,"input":[{"role":"user","content":"%s"}`, w.text(12000), strings.Join(tools, ","), w.text(300))
}
func (responsesAgent) step(h *bytes.Buffer, w *words, n int) string {
	output := fmt.Sprintf(`{"type":"message","id":"msg_%d","role":"assistant","status":"completed","content":[{"type":"output_text","text":"%s","annotations":[]}]},{"type":"function_call","id":"fc_%d","call_id":"call_%d","name":"tool1","arguments":"{\"path\":\"%d.txt\"}","status":"completed"}`, n, w.text(400), n, n, n)
	fmt.Fprintf(h, `,%s,{"type":"function_call_output","call_id":"call_%d","output":"%s"}`, output, n, w.text(1800))
	return fmt.Sprintf(`{"id":"resp_%d","object":"response","status":"completed","model":"m-1","output":[%s],"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}`, n, output)
}
func (responsesAgent) end() string { return "]}" }

// BenchmarkIndex takes exchanges into the search index: unrelated ones of 4 KB,
// the steps of a run of 200, and a long history that is sent over and over with
// another end, none of which continues another.
func BenchmarkIndex(b *testing.B) {
	w := newWords(3)
	answer := func(n int) string {
		return fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}]}`, n, w.text(700))
	}
	small := func(n int) (string, string) {
		return fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"%s"}]}`, w.text(3300)), answer(n)
	}
	var h bytes.Buffer
	growing := func(n int) (string, string) {
		if n%200 == 0 {
			h.Reset()
			h.WriteString(chatAgent{}.begin(w))
		}
		request := h.String() + chatAgent{}.end()
		return request, chatAgent{}.step(&h, w, n)
	}
	var same bytes.Buffer
	same.WriteString(chatAgent{}.begin(w))
	for n := 0; same.Len() < 200_000; n++ {
		chatAgent{}.step(&same, w, 1_000_000+n)
	}
	resent := func(n int) (string, string) {
		return same.String() + fmt.Sprintf(`,{"role":"user","content":"%s"}]}`, w.text(600)), answer(n)
	}
	for _, kind := range []struct {
		name string
		next func(int) (string, string)
	}{{"small", small}, {"growing", growing}, {"resent", resent}} {
		b.Run(kind.name, func(b *testing.B) {
			db := benchStore(b)
			var committer ingest.Committer
			for n := range b.N {
				request, answer := kind.next(n)
				if _, err := committer.Commit(b.Context(), db, []*transcript.Capture{capture(n, "/v1/chat/completions", request, answer)}); err != nil {
					b.Fatal(err)
				}
			}
			b.ResetTimer()
			before := processTime(b)
			if _, err := ingest.Index(b.Context(), db); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64((processTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/exchange")
		})
	}
}
