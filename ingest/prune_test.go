package ingest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// Whatever is removed, what is kept is derived again as it is stored, and new
// exchanges are taken in.
func TestReindex_OfWhatAPruneHasLeft(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			db := mustOpen(t)
			variety(t, db)
			findable(t, db)
			r := rand.New(rand.NewPCG(seed, 1))
			var numbers []int64
			newest := int64(len(everything(t, db).Exchanges))
			for n := int64(1); n <= newest; n++ {
				if r.IntN(4) < int(seed%4) || seed < 4 && n <= int64(seed)*6 {
					numbers = append(numbers, n)
				}
			}
			plan, err := db.Plan(t.Context(), store.Selection{Numbers: numbers})
			if err == nil {
				_, err = db.Prune(t.Context(), plan, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			want := everything(t, db)
			verified(t, db)
			findable(t, db)
			if did := reindexAll(t, db); did.Changed != 0 {
				t.Errorf("%+v after removing %v", did, numbers)
			}
			same(t, everything(t, db), want)
			spoilt := len(want.Exchanges)
			for _, e := range want.Exchanges { // as another version might have derived it
				bad := *e
				bad.Dialect, bad.Usage, bad.Preview, bad.Calls = "old", nil, "old", 9
				calls, err := db.Calls(t.Context(), []string{e.ID})
				if err != nil {
					t.Fatal(err)
				}
				brought, err := db.IntroducedResults(t.Context(), e.ID)
				if err != nil {
					t.Fatal(err)
				}
				if err := db.Update(t.Context(), func(tx transcript.Tx) error { return tx.PutDerived(&bad, calls, brought) }); err != nil {
					t.Fatal(err)
				}
			}
			if did := reindexAll(t, db); did.Changed != int64(spoilt) {
				t.Errorf("%+v, want %d changes", did, spoilt)
			}
			same(t, everything(t, db), want)
			// Results for calls that are gone, histories whose beginning is gone.
			later := commit(t, db, capture(91, "/v1/chat/completions", chatReply, chatAnswer), capture(92, "/v1/chat/completions", chatAsk, chatCall),
				capture(93, "/v1/chat/completions", chatReply, chatAnswer),
				capture(94, "/v1/responses", `{"model":"m","previous_response_id":"resp_2","input":"More"}`, `{"id":"resp_9","object":"response","status":"completed","output":[]}`))
			if l := later[2].Link; l.Parent == "" {
				t.Errorf("link = %+v", l)
			}
			for _, c := range everything(t, db).Calls {
				for _, r := range c.Results {
					if _, err := db.Exchange(t.Context(), r.Exchange); errors.Is(err, transcript.ErrNotFound) {
						t.Errorf("a result of %s, which is gone", r.Exchange)
					}
				}
			}
			verified(t, db)
			findable(t, db)
		})
	}
}

// findable indexes what is not and looks every exchange up that says one word.
func findable(t *testing.T, db *store.DB) {
	t.Helper()
	if _, err := ingest.Index(t.Context(), db); errors.Is(err, transcript.ErrNoIndex) {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	found := map[int64]bool{}
	for item, err := range db.Search(t.Context(), transcript.SearchQuery{Text: "weather"}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExchangeN(t.Context(), item.Exchange); err != nil {
			t.Errorf("an item of x%d: %v", item.Exchange, err)
		}
		found[item.Exchange] = true
	}
	for _, e := range everything(t, db).Exchanges {
		if e.ResponseID == "chatcmpl-1" && e.Calls == 2 && !found[e.N] {
			t.Errorf("the call in the answer of x%d is not found", e.N)
		}
	}
}
