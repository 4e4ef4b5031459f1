package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

const (
	manyExchanges = 1_000_000
	manySteps     = 4 // of each run
	manyAtOnce    = 2000
)

// many makes small exchanges: runs of a few steps that resend their history.
type many struct {
	r       *rand.Rand
	steps   int // of each run
	words   []string
	n       int
	history [][]byte
	before  *transcript.Exchange
	agent   transcript.Agent
}

func newMany() *many {
	m := &many{r: rand.New(rand.NewPCG(11, 12)), steps: setting("RETAKE_BENCH_STEPS", manySteps)}
	for range 6000 {
		word := make([]byte, 2+m.r.IntN(9))
		for i := range word {
			word[i] = "etaoinshrdlucmfwyp"[m.r.IntN(18)]
		}
		m.words = append(m.words, string(word))
	}
	return m
}

func (m *many) text(words int) string {
	var b strings.Builder
	for range words {
		b.WriteString(m.words[m.r.IntN(len(m.words))])
		b.WriteByte(' ')
	}
	return b.String()
}

// put stores the next exchange.
func (m *many) put(tx transcript.Tx) error {
	step := m.n % m.steps
	m.n++
	at := time.Unix(1_700_000_000, 0).Add(time.Duration(m.n) * time.Minute)
	if step == 0 {
		m.history = [][]byte{[]byte(`{"model":"gpt-5","messages":[`), fmt.Appendf(nil, `{"role":"system","content":"You are agent %d of a team."}`, m.r.IntN(20))}
		m.before = nil
		run, err := tx.NewRun(at)
		if err != nil {
			return err
		}
		m.agent = transcript.Agent{Run: run.ID, Main: true, Evidence: "first message of a new run"}
		if err := tx.PutAgent(&m.agent); err != nil {
			return err
		}
	}
	e := &transcript.Exchange{
		ID: fmt.Sprintf("0196%04x-%04x-7000-8000-%012x", m.n>>16, m.n&0xffff, uint64(m.n)*0x9e3779b97f4a&0xffffffffffff), StartedAt: at, EndedAt: at.Add(time.Second),
		Upstream: "openai", Method: "POST", URL: "https://api.openai.com/v1/chat/completions", Status: 200, Outcome: transcript.OK,
		Timing: transcript.Timing{FirstByte: 1e8, Duration: 1e9}, Dialect: transcript.Chat, Complete: true, FinishReason: "stop",
		Model: [...]string{"gpt-5", "gpt-5-mini", "qwen3-coder"}[m.n/m.steps%3], ResponseID: fmt.Sprintf("chatcmpl-%x", m.n),
		Usage: &transcript.Usage{InputTotal: 50, InputUncached: 50, Output: 30, Total: 80, Complete: true},
		Link:  transcript.Link{Run: m.agent.Run, Agent: m.agent.ID, Step: step + 1, Attempt: 1, Shared: 2 * step, InLen: 2*step + 1, OutLen: 2*step + 2},
	}
	e.Request.Headers = map[string][]string{"Content-Type": {"application/json"}, "Authorization": {"[redacted]"}}
	e.Response.Headers = map[string][]string{"Content-Type": {"application/json"}, "X-Request-Id": {fmt.Sprintf("req_%012x", m.n)}}
	if m.before != nil {
		e.Link.Parent, e.Link.By, e.Link.Evidence = m.before.ID, "history", fmt.Sprintf("%d items of the history and output", 2*step)
	}
	binary.LittleEndian.PutUint64(e.Link.InNode[:], uint64(m.n)*0x9e3779b97f4a7c15)
	binary.LittleEndian.PutUint64(e.Link.OutNode[:], uint64(m.n)*0xc2b2ae3d27d4eb4f)
	asked, answered := m.text(12), m.text(14)
	e.Preview = asked
	m.history = append(m.history, []byte(`,{"role":"user","content":"`+asked+`"}`))
	message := `{"role":"assistant","content":"` + answered + `"}`
	answer := fmt.Sprintf(`{"id":"%s","object":"chat.completion","model":"m","choices":[{"index":0,"message":%s,"finish_reason":"stop"}],"usage":{"prompt_tokens":50,"completion_tokens":30,"total_tokens":80}}`, e.ResponseID, message)
	switch {
	case m.n%50_000 == 0: // few and far between
		e.Status, e.Outcome, e.Model = 503, transcript.HTTPError, "rare-model"
	case m.n%100 == 0:
		e.Status, e.Outcome = 429, transcript.HTTPError
	}
	if e.Status != 200 {
		answer = `{"error":{"type":"server_error","code":null,"message":"` + answered + `"}}`
		e.Error = &transcript.Error{Type: "server_error", Message: answered}
	}
	request := append(slices.Clone(m.history), []byte(`]}`))
	m.history = append(m.history, []byte(","+message))
	for side, parts := range map[*transcript.Message][][]byte{&e.Request: request, &e.Response: {[]byte(answer)}} {
		body := bytes.Join(parts, nil)
		sum := sha256.Sum256(body)
		side.Bytes, side.SHA256 = int64(len(body)), hex.EncodeToString(sum[:])
		var err error
		if side.Body, err = tx.PutBody(pieces(parts)); err != nil {
			return err
		}
	}
	m.before = e
	return tx.PutExchange(e)
}

