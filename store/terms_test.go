package store

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/transcript"
)

func TestInnerWords_AreWholeWordsOfEveryTextAround(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	letters := []rune("abÉ語_7 -\n\ufffd")
	inner := 0
	for range 5000 {
		text := make([]rune, 1+r.IntN(40))
		for i := range text {
			text[i] = letters[r.IntN(len(letters))]
		}
		start := r.IntN(len(text))
		part := transcript.Fold(string(text[start : start+r.IntN(len(text)-start+1)]))
		words := transcript.Words(transcript.Fold(string(text)))
		for _, word := range innerWords(part) {
			if inner++; !slices.Contains(words, word) {
				t.Fatalf("%q is no word of %q, of which %q is a part", word, string(text), part)
			}
		}
	}
	if inner < 1000 {
		t.Errorf("only %d inner words in 5000 texts", inner)
	}
}

// What stands for a word is in files: it must stay.
func TestWordTerm_Stays(t *testing.T) {
	got := map[string]string{}
	for _, word := range []string{"", "a", "error", "数据库"} {
		got[word] = wordTerm(word)
	}
	want := map[string]string{"": "\ue1001cd9", "a": "\ue100cd20", "error": "\ue100a6c0", "数据库": "\ue100bed6"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("terms (-want +got):\n%s", diff)
	}
}

// Texts that were indexed when words had no terms are found beside those that
// have them, in their order.
func TestSearch_TextsWithoutTermsOfWords(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "t.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const said = "the error of a-profile is here"
	put := func(numbers ...int64) {
		t.Helper()
		err := db.Update(t.Context(), func(tx transcript.Tx) error {
			for _, n := range numbers {
				e := &transcript.Exchange{ID: string(rune('a' + n)), Method: "POST", Outcome: transcript.OK}
				if err := tx.PutExchange(e); err != nil {
					return err
				}
				item := transcript.SearchItem{Exchange: e.N, Body: "request", At: "/0", Kind: transcript.MessageItem, Text: said}
				if _, err := tx.PutTexts(transcript.SearchTexts{Exchanges: []transcript.Unindexed{{N: e.N}}, Texts: []transcript.SearchText{{Items: []transcript.SearchItem{item}}}, Last: true}); err != nil {
					return err
				}
			}
			return nil
		})
		if errors.Is(err, transcript.ErrNoIndex) {
			t.Skip("this build has no search index")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put(1, 2)
	var old terms
	old.seen = map[[termRunes]rune]bool{}
	old.add(said + " ")
	for _, query := range []string{"DELETE FROM search_term", "INSERT INTO search_term (rowid, terms) SELECT id, '" + string(old.out) + "' FROM search_text", "UPDATE search_state SET words_from = next"} {
		if err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	put(3, 4)
	tests := map[string]struct {
		q    transcript.SearchQuery
		want []int64
	}{
		"a part with an inner word":       {transcript.SearchQuery{Text: "rror of a-prof"}, []int64{4, 3, 2, 1}},
		"a word":                          {transcript.SearchQuery{Text: "error", Words: true}, []int64{4, 3, 2, 1}},
		"words":                           {transcript.SearchQuery{Text: "here profile", Words: true}, []int64{4, 3, 2, 1}},
		"a part of a word":                {transcript.SearchQuery{Text: "prof"}, []int64{4, 3, 2, 1}},
		"no word, where words have terms": {transcript.SearchQuery{Text: "prof", Words: true}, []int64{2, 1}}, // is read and left out
		"nothing":                         {transcript.SearchQuery{}, []int64{4, 3, 2, 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []int64
			for it, err := range db.Search(t.Context(), tt.q) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, it.Exchange)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("exchanges (-want +got):\n%s", diff)
			}
		})
	}
}
