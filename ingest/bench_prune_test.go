//go:build unix

package ingest_test

import (
	"errors"
	"fmt"
	"io"
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
// RETAKE_BENCH_PRUNE is how many exchanges there are, RETAKE_BENCH_REMOVE how many
// go, if not half; in the folder RETAKE_BENCH_KEEP the databases are kept and taken
// from, since to make a large one takes minutes.
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
	made := pruneFile(b, size, indexed)
	if err := copyFile(made, path); err != nil {
		b.Fatal(err)
	}
	open := func() *store.DB { return openBench(b, path) }
	db := open()
	defer db.Close()
	c := &small{words: newWords(7), n: size}
	commit := func(count int) { c.commit(b, db, count) }
	other := open()
	defer other.Close()
	numbers := make([]int64, size/2)
	if n, err := strconv.Atoi(os.Getenv("RETAKE_BENCH_REMOVE")); err == nil {
		numbers = numbers[:min(n, len(numbers))]
	}
	for i := range numbers {
		numbers[i] = int64(i) + 1
	}
	done := make(chan struct{})
	var alone, beside []time.Duration
	used := processTime(b)
	for range 100 {
		time.Sleep(20 * time.Millisecond)
		alone = append(alone, timed(func() { commit(8) }))
	}
	aCommit := (processTime(b) - used) / 100
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
	began := time.Now()
	used = processTime(b)
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(20 * time.Millisecond):
			beside = append(beside, timed(func() { commit(8) }))
		}
	}
	b.ReportMetric(float64(time.Since(began).Microseconds())/float64(len(numbers)), "µs/removed")
	used = processTime(b) - used - aCommit*time.Duration(len(beside)) // without what the commits would have cost alone
	b.ReportMetric(float64(used.Microseconds())/float64(len(numbers)), "cpu-µs/removed")
	for name, took := range map[string][]time.Duration{"alone": alone, "beside": beside} {
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, name+"-p50-ms")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, name+"-p99-ms")
	}
	b.ReportMetric(float64(beside[len(beside)-1].Microseconds())/1000, "beside-max-ms")
}

// pruneFile makes a database of so many small exchanges, unless one was kept.
func pruneFile(b *testing.B, size int, indexed bool) string {
	dir := os.Getenv("RETAKE_BENCH_KEEP")
	if dir == "" {
		dir = b.TempDir()
	}
	path := filepath.Join(dir, fmt.Sprintf("prune-%d-%v.db", size, indexed))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	making := path + ".new"
	if indexed {
		if err := copyFile(pruneFile(b, size, false), making); err != nil {
			b.Fatal(err)
		}
	}
	db := openBench(b, making)
	if indexed {
		if _, err := ingest.Index(b.Context(), db); err != nil {
			b.Fatal(err)
		}
	} else {
		c := &small{words: newWords(5)}
		for c.n < size {
			c.commit(b, db, 256)
		}
	}
	if err := errors.Join(db.Close(), os.Rename(making, path)); err != nil {
		b.Fatal(err)
	}
	return path
}

func openBench(b *testing.B, path string) *store.DB {
	db, err := store.Open(path, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return db
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// small commits small exchanges, each a conversation of its own.
type small struct {
	ingest.Committer
	words *words
	n     int
}

func (c *small) commit(b *testing.B, db *store.DB, count int) {
	captures := make([]*transcript.Capture, count)
	for i := range captures {
		ask := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"%s"}]}`, c.words.text(300))
		answer := fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}]}`, c.n, c.words.text(100))
		captures[i] = capture(c.n, "/v1/chat/completions", ask, answer)
		c.n++
	}
	if _, err := c.Commit(b.Context(), db, captures); err != nil {
		b.Error(err)
	}
}

func timed(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}
