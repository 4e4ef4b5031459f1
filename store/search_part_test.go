package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// Of an exchange that was indexed in part, and then another one that is indexed
// once more came first, nothing is told twice.
func TestPutTexts_PartThatWasBrokenOffIsNotToldTwice(t *testing.T) {
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	text := func(n int64, at string) transcript.SearchText {
		return transcript.SearchText{Items: []transcript.SearchItem{{Exchange: n, Body: "request", At: at, Text: "the needle " + at}}}
	}
	put := func(p transcript.SearchTexts) {
		t.Helper()
		err := db.Update(t.Context(), func(tx transcript.Tx) error {
			ok, err := tx.PutTexts(p)
			if err == nil && !ok {
				t.Fatal("nothing was done")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err = db.Update(t.Context(), func(tx transcript.Tx) error {
		for n := 1; n <= 2; n++ {
			if err := tx.PutExchange(example(n)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	first, second := []transcript.Unindexed{{N: 1}}, []transcript.Unindexed{{N: 2}}
	put(transcript.SearchTexts{Exchanges: first, Texts: []transcript.SearchText{text(1, "/0")}, Last: true})
	put(transcript.SearchTexts{Exchanges: second, Texts: []transcript.SearchText{text(2, "/0")}}) // and stopped
	if err := db.Exec("INSERT INTO search_again VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	put(transcript.SearchTexts{Exchanges: []transcript.Unindexed{{N: 1, Whole: true}}, Texts: []transcript.SearchText{text(1, "/0")}, Last: true})
	put(transcript.SearchTexts{Exchanges: second, Texts: []transcript.SearchText{text(2, "/0"), text(2, "/1")}, Last: true})
	got := map[string]int{}
	for it, err := range db.Search(t.Context(), transcript.SearchQuery{Text: "needle"}) {
		if err != nil {
			t.Fatal(err)
		}
		got[fmt.Sprintf("x%d %s", it.Exchange, it.At)]++
	}
	for place, n := range got {
		if n != 1 {
			t.Errorf("%s is told %d times", place, n)
		}
	}
	if len(got) != 3 {
		t.Errorf("found %v, want 3 places", got)
	}
}

// What was read of an exchange that is pruned before its texts are stored stays out
// of the index, and the others are indexed all the same.
func TestPutTexts_OfWhatWasPrunedMeanwhile(t *testing.T) {
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	texts := func(numbers ...int64) transcript.SearchTexts {
		p := transcript.SearchTexts{Last: true}
		for _, n := range numbers {
			p.Exchanges = append(p.Exchanges, transcript.Unindexed{N: n})
			p.Texts = append(p.Texts, transcript.SearchText{Items: []transcript.SearchItem{{Exchange: n, Body: "request", At: "/0", Kind: transcript.System, Text: "secret"}}})
		}
		return p
	}
	put := func(p transcript.SearchTexts) (ok bool) {
		t.Helper()
		if err := db.Update(t.Context(), func(tx transcript.Tx) (err error) {
			ok, err = tx.PutTexts(p)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if err := db.Update(t.Context(), func(tx transcript.Tx) error {
		return errors.Join(tx.PutExchange(example(1)), tx.PutExchange(example(2)), tx.PutExchange(example(3)))
	}); err != nil {
		t.Fatal(err)
	}
	p := texts(1, 2, 3)
	plan, err := db.Plan(t.Context(), store.Selection{Numbers: []int64{2}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Prune(t.Context(), plan, nil); err != nil {
		t.Fatal(err)
	}
	if put(p) {
		t.Error("texts of a pruned exchange were taken in")
	}
	left, err := db.Unindexed(t.Context(), 10)
	if err != nil || len(left) != 2 || !put(texts(left[0].N, left[1].N)) {
		t.Fatalf("to be indexed: %v, %v", left, err)
	}
	var found []int64
	for it, err := range db.Search(t.Context(), transcript.SearchQuery{Text: "secret"}) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, it.Exchange)
	}
	if !slices.Equal(found, []int64{3, 1}) {
		t.Errorf("found in %v", found)
	}
}
