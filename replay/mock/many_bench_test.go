package mock_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/replay/mock"
	"github.com/retake-debugger/retake/transcript"
)

// shapes are ways in which ten thousand recordings may come about.
var shapes = []struct {
	name string
	of   func(i int) string // the request of recording i
}{
	{"long runs", func(i int) string { // a hundred runs of a hundred steps
		texts := []string{fmt.Sprintf("task %d", i/100)}
		for s := range i % 100 {
			texts = append(texts, fmt.Sprintf("answer %d of task %d", s, i/100), fmt.Sprintf("result %d of task %d ", s, i/100)+strings.Repeat("some words ", 40))
		}
		return chat(texts...)
	}},
	{"one request each", func(i int) string {
		return chat("be kind", fmt.Sprintf("question %d ", i)+strings.Repeat("some words ", 200))
	}},
	{"the same request", func(int) string { return chat("are you there?") }},
}

const manyRecordings = 10_000

// BenchmarkHandler_ManyRecordings returns how long it takes to load ten thousand
// recordings, what they hold of the heap, and how long a request waits for its answer.
// Requests come in another order than that of the recordings.
func BenchmarkHandler_ManyRecordings(b *testing.B) {
	for _, shape := range shapes {
		b.Run(strings.ReplaceAll(shape.name, " ", "_"), func(b *testing.B) {
			p := newRecordings(b)
			for i := range manyRecordings {
				p.add(chatPath, shape.of(i), 200, saying(fmt.Sprint("answer ", i)), nil)
			}
			for part := range slices.Chunk(p.list, 500) {
				if _, err := ingest.Commit(context.Background(), p.db, part); err != nil {
					b.Fatal(err)
				}
			}
			p.list = nil
			for b.Loop() {
				server, load, heap := p.load(b)
				waits := askAll(b, server, shape.of)
				b.ReportMetric(load.Seconds(), "s/load")
				b.ReportMetric(heap/1e6, "MB-heap")
				slices.Sort(waits)
				b.ReportMetric(float64(waits[len(waits)/2].Microseconds()), "µs-p50")
				b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds()), "µs-p99")
			}
		})
	}
}

// load serves all that is stored.
func (p *recordings) load(b *testing.B) (url string, took time.Duration, heap float64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	h := &mock.Handler{Recordings: mock.NewRecordings(p.db, mock.Masks())}
	for e, err := range p.db.Exchanges(context.Background(), transcript.Filter{Oldest: true}) {
		if err != nil {
			b.Fatal(err)
		}
		whole, err := p.db.Exchange(context.Background(), e.ID)
		if err == nil {
			err = h.Recordings.Add(context.Background(), whole)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	took = time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&after)
	return served(b, h), took, float64(after.HeapAlloc) - float64(before.HeapAlloc)
}

// askAll asks for a tenth of the recordings, and tells how long each answer took.
func askAll(b *testing.B, url string, of func(int) string) (waits []time.Duration) {
	for i := range manyRecordings / 10 {
		request := of(i * 7919 % manyRecordings)
		began := time.Now()
		resp, err := http.Post(url+chatPath, "application/json", strings.NewReader(request))
		if err != nil {
			b.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if waits = append(waits, time.Since(began)); err != nil || resp.StatusCode != 200 {
			b.Fatalf("%d %s %v", resp.StatusCode, answer, err)
		}
	}
	return waits
}

func served(b *testing.B, h *mock.Handler) string {
	server := httptest.NewServer(h)
	b.Cleanup(server.Close)
	return server.URL
}
