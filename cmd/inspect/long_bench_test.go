package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// longSteps is how many steps the runs of BenchmarkLong have.
const longSteps = 5000

// long makes a run of many steps that resend their history: each brings the
// result of a call, and is answered with a text and the next call.
type long struct {
	m       *many
	run     int
	history bytes.Buffer
}

func newLong(run int) *long {
	l := &long{m: newMany(), run: run}
	fmt.Fprintf(&l.history, `{"model":"gpt-5","tools":[{"type":"function","function":{"name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}},`+
		`{"type":"function","function":{"name":"bash","parameters":{"type":"object","properties":{"command":{"type":"string"}}}}}],`+
		`"messages":[{"role":"system","content":"%s"},{"role":"user","content":"Mend what is broken, run %d"}`, l.m.text(300), run)
	return l
}

func (l *long) step(n int) *transcript.Capture {
	request := l.history.String() + "]}"
	id := fmt.Sprintf("call_%x", rand.New(rand.NewPCG(uint64(l.run), uint64(n))).Uint64())
	folder, said, result := l.m.words[l.m.r.IntN(100)], l.m.text(20), l.m.text(100)
	if n%100 == 50 { // where runs differ
		folder, result = fmt.Sprint("run", l.run), fmt.Sprint(result, l.run)
	}
	call := fmt.Sprintf(`"tool_calls":[{"id":"%s","type":"function","function":{"name":"read","arguments":"{\"path\":\"%s/%d.go\"}"}}]`, id, folder, n)
	message, finish := fmt.Sprintf(`{"role":"assistant","content":"%s",%s}`, said, call), "tool_calls"
	if n == longSteps {
		message, finish = `{"role":"assistant","content":"Done."}`, "stop"
	}
	fmt.Fprintf(&l.history, `,%s,{"role":"tool","tool_call_id":"%s","content":"%s"}`, message, id, result)
	at := time.Unix(1_700_000_000, 0).Add(time.Duration(l.run)*time.Hour*24 + time.Duration(n)*10*time.Second)
	return &transcript.Capture{
		ID: fmt.Sprintf("0196%04x-%04x-7000-8000-%012x", l.run, n, 0xabcdef), StartedAt: at, EndedAt: at.Add(4 * time.Second),
		Method: "POST", URL: "https://api.openai.com/v1/chat/completions", Status: 200, Outcome: transcript.OK, FirstByte: time.Second,
		RequestHeader:  map[string][]string{"Content-Type": {"application/json"}},
		ResponseHeader: map[string][]string{"Content-Type": {"application/json"}},
		Request:        fileBody(request), Response: fileBody(fmt.Sprintf(`{"id":"chatcmpl-%d-%d","object":"chat.completion","model":"gpt-5","choices":[{"index":0,"message":%s,"finish_reason":"%s"}],`+
			`"usage":{"prompt_tokens":%d,"completion_tokens":60,"total_tokens":%d}}`, l.run, n, message, finish, 200*n, 200*n+60)),
	}
}

// longFile returns a database of two long runs: the one that RETAKE_BENCH_LONG
// names, which is made if need be, or a new one.
func longFile(b *testing.B) string {
	path := os.Getenv("RETAKE_BENCH_LONG")
	if path == "" {
		path = filepath.Join(b.TempDir(), "long.db")
	}
	if _, err := os.Stat(path); err == nil {
		return path
	}
	db, err := store.Open(path, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	for run := range 2 {
		l, committer := newLong(run), ingest.Committer{}
		for n := 1; n <= longSteps; n += 8 {
			var captures []*transcript.Capture
			for i := n; i < min(n+8, longSteps+1); i++ {
				captures = append(captures, l.step(i))
			}
			if _, err := committer.Commit(b.Context(), db, captures); err != nil {
				b.Fatal(err)
			}
		}
	}
	return path
}

// BenchmarkLong runs commands, each a process of its own, on a run of 5,000
// steps.
func BenchmarkLong(b *testing.B) {
	path := longFile(b)
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	inspect := filepath.Join(b.TempDir(), "inspect")
	if err := os.Symlink(exe, inspect); err != nil {
		b.Fatal(err)
	}
	for _, args := range [][]string{
		{"show", "r1"}, {"show", "--json", "r1"}, {"show", "r1.4000"}, {"show", "x4000"}, {"lint", "r1"}, {"calls", "r1"}, {"diff", "r1", "r2"}, {"tree", "r1"},
		{"timing", "r1"}, {"context", "r1"}, {"compare", "r1", "r2"}, {"ls"},
		{"cache", "r1"}, {"stats", "--by", "run"}, {"export", "r1", "--format", "csv"},
	} {
		b.Run(strings.Join(args, " "), func(b *testing.B) {
			var took []time.Duration
			var cpu time.Duration
			for b.Loop() {
				began := time.Now()
				cmd := exec.Command(inspect, append(args, "--db", path)...)
				cmd.Stdout = io.Discard
				var said bytes.Buffer
				cmd.Stderr = &said
				if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 1 {
					b.Fatal(err, said.String())
				}
				took = append(took, time.Since(began))
				cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(cpu.Microseconds())/1000/float64(b.N), "cpu-ms")
		})
	}
}
