package view_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// prose makes texts that read like those of real transcripts, and never the
// same: it puts together pairs of words that follow each other there.
type prose struct {
	r     *rand.Rand
	words []string
	after map[[2]string][]int
}

// newProse learns from the recorded conversations beside the project, or from a
// small vocabulary where these are not.
func newProse(b testing.TB) *prose {
	p := &prose{r: rand.New(rand.NewPCG(5, 6)), after: map[[2]string][]int{}}
	var learn func(v any)
	learn = func(v any) {
		switch v := v.(type) {
		case string:
			if len(v) > 60 && strings.Count(v, " ") > len(v)/30 {
				p.words = append(p.words, strings.SplitAfter(v, " ")...)
			}
		case []any:
			for _, e := range v {
				learn(e)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				learn(v[name])
			}
		}
	}
	_ = filepath.WalkDir("../../shared/corpus/long/dev", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		raw, _ := os.ReadFile(path)
		for dec := json.NewDecoder(bytes.NewReader(raw)); ; {
			var v any
			if dec.Decode(&v) != nil {
				break
			}
			learn(v)
		}
		return nil
	})
	if len(p.words) < 10_000 {
		b.Log("no recorded conversations beside the project: the texts are of made-up words")
		for range 200_000 {
			w := rand.New(rand.NewPCG(7, uint64(p.r.ExpFloat64()*400)))
			word := make([]byte, 2+w.IntN(8))
			for i := range word {
				word[i] = "etaoinshrdlucmfwypvbgkjqxz"[int(w.ExpFloat64()*6)%26]
			}
			p.words = append(p.words, string(word)+" ")
		}
	}
	for i := range len(p.words) - 2 {
		key := [2]string{p.words[i], p.words[i+1]}
		p.after[key] = append(p.after[key], i+2)
	}
	return p
}

func (p *prose) text(n int) string {
	var s strings.Builder
	i := p.r.IntN(len(p.words) - 2)
	for s.Len() < n {
		s.WriteString(p.words[i])
		next := p.after[[2]string{p.words[max(i-1, 0)], p.words[i]}]
		if len(next) == 0 || p.r.IntN(20) == 0 {
			i = p.r.IntN(len(p.words) - 2)
			continue
		}
		i = next[p.r.IntN(len(next))]
	}
	return strings.ToValidUTF8(s.String()[:n], "")
}

const (
	benchItems = 200_000
	benchBytes = 1024
	benchSteps = 25 // steps of a run; each brings a result and an answer
)

