package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

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

// A block of which a row is gone, as in a damaged file, ends a search with an error,
// not never.
func TestSearch_RowOfABlockIsLost(t *testing.T) {
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	needles(t, db, rand.New(rand.NewPCG(51, 52)), 1, 30)
	if err := db.Exec("DELETE FROM search_row WHERE id >> 16 = (SELECT min(id) + 3 FROM search_block)"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var last error
	for _, err := range db.Search(ctx, transcript.SearchQuery{Text: "needle"}) {
		last = err
	}
	if last == nil || ctx.Err() != nil {
		t.Errorf("the search ends with %v", last)
	}
	// Nor is it joined to others as if that row had told nothing.
	err = nil
	for more := true; more && err == nil; {
		err = db.Update(t.Context(), func(tx transcript.Tx) (err error) {
			more, err = tx.TidyTexts(true)
			return err
		})
	}
	if err == nil {
		t.Error("the block is joined")
	}
}
