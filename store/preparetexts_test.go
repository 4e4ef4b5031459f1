package store_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

// What changes between the preparing of texts and the transaction that stores them
// changes nothing of what a search finds.
func TestPrepareTexts_WhatOthersKeepMeanwhile(t *testing.T) {
	for _, meanwhile := range []string{"nothing", "the same is kept", "the same is dropped"} {
		t.Run(meanwhile, func(t *testing.T) {
			db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			update := func(f func(tx transcript.Tx) error) {
				t.Helper()
				if err := db.Update(t.Context(), f); err != nil {
					t.Fatal(err)
				}
			}
			texts := func(n int64) transcript.SearchTexts {
				item := func(at, text string) []transcript.SearchItem {
					return []transcript.SearchItem{{Exchange: n, Body: "request", At: at, Kind: transcript.System, Text: text}}
				}
				return transcript.SearchTexts{Exchanges: []transcript.Unindexed{{N: n}}, Last: true, Texts: []transcript.SearchText{
					{Items: item("/0", "before it")}, {Items: item("/1", "a setting"), Same: transcript.Key{7}},
					{Items: item("/2", "a setting"), Same: transcript.Key{7}}, {Items: item("/3", "behind it")}}}
			}
			put := func(p transcript.SearchTexts) {
				t.Helper()
				update(func(tx transcript.Tx) error {
					ok, err := tx.PutTexts(p)
					if err == nil && !ok {
						t.Error("nothing was done")
					}
					return err
				})
			}
			update(func(tx transcript.Tx) error {
				for n := range 3 {
					if err := tx.PutExchange(example(n + 1)); err != nil {
						return err
					}
				}
				return nil
			})
			if meanwhile == "the same is dropped" {
				put(texts(1))
			}
			p := texts(2)
			if err := db.PrepareTexts(t.Context(), &p); err != nil {
				t.Fatal(err)
			}
			switch meanwhile {
			case "the same is kept":
				put(texts(1))
			case "the same is dropped":
				update(func(tx transcript.Tx) error { return tx.DropTexts(example(1).ID) })
			}
			put(p)
			for _, text := range []string{"before it", "a setting", "behind it"} {
				found := 0
				for it, err := range db.Search(t.Context(), transcript.SearchQuery{Text: text}) {
					if err != nil {
						t.Fatal(err)
					}
					if it.Exchange == 2 || it.Again > 0 {
						found++
					}
				}
				if found != 1 {
					t.Errorf("%q is found %d times", text, found)
				}
			}
		})
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
	if err := db.PrepareTexts(t.Context(), &p); err != nil {
		t.Fatal(err)
	}
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
