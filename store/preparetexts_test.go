package store_test

import (
	"path/filepath"
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
