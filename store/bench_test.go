package store_test

import (
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// words makes text of about n bytes that compresses as prose does.
func words(r *rand.Rand, n int) []byte {
	const letters = "etaoinshrdlucmfwypvbgkjqxz"
	b := make([]byte, 0, n+12)
	for len(b) < n {
		// A vocabulary of some thousand words, the short ones often.
		w := rand.New(rand.NewPCG(7, uint64(r.ExpFloat64()*400)))
		for range 2 + w.IntN(8) {
			b = append(b, letters[int(w.ExpFloat64()*6)%26])
		}
		b = append(b, ' ')
	}
	return b[:n]
}

// element makes one message of about n bytes, with its separator.
func element(r *rand.Rand, n int) []byte {
	return fmt.Appendf(nil, `,{"role":"user","content":"%s"}`, words(r, max(1, n-30)))
}

func seq(parts [][]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, p := range parts {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// example makes an exchange as a recorder of streams would store it.
func example(n int) *transcript.Exchange {
	at := time.Unix(1_780_000_000, int64(n)*1e6)
	e := &transcript.Exchange{
		ID: fmt.Sprintf("0196b0aa-%04x-7000-8000-%012x", n>>16&0xffff, n), StartedAt: at, EndedAt: at.Add(time.Second),
		Upstream: "openai", Method: "POST", URL: "https://api.openai.com/v1/chat/completions", Status: 200, Outcome: transcript.OK,
		Timing:  transcript.Timing{FirstByte: 1e8, FirstToken: 2e8, Duration: 1e9, Events: 200},
		Dialect: transcript.Chat, Stream: true, Complete: true, Model: "gpt-5", ResponseModel: "gpt-5-2026-01-01",
		ResponseID: fmt.Sprintf("chatcmpl-%x", uint64(n)*0x9e3779b97f4a7c15), FinishReason: "tool_calls",
		Usage:   &transcript.Usage{InputTotal: 50000, InputUncached: 1000, CacheRead: 49000, Output: 300, Total: 50300, Complete: true},
		Preview: "Please fix the failing test in the parser and say what was wrong", Calls: 1,
		Link: transcript.Link{Run: "0196b0aa-0000-7000-9000-000000000000", By: "history", Evidence: "the first 12 items are x34's history and output", Shared: 12, InLen: 14, OutLen: 15},
	}
	h := rand.New(rand.NewPCG(uint64(n), 1))
	for i := range 16 {
		e.Link.InNode[i], e.Link.OutNode[i] = byte(h.Uint32()), byte(h.Uint32())
	}
	e.Request.SHA256, e.Response.SHA256 = fmt.Sprintf("%064x", n), fmt.Sprintf("%064x", n+1)
	e.Request.Headers = map[string][]string{"Content-Type": {"application/json"}, "Content-Length": {fmt.Sprint(4000 + n%97)}, "Accept": {"*/*"},
		"Accept-Encoding": {"gzip, deflate"}, "Authorization": {"[redacted]"}, "User-Agent": {"OpenAI/Python 2.1.0"}, "X-Stainless-Lang": {"python"},
		"X-Stainless-Retry-Count": {"0"}, "X-Stainless-Os": {"Linux"}, "Connection": {"keep-alive"}}
	e.Response.Headers = map[string][]string{"Content-Type": {"text/event-stream"}, "Date": {at.Format(time.RFC1123)}, "X-Request-Id": {fmt.Sprintf("req_%016x", n)},
		"Openai-Processing-Ms": {fmt.Sprint(n % 4000)}, "Openai-Version": {"2020-10-01"}, "Server": {"cloudflare"}, "Cf-Ray": {fmt.Sprintf("%x-FRA", n*7919)},
		"X-Ratelimit-Remaining-Tokens": {fmt.Sprint(1e6 - float64(n))}, "Strict-Transport-Security": {"max-age=31536000"}}
	for i := range 20 {
		e.Response.Chunks = append(e.Response.Chunks, transcript.Chunk{Offset: int64(i * 200), At: time.Duration(i*10_000+n%1000) * time.Microsecond})
	}
	return e
}

// conversation is an agent that sends its whole history at each step.
type conversation struct {
	r       *rand.Rand
	history [][]byte
	marked  int                // how many old elements change at each step
	text    func(n int) []byte // of elements; nil for words
	step    int
}

func newConversation(seed uint64, prefix int) *conversation {
	r := rand.New(rand.NewPCG(seed, 3))
	head := fmt.Appendf(nil, `{"model":"gpt-5","messages":[{"role":"system","content":"%s"}`, words(r, prefix))
	return &conversation{r: r, history: [][]byte{head}}
}

// next returns the body of the next step, which is about n bytes longer.
func (c *conversation) next(n int) [][]byte {
	c.step++
	for range 2 {
		if c.text != nil {
			c.history = append(c.history, c.text(n/2))
		} else {
			c.history = append(c.history, element(c.r, n/2))
		}
	}
	body := append([][]byte(nil), c.history...)
	for i := range c.marked { // a cache marker on the last of every second element
		if k := len(body) - 1 - 2*i; k > 0 {
			body[k] = append(append([]byte(nil), body[k][:len(body[k])-1]...), `,"cache_control":{"type":"ephemeral"}}`...)
		}
	}
	return append(body, []byte(`],"stream":true}`))
}

func putStep(tx transcript.Tx, e *transcript.Exchange, request, response [][]byte) error {
	var err error
	for _, b := range []struct {
		m     *transcript.Message
		parts [][]byte
	}{{&e.Request, request}, {&e.Response, response}} {
		b.m.Bytes = 0
		for _, p := range b.parts {
			b.m.Bytes += int64(len(p))
		}
		if b.m.Body, err = tx.PutBody(seq(b.parts)); err != nil {
			return err
		}
	}
	if err := tx.PutExchange(e); err != nil {
		return err
	}
	return tx.PutCall(transcript.CallRow{Exchange: e.ID, At: "/choices/0/message/tool_calls/0", CallID: "call_0123456789", Name: "search"})
}

type step struct {
	e                 *transcript.Exchange
	request, response [][]byte
}

// benchmarkUpdate stores b.N steps, batch of them in a transaction.
func benchmarkUpdate(b *testing.B, batch int, make func(n int) step) {
	db := openDB(b)
	n := 0
	var cpu time.Duration
	var waits []time.Duration
	b.ResetTimer()
	b.StopTimer()
	for n < b.N {
		var steps []step
		for len(steps) < 256 && n < b.N {
			n++
			steps = append(steps, make(n))
		}
		before := cpuTime()
		b.StartTimer()
		for part := range slices.Chunk(steps, batch) {
			begin := time.Now()
			if err := db.Update(b.Context(), func(tx transcript.Tx) error { return putSteps(tx, part) }); err != nil {
				b.Fatal(err)
			}
			waits = append(waits, time.Since(begin))
		}
		b.StopTimer()
		cpu += cpuTime() - before
	}
	b.ReportMetric(float64(cpu.Nanoseconds())/float64(b.N), "cpu-ns/op")
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds())/1000, "p99-ms/update")
}

func putSteps(tx transcript.Tx, steps []step) error {
	for _, s := range steps {
		if err := putStep(tx, s.e, s.request, s.response); err != nil {
			return err
		}
	}
	return nil
}

// cpuTime is what this process has used, which a busy machine does not change.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkUpdate(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	fresh := func(n int) step {
		return step{example(n), [][]byte{element(r, 1000), element(r, 1000), element(r, 1000), element(r, 1000)}, [][]byte{element(r, 4000)}}
	}
	for _, batch := range []int{1, 8, 64, 256} {
		b.Run(fmt.Sprintf("4KB/batch=%d", batch), func(b *testing.B) { benchmarkUpdate(b, batch, fresh) })
	}
	// What a load generator sends: all known but one small piece.
	head, tail, answer := element(r, 2000), element(r, 1900), element(r, 4000)
	b.Run("4KB-resent/batch=64", func(b *testing.B) {
		benchmarkUpdate(b, 64, func(n int) step {
			return step{example(n), [][]byte{head, fmt.Appendf(nil, `,{"role":"user","content":"%d"}`, n), tail}, [][]byte{answer}}
		})
	})
	for _, batch := range []int{1, 64} {
		b.Run(fmt.Sprintf("200KB-history/batch=%d", batch), func(b *testing.B) {
			agents := make([]*conversation, 16)
			benchmarkUpdate(b, batch, func(n int) step {
				c := &agents[n%16]
				if *c == nil || (*c).step > 170 {
					*c = newConversation(uint64(n), 20_000)
					for range 130 {
						(*c).next(1200)
					}
				}
				return step{example(n), (*c).next(1200), [][]byte{element(r, 600)}}
			})
		})
	}
}