func pieces(parts [][]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, p := range parts {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// setting returns a number that the environment may set.
func setting(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return usual
}

// manyFile returns a database of many exchanges, indexed for search: the one that
// RETAKE_BENCH_DB names, which is made if need be, or a new one.
// RETAKE_BENCH_EXCHANGES and RETAKE_BENCH_STEPS say of how many, and how many
// make a run.
func manyFile(b *testing.B) string {
	path, count := os.Getenv("RETAKE_BENCH_DB"), setting("RETAKE_BENCH_EXCHANGES", manyExchanges)
	if path == "" {
		path = filepath.Join(b.TempDir(), "many.db")
	}
	_, missing := os.Stat(path)
	db, err := store.Open(path, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for m, began := newMany(), time.Now(); missing != nil && m.n < count; {
		err := db.Update(b.Context(), func(tx transcript.Tx) error {
			for range min(manyAtOnce, count-m.n) {
				if err := m.put(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		if m.n == count {
			b.Logf("%d exchanges stored in %.0f s", count, time.Since(began).Seconds())
		}
	}
	began := time.Now()
	if n, err := ingest.Index(b.Context(), db); err == nil && n > 0 {
		b.Logf("%d indexed in %.0f s", n, time.Since(began).Seconds())
	} else if err != nil && !errors.Is(err, transcript.ErrNoIndex) {
		b.Fatal(err)
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkMany runs commands, each a process of its own, on a file of
// 1,000,000 exchanges.
func BenchmarkMany(b *testing.B) {
	path := manyFile(b)
	if info, err := os.Stat(path); err == nil {
		b.Logf("the file has %d MB", info.Size()>>20)
	}
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	inspect := filepath.Join(b.TempDir(), "inspect")
	if err := os.Symlink(exe, inspect); err != nil {
		b.Fatal(err)
	}
	m := newMany()
	rare := m.words[17] + " " + m.words[18]
	for _, args := range [][]string{
		{"ls"}, {"ls", "--json"}, {"ls", "--model", "mini"}, {"ls", "--outcome", "http_error"}, {"ls", "--model", "rare"}, {"ls", "--dialect", "messages"},
		{"ls", "tool:bash"}, {"ls", "tool:never"}, {"ls", "since:2025-09-01"},
		{"show", "x:last"}, {"show", "x:last~1000"}, {"show", "x500000"}, {"show", "019600"}, {"show", "ffff-7000-8000"},
		{"search", rare},
		{"search", m.words[17], "model:mini"},
		{"search", m.words[17], "status:429"},
		{"search", m.words[17], "status:5xx"},
		{"search", m.words[17], "model:rare"},
		{"search", "the", "model:rare"},
		{"search", m.words[17], "outcome:http_error"},
		{"search", m.words[17], "after:2025-09-01"},
		{"search", m.words[17], "before:2023-12-01"},
		{"search", "tea", "before:2023-11-16"},
		{"search", m.words[17], "is:error"},
		{"search", m.words[17], "tool:bash"},
		{"search", "is:error"},
		{"search", "tool:bash"},
		{"search", "model:rare"},
		{"search", "--sort", "best", m.words[17]},
		{"search", "--sort", "best", "tea"},
		{"search", "zzzqqq"},
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
				if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() < 2 {
					b.Log(said.String())
				}
				took = append(took, time.Since(began))
				cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "most-ms")
			b.ReportMetric(float64(cpu.Microseconds())/1000/float64(b.N), "cpu-ms")
		})
	}
}