// corpus stores runs of items of about 1 KB, unless they are there already.
func corpus(b testing.TB, db *store.DB, missing bool) (texts []string) {
	p := newProse(b)
	var history [][]byte
	var parent *transcript.Exchange
	n := 0
	for !missing && len(texts) < benchItems {
		texts = append(texts, p.text(benchBytes))
	}
	for len(texts) < benchItems {
		err := db.Update(b.Context(), func(tx transcript.Tx) error {
			for range 4 * benchSteps {
				if n%benchSteps == 0 {
					history, parent = [][]byte{[]byte(`{"model":"m","messages":[`)}, nil
				}
				said, answer := p.text(benchBytes), p.text(benchBytes)
				texts = append(texts, said, answer)
				e := &transcript.Exchange{ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", n+1), StartedAt: time.Unix(int64(n), 0),
					Method: "POST", URL: "https://api.example.com/v1/messages", Status: 200, Outcome: transcript.OK, Dialect: transcript.Messages, Model: "m"}
				comma := ","
				if parent == nil {
					comma = ""
				} else {
					e.Link = transcript.Link{Parent: parent.ID, Shared: 2 * (n % benchSteps)}
				}
				history = append(history, []byte(comma+`{"role":"user","content":`+quoted(said)+`}`))
				request := append(slices.Clone(history), []byte(`]}`))
				block := `{"type":"text","text":` + quoted(answer) + `}`
				response := []byte(`{"id":"msg","type":"message","role":"assistant","model":"m","content":[` + block + `],"stop_reason":"end_turn"}`)
				history = append(history, []byte(`,{"role":"assistant","content":[`+block+`]}`))
				e.Request.Bytes, e.Response.Bytes = int64(len(bytes.Join(request, nil))), int64(len(response))
				var err error
				if e.Request.Body, err = tx.PutBody(parts(request...)); err != nil {
					return err
				}
				if e.Response.Body, err = tx.PutBody(parts(response)); err != nil {
					return err
				}
				if err = tx.PutExchange(e); err != nil {
					return err
				}
				parent = e
				n++
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return texts
}

func parts(list ...[]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, p := range list {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSearch: 200,000 items of 1 KB. What it prints of a search is for the
// newest 20: as the index gives them, and with each one read and shown.
// RETAKE_BENCH_DB names a file that is kept.
func BenchmarkSearch(b *testing.B) {
	path := os.Getenv("RETAKE_BENCH_DB")
	if path == "" {
		path = filepath.Join(b.TempDir(), "t.db")
	}
	_, missing := os.Stat(path)
	db, err := store.Open(path, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	texts := corpus(b, db, missing != nil)
	size := 0
	for _, t := range texts {
		size += len(t)
	}
	began, used := time.Now(), cpu()
	if _, err := ingest.Index(b.Context(), db); err != nil {
		b.Skip(err)
	}
	b.Logf("indexed %d items of %d bytes: %.0f µs of CPU an item, %.0f items/s", len(texts), benchBytes,
		float64((cpu()-used).Microseconds())/float64(len(texts)), float64(len(texts))/time.Since(began).Seconds())
	if s, err := db.Storage(b.Context()); err == nil {
		b.Logf("the index is %.3f of the text (%d bytes of %d)", float64(s.Search)/float64(size), s.Search, size)
	}
	r := rand.New(rand.NewPCG(8, 9))
	piece := func(least, most int) func() view.Search {
		return func() view.Search {
			for { // nobody types indentation or ends of lines
				t := []rune(texts[r.IntN(len(texts))])
				n := least + r.IntN(most-least+1)
				at := r.IntN(len(t) - n)
				if s := string(t[at : at+n]); !strings.Contains(s, "  ") && !strings.ContainsAny(s, "\n\t") {
					return view.Search{SearchQuery: transcript.SearchQuery{Text: s}, Limit: 20}
				}
			}
		}
	}
	word := func() view.Search {
		for {
			w := transcript.Words(texts[r.IntN(len(texts))])
			if s := w[r.IntN(len(w))]; len(s) > 2 {
				return view.Search{SearchQuery: transcript.SearchQuery{Text: s, Words: true}, Limit: 20}
			}
		}
	}
	for name, query := range map[string]func() view.Search{"substring 3-8": piece(3, 8), "substring 9-40": piece(9, 40), "word": word} {
		b.Run(name, func(b *testing.B) {
			var index, all []time.Duration
			var spent time.Duration
			for b.Loop() {
				s := query()
				index = append(index, timed(func() {
					n := 0
					for _, err := range db.Search(b.Context(), s.SearchQuery) {
						if n++; err != nil || n == s.Limit {
							break
						}
					}
				}))
				before := cpu()
				all = append(all, timed(func() { find(b, db, s) }))
				spent += cpu() - before
			}
			for name, list := range map[string][]time.Duration{"index": index, "shown": all} {
				slices.Sort(list)
				b.ReportMetric(float64(list[len(list)/2].Microseconds())/1000, name+"-p50-ms")
				b.ReportMetric(float64(list[len(list)*99/100].Microseconds())/1000, name+"-p99-ms")
			}
			b.ReportMetric(float64(spent.Microseconds())/1000/float64(b.N), "shown-cpu-ms")
		})
	}
}

func timed(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}
