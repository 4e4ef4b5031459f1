package view_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// What replays of a run said again is told with the original, what they said otherwise
// once, and what the run itself said twice is found twice.
func TestFind_FoldsWhatReplaysSaidAgain(t *testing.T) {
	const (
		url   = "https://api.example.com/v1/chat/completions"
		first = `{"model":"m","messages":[{"role":"user","content":"go"}`
		more  = first + `,{"role":"assistant","content":"where?"},{"role":"user","content":"out"}]}`
	)
	said := func(text string) string {
		return `{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"` + text + `"},"finish_reason":"stop"}]}`
	}
	db, _ := recordSent(t, sent{url, first + `]}`, said("where?")},
		sent{url, more, said("it is sunny")}, sent{url, more, said("it is sunny")}, // again by hand
		sent{url, more, said("it is sunny")}, sent{url, more, said("not sunny")}, sent{url, more, said("not sunny")}, sent{url, more, said("it is sunny")})
	var ids []string
	for n := range int64(7) {
		e, err := db.ExchangeN(t.Context(), n+1)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	for i, exchange := range ids[3:] {
		if err := db.Update(t.Context(), func(tx transcript.Tx) error {
			return tx.PutTake(&transcript.Take{ID: fmt.Sprint(i), Origin: ids[1], Mode: transcript.Once, Edits: "[]", CreatedAt: time.Unix(1, 0), Outcome: transcript.OK,
				Steps: []transcript.TakeStep{{Exchange: exchange, Step: 1, Attempt: 1}}})
		}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"x6, of a replay, +1", "x3, +2", "x2, +0"}
	check := func(how string, r transcript.Reader) {
		var got []string
		for _, h := range find(t, r, text("sunny")).Hits {
			what := h.Ref()
			if h.Replay {
				what += ", of a replay"
			}
			got = append(got, fmt.Sprintf("%s, +%d", what, h.Replays))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", how, diff)
		}
	}
	check("unindexed", db)
	if index(t, db) {
		check("indexed", db)
	}
	check("no index", noIndex{db})
	if each := find(t, db, view.Search{SearchQuery: transcript.SearchQuery{Text: "sunny"}, Each: true}); len(each.Hits) != 6 {
		t.Errorf("%d hits where each counts, want 6", len(each.Hits))
	}
	if best := find(t, db, view.Search{SearchQuery: transcript.SearchQuery{Text: "sunny"}, Best: true}); len(best.Hits) != len(want) {
		t.Errorf("%d best hits, want %d", len(best.Hits), len(want))
	}
}
