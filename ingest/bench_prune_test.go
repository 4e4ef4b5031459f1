//go:build unix

package ingest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// BenchmarkPrune removes the older half of small exchanges, as another process
// would, while a recorder commits eight every 20 ms. It tells how long those commits
// took, and how long such commits take alone, with and without a search index.
// RETAKE_BENCH_PRUNE is how many exchanges there are.
func BenchmarkPrune(b *testing.B) {
	sizes := []int{2000, 16_000}
	if n, err := strconv.Atoi(os.Getenv("RETAKE_BENCH_PRUNE")); err == nil {
		sizes = []int{n}
	}
	for _, size := range sizes {
		for _, indexed := range []bool{true, false} {
			b.Run(fmt.Sprintf("exchanges=%d/indexed=%v", size, indexed), func(b *testing.B) {
				for range b.N {
					prune(b, size, indexed)
				}
			})
		}
	}
}

func prune(b *testing.B, size int, indexed bool) {
	b.StopTimer()
	path := filepath.Join(b.TempDir(), "t.db")
	open := func() *store.DB {
		db, err := store.Open(path, store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		return db
	}
	db, w := open(), newWords(5)
	defer db.Close()
	var committer ingest.Committer
	n := 0
	commit := func(count int) {
		captures := make([]*transcript.Capture, count)
		for i := range captures {
			ask := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"%s"}]}`, w.text(300))
			answer := fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}]}`, n, w.text(100))
			captures[i] = capture(n, "/v1/chat/completions", ask, answer)
			n++
		}
		if _, err := committer.Commit(b.Context(), db, captures); err != nil {
			b.Error(err)
		}
	}
	for n < size {
		commit(256)
	}
	if indexed {
		if _, err := ingest.Index(b.Context(), db); err != nil {
			b.Skip(err)
		}
	}
	other := open()
	defer other.Close()
	numbers := make([]int64, size/2)
	for i := range numbers {
		numbers[i] = int64(i) + 1
	}
	done := make(chan struct{})
	var alone, beside []time.Duration
	for range 100 {
		time.Sleep(20 * time.Millisecond)
		alone = append(alone, timed(func() { commit(8) }))
	}
	go func() {
		defer close(done)
		began := time.Now()
		plan, err := other.Plan(b.Context(), store.Selection{Numbers: numbers})
		planned := time.Since(began)
		var steps []string
		if err == nil {
			step, since := "", time.Now()
			_, err = other.Prune(b.Context(), plan, func(p store.PruneProgress) {
				if p.Step != step {
					steps = append(steps, fmt.Sprintf("%s %v", step, time.Since(since).Round(time.Millisecond)))
					step, since = p.Step, time.Now()
				}
			})
			steps = append(steps, fmt.Sprintf("%s %v", step, time.Since(since).Round(time.Millisecond)))
		}
		if err != nil {
			b.Error(err)
		}
		b.Logf("plan %v, until each step:%v", planned, steps)
	}()
	b.StartTimer()
	began, used := time.Now(), processTime(b)
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(20 * time.Millisecond):
			beside = append(beside, timed(func() { commit(8) }))
		}
	}
	b.ReportMetric(float64(time.Since(began).Microseconds())/float64(len(numbers)), "µs/removed")
	b.ReportMetric(float64((processTime(b)-used).Microseconds())/float64(len(numbers)), "cpu-µs/removed")
	for name, took := range map[string][]time.Duration{"alone": alone, "beside": beside} {
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, name+"-p50-ms")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, name+"-p99-ms")
	}
	b.ReportMetric(float64(beside[len(beside)-1].Microseconds())/1000, "beside-max-ms")
}

func timed(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}