// BenchmarkBody reads the last body of a run of 200 steps.
func BenchmarkBody(b *testing.B) {
	path := b.TempDir() + "/retake.db"
	db, err := store.Open(path, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	c := newConversation(1, 20_000)
	var last *transcript.Exchange
	for n := range 200 {
		last = example(n + 1)
		err := db.Update(b.Context(), func(tx transcript.Tx) error { return putStep(tx, last, c.next(2500), [][]byte{element(c.r, 600)}) })
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	read := func(b *testing.B, db *store.DB) {
		body, err := db.Body(b.Context(), last.Request.Body)
		if err != nil {
			b.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, body); n != last.Request.Bytes || err != nil {
			b.Fatal(n, err)
		}
	}
	b.Run("warm", func(b *testing.B) {
		db, err := store.OpenReader(path)
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		for b.Loop() {
			read(b, db)
		}
	})
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			db, err := store.OpenReader(path)
			if err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			read(b, db)
			b.StopTimer()
			db.Close()
			b.StartTimer()
		}
	})
}

// BenchmarkExchanges lists the newest 50 of 100,000.
func BenchmarkExchanges(b *testing.B) {
	db := openDB(b)
	const total = 100_000
	for n := 0; n < total; n += 1000 {
		err := db.Update(b.Context(), func(tx transcript.Tx) error {
			for i := range 1000 {
				e := example(n + i)
				if (n+i)%10_000 == 17 {
					e.Model, e.Outcome = "rare", transcript.HTTPError
				}
				if err := tx.PutExchange(e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for name, f := range map[string]transcript.Filter{
		"newest": {}, "oldest": {Oldest: true}, "run": {Run: example(1).Link.Run}, "common model": {Model: "gpt"}, "rare model": {Model: "RARE"},
		"rare outcome": {Outcome: transcript.HTTPError}, "dialect": {Dialect: transcript.Chat}, "no such dialect": {Dialect: transcript.Messages},
	} {
		f.Limit = 50
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			for b.Loop() {
				for _, err := range db.Exchanges(b.Context(), f) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			if ids, err := db.FindExchanges(b.Context(), "8000-00000000ff", 10); len(ids) == 0 || err != nil {
				b.Fatal(ids, err)
			}
		}
	})
}
