package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// steps makes a run of so many steps that sends its whole history at each.
func steps(from, to int) []*transcript.Capture {
	var history []string
	var list []*transcript.Capture
	for i := range to {
		history = append(history, fmt.Sprintf(`{"role":"user","content":"question%04d %s"}`, i, strings.Repeat("more ", 100)))
		request := `{"model":"m","messages":[` + strings.Join(history, ",") + `]}`
		answer := fmt.Sprintf(`{"role":"assistant","content":"answer%04d"}`, i)
		history = append(history, answer)
		if i >= from {
			list = append(list, capture(i+1, "/v1/chat/completions", request,
				fmt.Sprintf(`{"id":"chatcmpl-%d","model":"m-1","choices":[{"index":0,"message":%s,"finish_reason":"stop"}]}`, i, answer)))
		}
	}
	return list
}

// searchable skips a build without a search index.
func searchable(t *testing.T, db *store.DB) {
	t.Helper()
	state, err := db.SearchState(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if state.Index {
		return
	}
	if _, err := ingest.Index(t.Context(), db); !errors.Is(err, transcript.ErrNoIndex) {
		t.Fatalf("index without an index: %v, want ErrNoIndex", err)
	}
	t.Skip("this build has no search index")
}

// count gives how many items of one side the index tells for a text, and fails if
// it tells one twice.
func count(t *testing.T, db *store.DB, text, body string) int {
	t.Helper()
	n, seen := 0, map[string]bool{}
	for it, err := range db.Search(t.Context(), transcript.SearchQuery{Text: text}) {
		if err != nil {
			t.Fatal(err)
		}
		place := fmt.Sprintf("x%d %s %s", it.Exchange, it.Body, it.At)
		if seen[place] {
			t.Errorf("%s is in the index twice", place)
		}
		seen[place] = true
		if it.Body == body {
			n++
		}
	}
	return n
}

func TestIndex_GoesOnWhereItStopped(t *testing.T) {
	db := mustOpen(t)
	searchable(t, db)
	const all = 150
	commit(t, db, steps(0, all)...)
	for stops := 0; ; stops++ {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(stops)*2*time.Millisecond, cancel)
		_, err := ingest.Index(ctx, db)
		cancel()
		if err == nil {
			break
		}
		if ctx.Err() == nil {
			t.Fatal(err)
		}
	}
	if n := count(t, db, "question", "request"); n != all {
		t.Errorf("%d questions are in the index, want %d", n, all)
	}
	if n := count(t, db, "answer", "response"); n != all {
		t.Errorf("%d answers are in the index, want %d", n, all)
	}
	if n, err := ingest.Index(t.Context(), db); n != 0 || err != nil {
		t.Errorf("%d exchanges indexed again (%v)", n, err)
	}
}

func TestIndex_TwoAtOnce(t *testing.T) {
	db := mustOpen(t)
	searchable(t, db)
	const all = 200
	commit(t, db, steps(0, all)...)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if _, err := ingest.Index(t.Context(), db); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if n := count(t, db, "question", "request"); n != all {
		t.Errorf("%d questions are in the index, want %d", n, all)
	}
}

func TestIndexer_FollowsWhatIsStored(t *testing.T) {
	db := mustOpen(t)
	searchable(t, db)
	ctx, stop := context.WithCancel(t.Context())
	var busy atomic.Bool
	busy.Store(true)
	x := &ingest.Indexer{Store: func(context.Context) (transcript.Store, error) { return db, nil }, Busy: busy.Load, Passing: func() bool { return true },
		Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	done := make(chan struct{})
	go func() {
		defer close(done)
		x.Run(ctx)
	}()
	commit(t, db, steps(0, 20)...)
	if n := x.Stats().Indexed; n != 0 {
		t.Errorf("%d exchanges indexed while traffic is busy", n)
	}
	busy.Store(false)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		state, err := db.SearchState(t.Context())
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the index lags %d behind (%v)", state.Lag, err)
		}
		if state.Lag == 0 {
			break
		}
	}
	commit(t, db, steps(20, 21)...) // alone it would wait for others
	stop()
	<-done
	if n := count(t, db, "question", "request"); n != 21 || x.Stats().Indexed != 21 || x.Stats().Failures != 0 {
		t.Errorf("%d questions, %+v; want 21 of each, no failures", n, x.Stats())
	}
}

func TestIndex_HistoryOutlivesTheExchangeThatBroughtIt(t *testing.T) {
	db := mustOpen(t)
	searchable(t, db)
	stored := commit(t, db, steps(0, 6)...)
	if _, err := ingest.Index(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, e := range stored[:3] {
		err := db.Update(t.Context(), func(tx transcript.Tx) error { return tx.DropTexts(e.ID) })
		if err != nil {
			t.Fatal(err)
		}
	}
	if n, err := ingest.Index(t.Context(), db); n != 1 || err != nil {
		t.Fatalf("%d exchanges indexed once more (%v), want x4", n, err)
	}
	if n := count(t, db, "question", "request"); n != 6 {
		t.Errorf("%d questions are in the index, want all 6: x4 resends those of x1 to x3", n)
	}
}

// Requests that begin with the same examples, and continue nothing recorded.
func examples(n int) *transcript.Capture {
	var list []string
	for i := range 12 {
		list = append(list, fmt.Sprintf(`{"role":"user","content":"example%04d question"},{"role":"assistant","content":"example%04d answer"}`, i, i))
	}
	request := fmt.Sprintf(`{"model":"m%d","messages":[{"role":"system","content":"Be brief."},%s,{"role":"user","content":"now%04d"}]}`, n%2, strings.Join(list, ","), n)
	return capture(n, "/v1/chat/completions", request,
		fmt.Sprintf(`{"id":"chatcmpl-%d","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"then%04d"},"finish_reason":"stop"}]}`, n, n))
}

func TestIndex_HistoryThatContinuesNothingIsKeptOnce(t *testing.T) {
	db := mustOpen(t)
	searchable(t, db)
	var stored []*transcript.Exchange
	check := func(when string, left int) {
		t.Helper()
		if _, err := ingest.Index(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if n := count(t, db, "example", "request"); n != 24 {
			t.Errorf("%s: %d examples are in the index, want 24", when, n)
		}
		if n := count(t, db, "now", "request"); n != left {
			t.Errorf("%s: %d questions are in the index, want %d", when, n, left)
		}
	}
	for n := range 8 { // some are indexed together, some one after the other
		stored = append(stored, commit(t, db, examples(n+1))...)
		if n%3 == 0 {
			check("index", n+1)
		}
	}
	check("index", 8)
	for i, e := range stored[:7] {
		plan, err := db.Plan(t.Context(), store.Selection{Numbers: []int64{e.N}})
		if err == nil {
			_, err = db.Prune(t.Context(), plan, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		check("prune", 7-i)
	}
	if err := db.Update(t.Context(), func(tx transcript.Tx) error { return tx.DropAllTexts() }); err != nil {
		t.Fatal(err)
	}
	check("reindex", 1)
}
