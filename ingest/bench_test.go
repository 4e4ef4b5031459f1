//go:build unix

package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
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

// BenchmarkCommit_Growing commits the steps of agents whose history has 200 to
// 270 KB, of which 2.5 KB are new each time: a call with its result and the
// text around it.
func BenchmarkCommit_Growing(b *testing.B) {
	for _, a := range []agent{chatAgent{}, messagesAgent{}, responsesAgent{}} {
		b.Run(strings.Trim(a.path(), "/"), func(b *testing.B) {
			db, w := benchStore(b), newWords(2)
			var history bytes.Buffer
			n, turn := 0, 0
			begin := func() {
				history.Reset()
				history.WriteString(a.begin(w))
				for history.Len() < 200_000 {
					a.step(&history, w, turn)
					turn++
				}
			}
			begin()
			answer := a.step(&history, w, turn)
			commits(b, 1, func() []*transcript.Capture {
				if history.Len() > 270_000 {
					begin()
				}
				request := history.String() + a.end()
				turn++
				answer = a.step(&history, w, turn)
				n++
				return []*transcript.Capture{capture(n, a.path(), request, answer)}
			}, db)
		})
	}
}

// commits times commits alone: not the making of what they commit.
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
	b.ResetTimer()
	var cpu time.Duration
	for range b.N {
		b.StopTimer()
		captures := next()
		b.StartTimer()
		before := processTime(b)
		commit(captures)
		cpu += processTime(b) - before
	}
	b.ReportMetric(float64(cpu.Microseconds())/float64(group*b.N), "cpu-µs/exchange")
}

// processTime is the CPU time of the whole process: garbage collection and the
// store's checkpoints are in it.
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

// words makes text like that of transcripts, already escaped for JSON. It
// never says the same twice.
type words struct {
	rand *rand.Rand
	all  []string
}

func newWords(seed uint64) *words {
	w := &words{rand: rand.New(rand.NewPCG(seed, 0))}
	for range 4000 {
		word := make([]byte, 2+w.rand.IntN(8))
		for i := range word {
			word[i] = "etaoinshrdlucmfwyp"[w.rand.IntN(18)]
		}
		w.all = append(w.all, string(word))
	}
	return w
}

func (w *words) text(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(w.all[w.rand.IntN(len(w.all))])
		switch w.rand.IntN(12) {
		case 0:
			b.WriteString(`,\n`)
		case 1:
			b.WriteString(` \"`)
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
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
