package search

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/retake-debugger/retake/transcript"
)

// missing returns a term of a query that the row of a text does not have.
func missing(t *testing.T, text string, q transcript.SearchQuery) (term string, asked bool) {
	t.Helper()
	query, err := queryOf(&q)
	if err != nil {
		return "", false
	}
	said := folded(&transcript.SearchText{Items: []transcript.SearchItem{{Text: "before"}, {Text: text}, {Text: "after"}}})
	row, words := rowText(said), strings.Split(rowWords(said), " ")
	if !utf8.ValidString(row) || strings.Contains(row, "\x00") {
		t.Fatalf("FTS5 does not read all of %q", row)
	}
	for _, one := range query.terms {
		switch {
		case query.table == "search_words" && !slices.Contains(words, one):
			return one, true
		case query.table == "search_terms" && utf8.RuneCountInString(one) != 3:
			t.Fatalf("%q is no trigram", one)
		case query.table == "search_terms" && !strings.Contains(row, one):
			return one, true
		}
	}
	return "", true
}

// queriesOf returns searches that find a text: for a part of it, for one of its words
// and for many.
func queriesOf(text string, from, length int) []transcript.SearchQuery {
	folded := transcript.Fold(text)
	from = min(from, len(text))
	queries := []transcript.SearchQuery{{Text: text[from:min(len(text), from+length)]}}
	if words := transcript.Words(folded); len(words) > 0 {
		queries = append(queries, transcript.SearchQuery{Text: words[from%len(words)], Words: true},
			transcript.SearchQuery{Text: strings.Join(words[:min(len(words), 40)], " "), Words: true})
	}
	return queries
}

// Whatever part of a text is looked for, and whichever of its words, its row has the
// terms.
func TestTerms_MissNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	letters := []rune("ab -語é\nA\"\x00İſK_")
	asked, passed := 0, 0
	for round := range 400 {
		runes := make([]rune, 1+r.IntN([]int{20, 200, 2000, 6000}[round%4]))
		for i := range runes {
			runes[i] = letters[r.IntN(len(letters))]
		}
		text := string(runes)
		from := r.IntN(len(runes))
		for _, q := range queriesOf(text, len(string(runes[:from])), len(string(runes[from:min(len(runes), from+1+r.IntN(300))]))) {
			one, ok := missing(t, text, q)
			if one != "" {
				t.Fatalf("the row of %q lacks %q of %+v", text, one, q)
			}
			if ok {
				asked++
			}
		}
		if one, _ := missing(t, text, transcript.SearchQuery{Text: "something else"}); one == "" {
			passed++
		}
	}
	if asked < 800 || passed > 0 {
		t.Errorf("%d queries had trigrams, %d rows have those of another text", asked, passed)
	}
}

func FuzzTerms(f *testing.F) {
	f.Add("The quick \"Brown\" fox", 4, 5)
	f.Add("a\x00b\xff\u00a0İıſK 数据 go", 0, 9)
	f.Fuzz(func(t *testing.T, text string, from, length int) {
		if from < 0 || length < 0 || length > 1000 {
			return
		}
		text = strings.ToValidUTF8(text, "\ufffd") // a query begins where a character does
		for from = min(from, len(text)); from > 0 && from < len(text) && !utf8.RuneStart(text[from]); from-- {
		}
		for to := from + length; to < len(text) && !utf8.RuneStart(text[to]); to = from + length {
			length--
		}
		for _, q := range queriesOf(text, from, length) {
			if one, _ := missing(t, text, q); one != "" {
				t.Errorf("the row of %q lacks %q of %+v", text, one, q)
			}
		}
	})
}

func TestQueryOf_ShortTexts(t *testing.T) {
	for _, q := range []transcript.SearchQuery{{Text: "ab"}, {Text: "語"}, {Text: "--", Words: true}} {
		if got, err := queryOf(&q); !errors.Is(err, transcript.ErrNoIndex) {
			t.Errorf("%q: %v, %v, want ErrNoIndex", q.Text, got, err)
		}
	}
	for _, word := range []string{"a", "go", "数据", "abc"} {
		if got, err := queryOf(&transcript.SearchQuery{Text: word, Words: true}); err != nil || !slices.Equal(got.terms, []string{word}) {
			t.Errorf("the word %s: %v, %v", word, got, err)
		}
	}
}

func TestMatch_TakesTermsThatLieFarApart(t *testing.T) {
	list := []string{"abc", `b"c`, "cde", "def", "efg"}
	for n, want := range map[int]string{8: `"abc" AND "b""c" AND "cde" AND "def" AND "efg"`, 5: `"abc" AND "b""c" AND "cde" AND "def" AND "efg"`, 3: `"abc" AND "cde" AND "efg"`, 2: `"abc" AND "efg"`} {
		if got := match(list, n); got != want {
			t.Errorf("%d of five: %s, want %s", n, got, want)
		}
	}
}
