package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// tidyTexts takes all steps, and says how many there were.
func tidyTexts(t *testing.T, db *store.DB) (steps int) {
	t.Helper()
	for more := true; more; steps++ {
		err := db.Update(t.Context(), func(tx transcript.Tx) (err error) {
			more, err = tx.TidyTexts()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if steps > 1000 {
			t.Fatal("there is no end to it")
		}
	}
	return steps
}

// A tidy index tells the same, also when exchanges were removed before, or come
// while it is being tidied.
func TestTidyTexts_TellsTheSame(t *testing.T) {
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := rand.New(rand.NewPCG(41, 42))
	if items := indexExchanges(t, db, r, 20); len(items) == 0 {
		t.Fatal("nothing was indexed")
	}
	if n := tidyTexts(t, db); n != 1 {
		t.Errorf("%d steps to tidy a small index, want none but a look", n)
	}
	put := func(from, to int) {
		t.Helper()
		for n := from; n < to; n++ {
			err := db.Update(t.Context(), func(tx transcript.Tx) error {
				e := example(n)
				if err := tx.PutExchange(e); err != nil {
					return err
				}
				text := fmt.Sprintf("needle%d of %d %x", n%7, n, r.Uint64())
				_, err := tx.PutTexts(transcript.SearchTexts{Exchanges: []transcript.Unindexed{{N: e.N}}, Last: true,
					Texts: []transcript.SearchText{{Items: []transcript.SearchItem{{Exchange: e.N, Body: "request", At: "/0", Text: text}}}}})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	found := func() (all [][]int64) {
		t.Helper()
		for n := range 7 {
			var list []int64
			for it, err := range db.Search(t.Context(), transcript.SearchQuery{Text: fmt.Sprintf("NEEDLE%d of", n)}) {
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, it.Exchange)
			}
			all = append(all, list)
		}
		return all
	}
	put(1000, 1700)
	for n := 1100; n < 1200; n++ {
		err := db.Update(t.Context(), func(tx transcript.Tx) error { return tx.DropTexts(example(n).ID) })
		if err != nil && !errors.Is(err, transcript.ErrNotFound) {
			t.Fatal(err)
		}
	}
	want := found()
	if len(slices.Concat(want...)) != 600 {
		t.Fatalf("%d hits, want 600", len(slices.Concat(want...)))
	}
	err = db.Update(t.Context(), func(tx transcript.Tx) error { _, err := tx.TidyTexts(); return err })
	if err != nil {
		t.Fatal(err)
	}
	put(2000, 2007)
	steps := tidyTexts(t, db)
	got := found()
	for i := range got {
		got[i] = slices.DeleteFunc(got[i], func(n int64) bool { return n > 720 }) // came meanwhile
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("after %d steps (-before +after):\n%s", steps, diff)
	}
	if n := tidyTexts(t, db); n != 1 {
		t.Errorf("%d steps to tidy a tidy index, want none but a look", n)
	}
}
