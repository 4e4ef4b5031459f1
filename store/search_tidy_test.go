package store_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// tidyTexts takes all steps, calls between after each, and returns how many there
// were.
func tidyTexts(t *testing.T, db *store.DB, between func()) (steps int) {
	t.Helper()
	for more := true; more; steps++ {
		err := db.Update(t.Context(), func(tx transcript.Tx) (err error) {
			more, err = tx.TidyTexts()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if between != nil {
			between()
		}
		if steps > 5000 {
			t.Fatal("there is no end to it")
		}
	}
	return steps
}

// needles indexes exchanges from one number to another, each alone: one of seven
// needles and 1,000 random bytes of each.
func needles(t *testing.T, db *store.DB, r *rand.Rand, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		err := db.Update(t.Context(), func(tx transcript.Tx) error {
			e := example(n)
			if err := tx.PutExchange(e); err != nil {
				return err
			}
			text := fmt.Sprintf("needle%d of %d", n%7, n)
			for range 60 {
				text += fmt.Sprintf(" %x", r.Uint64())
			}
			_, err := tx.PutTexts(transcript.SearchTexts{Exchanges: []transcript.Unindexed{{N: e.N}}, Last: true,
				Texts: []transcript.SearchText{{Items: []transcript.SearchItem{{Exchange: e.N, Body: "request", At: "/0", Text: text}}}}})
			if err == nil && n%50 == 0 {
				_, err = tx.TidyTexts()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// foundNeedles returns the exchanges that a search for each needle finds.
func foundNeedles(t *testing.T, db *store.DB) (all [][]int64) {
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

func dropTexts(t *testing.T, db *store.DB, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		if err := db.Update(t.Context(), func(tx transcript.Tx) error { return tx.DropTexts(example(n).ID) }); err != nil {
			t.Fatal(err)
		}
	}
}

// After every step of tidying a search finds the same, newest first.
func TestTidyTexts_EveryStepTellsTheSame(t *testing.T) {
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := rand.New(rand.NewPCG(41, 42))
	needles(t, db, r, 1, 450)
	dropTexts(t, db, 100, 200)
	want := foundNeedles(t, db)
	if n := len(slices.Concat(want...)); n != 349 {
		t.Fatalf("%d hits, want 349", n)
	}
	for _, list := range want {
		if !slices.IsSortedFunc(list, func(a, b int64) int { return int(b - a) }) {
			t.Errorf("not newest first: %v", list)
		}
	}
	steps := tidyTexts(t, db, func() {
		if diff := gocmp.Diff(want, foundNeedles(t, db)); diff != "" {
			t.Fatalf("(-before +after):\n%s", diff)
		}
	})
	if steps < 3 {
		t.Errorf("%d steps", steps)
	}
	if n := tidyTexts(t, db, nil); n != 1 {
		t.Errorf("%d steps to tidy a tidy index, want none but a look", n)
	}
	if n := number(t, db, segments); n > 12 {
		t.Errorf("%d segments are left", n)
	}
}

// segments counts the segments that a search has to ask.
const segments = "SELECT count(DISTINCT segid) FROM search_terms_idx"

// What comes while segments are being merged, and what goes, is found and not found.
func TestTidyTexts_BesideWriters(t *testing.T) {
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := rand.New(rand.NewPCG(43, 44))
	needles(t, db, r, 1, 700)
	next, gone := 700, 1
	tidyTexts(t, db, func() {
		if next < 760 {
			needles(t, db, r, next, next+3)
			dropTexts(t, db, gone, gone+5)
			next, gone = next+3, gone+5
		}
	})
	got := slices.Concat(foundNeedles(t, db)...)
	slices.Sort(got)
	var want []int64
	for n := gone; n < next; n++ {
		want = append(want, int64(n))
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A search that goes on while the segments that it asks are merged finds all.
func TestSearch_WhileSegmentsAreMerged(t *testing.T) {
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	needles(t, db, rand.New(rand.NewPCG(45, 46)), 1, 60)
	var got []int64
	for it, err := range db.Search(t.Context(), transcript.SearchQuery{Text: "needle"}) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, it.Exchange); len(got) == 2 {
			tidyTexts(t, db, nil)
		}
	}
	if len(got) != 59 || !slices.IsSortedFunc(got, func(a, b int64) int { return int(b - a) }) {
		t.Errorf("%d of 59 are found: %v", len(got), got)
	}
}

// What goes leaves nothing behind.
func TestTidyTexts_GivesBackWhatIsGone(t *testing.T) {
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := rand.New(rand.NewPCG(47, 48))
	needles(t, db, r, 1, 1500)
	tidyTexts(t, db, nil)
	const size = "SELECT sum(length(block)) FROM search_terms_data"
	whole := number(t, db, size)
	dropTexts(t, db, 200, 1500)
	tidyTexts(t, db, nil)
	if left := number(t, db, size); left > whole/4 {
		t.Errorf("%d bytes of %d are left of 199 of 1499", left, whole)
	}
	if n := len(slices.Concat(foundNeedles(t, db)...)); n != 199 {
		t.Errorf("%d hits, want 199", n)
	}
	dropTexts(t, db, 1, 200)
	tidyTexts(t, db, nil)
	if left := number(t, db, size); left > 200 {
		t.Errorf("%d bytes are left of nothing", left)
	}
}

// Exchanges that were indexed once more come before later ones in the index, and at
// their place among all in what a search finds.
func TestSearch_PutsWhatWasIndexedOnceMoreInOrder(t *testing.T) {
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := rand.New(rand.NewPCG(49, 50))
	needles(t, db, r, 1, 20)
	for n := 20; n < 60; n++ {
		needles(t, db, r, n, n+1)
		old := int64(n - 19)
		if err := db.Exec(fmt.Sprintf("INSERT INTO search_again VALUES (%d)", old)); err != nil {
			t.Fatal(err)
		}
		err := db.Update(t.Context(), func(tx transcript.Tx) error {
			_, err := tx.PutTexts(transcript.SearchTexts{Exchanges: []transcript.Unindexed{{N: old, Whole: true}}, Last: true,
				Texts: []transcript.SearchText{{Items: []transcript.SearchItem{{Exchange: old, Body: "request", At: "/0", Text: fmt.Sprintf("needle%d of %d", old%7, old)}}}}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	look := func() {
		t.Helper()
		for _, list := range foundNeedles(t, db) {
			if !slices.IsSortedFunc(list, func(a, b int64) int { return int(b - a) }) {
				t.Fatalf("not newest first: %v", list)
			}
		}
		if n := len(slices.Concat(foundNeedles(t, db)...)); n != 59 {
			t.Fatalf("%d hits, want 59", n)
		}
	}
	look()
	tidyTexts(t, db, look)
	dropTexts(t, db, 20, 60)
	tidyTexts(t, db, nil)
	if n := len(slices.Concat(foundNeedles(t, db)...)); n != 19 {
		t.Errorf("%d hits when the newest are gone, want 19", n)
	}
	dropTexts(t, db, 1, 20)
	tidyTexts(t, db, nil)
	if n := number(t, db, "SELECT count(*) FROM search_text"); n != 0 {
		t.Errorf("%d texts are left of nothing", n)
	}
}
