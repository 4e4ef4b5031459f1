package web_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web"
)

// setting returns a number that the environment may set.
func setting(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return usual
}

// BenchmarkRunsPage opens lists of many runs of four steps each: RETAKE_BENCH_RUNS
// says of how many.
func BenchmarkRunsPage(b *testing.B) {
	db, err := store.Open(filepath.Join(b.TempDir(), "many.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	runs := setting("RETAKE_BENCH_RUNS", 100_000)
	for done := 0; done < runs; {
		if err := db.Update(b.Context(), func(tx transcript.Tx) error {
			for range min(2000, runs-done) {
				if err := putRun(tx, done); err != nil {
					return err
				}
				done++
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	h := web.New(options(db))
	for _, target := range []string{"/", "/?before=50000", "/?q=model:opus", "/?q=tool:bash", "/?q=outcome:http_error", "/?q=since:2100-01-01", "/exchanges"} {
		b.Run(strings.ReplaceAll(target, "/", "_"), func(b *testing.B) { serve(b, h, target) })
	}
}

// putRun stores a short run, of which a step may have failed.
func putRun(tx transcript.Tx, number int) error {
	at := time.Unix(1_700_000_000, 0).Add(time.Duration(number) * time.Minute)
	run, err := tx.NewRun(at)
	if err != nil {
		return err
	}
	a := &transcript.Agent{Run: run.ID, Main: true, Evidence: "first message of a new run"}
	if err := tx.PutAgent(a); err != nil {
		return err
	}
	before := ""
	for step := range 4 {
		n := 4*number + step
		e := &transcript.Exchange{
			ID: fmt.Sprintf("0196%04x-%04x-7000-8000-%012x", n>>16, n&0xffff, uint64(n)*0x9e3779b97f4a&0xffffffffffff), StartedAt: at.Add(time.Duration(step) * 10 * time.Second), EndedAt: at.Add(time.Duration(step)*10*time.Second + 8*time.Second),
			Upstream: "anthropic", Method: "POST", URL: "https://api.anthropic.com/v1/messages", Status: 200, Outcome: transcript.OK,
			Timing: transcript.Timing{FirstByte: 1e8, Duration: 8e9}, Dialect: transcript.Messages, Complete: true, FinishReason: "tool_use", Model: "claude-opus-5-5", Calls: 1, Preview: fmt.Sprintf("Fix the failing test %d", number),
			Usage: &transcript.Usage{InputTotal: 5000, InputUncached: 50, CacheRead: 4950, Output: 30, Total: 5030, Complete: true},
			Link:  transcript.Link{Run: a.Run, Agent: a.ID, Step: step + 1, Attempt: 1, Parent: before, InLen: 2*step + 1, OutLen: 2*step + 2, Shared: 2 * step},
		}
		if n%77 == 0 {
			e.Outcome, e.Status, e.Calls = transcript.HTTPError, 529, 0
		}
		if err := tx.PutExchange(e); err != nil {
			return err
		}
		if err := tx.PutCall(transcript.CallRow{Exchange: e.ID, At: "/content/0", CallID: fmt.Sprint("toolu_", n), Name: "bash"}); err != nil {
			return err
		}
		before = e.ID
	}
	return nil
}

// BenchmarkLongRunPage opens pages of a run of 5,000 steps, in the database that
// RETAKE_BENCH_LONG names (cmd/inspect's BenchmarkLong makes it).
func BenchmarkLongRunPage(b *testing.B) {
	path := os.Getenv("RETAKE_BENCH_LONG")
	if path == "" {
		b.Skip("RETAKE_BENCH_LONG names no database")
	}
	db, err := store.Open(path, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	h := web.New(options(db))
	for _, target := range []string{"/r/1", "/r/1?from=2500", "/r/1?from=4900", "/r/1/findings", "/r/1/calls", "/r/1/time", "/x/1", "/x/5000"} {
		b.Run(strings.ReplaceAll(target, "/", "_"), func(b *testing.B) { serve(b, h, target) })
	}
}

func serve(b *testing.B, h http.Handler, target string) {
	size := 0
	for b.Loop() {
		w := ask(h, "GET", target)
		if size = w.Body.Len(); w.Code != http.StatusOK {
			b.Fatalf("%s: status %d: %.200s", target, w.Code, w.Body)
		}
	}
	b.ReportMetric(float64(size), "bytes/page")
}
