package store

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/transcript"
)

// What stands for characters and words is in files: it must stay.
func TestTerms_Stay(t *testing.T) {
	got := map[string]term{}
	for _, text := range []string{"text", "a\n b", "数据库连", "ÿé\x00x"} {
		eachStretch(text, func(one term) { got[text] = one })
	}
	for _, word := range []string{"", "a", "error", "数据库"} {
		got["word "+word] = wordTerm(word)
	}
	want := map[string]term{
		"text": 1051988852, "a\n b": 588373602, "数据库连": 174207918, "ÿé\x00x": 180021368,
		"word ": 1028294010, "word a": 11546479, "word error": 259058348, "word 数据库": 381864562,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("terms (-want +got):\n%s", diff)
	}
}

func TestTerms_ThatBeginAlikeFollowEachOther(t *testing.T) {
	begin := beginTerm('t', 'e', 'x')
	for _, last := range "tx é语\x7f" {
		if got := stretchTerm([4]rune{'t', 'e', 'x', last}); got < begin || got >= begin+1<<fourthBit {
			t.Errorf("tex%c is %d, not one of the 256 from %d on", last, got, begin)
		}
	}
}

// holding gives the cells of an item that hold what a query asks for.
func holding(c *cellTerms, first, n uint32, q termQuery) (cells []uint32) {
	for cell := first; cell < first+n; cell++ {
		has := func(from, to term) bool {
			return slices.ContainsFunc(c.list, func(v uint64) bool {
				return uint32(v) == cell && term(v>>32) >= from && term(v>>32) < to
			})
		}
		all := true
		for _, one := range q.terms {
			if q.begin {
				all = all && has(one, one+1<<fourthBit)
			} else {
				all = all && has(one, one+1)
			}
		}
		if all {
			cells = append(cells, cell)
		}
	}
	return cells
}

// Whatever part of an item is looked for, and whichever of its words, one of its
// cells holds the terms.
func TestTerms_MissNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	letters := []rune("ab -語é\n")
	asked, passed := 0, 0
	for round := range 400 {
		var c cellTerms
		for range 3 {
			text := make([]rune, 1+r.IntN([]int{20, 200, 2000, 6000}[round%4]))
			for i := range text {
				text[i] = letters[r.IntN(len(letters)-1)]
			}
			first, n := c.addItem(transcript.Fold(string(text)))
			start := r.IntN(len(text))
			part := string(text[start:min(len(text), start+1+r.IntN(300))])
			queries := []transcript.SearchQuery{{Text: part}}
			if words := transcript.Words(transcript.Fold(string(text))); len(words) > 0 {
				queries = append(queries, transcript.SearchQuery{Text: words[r.IntN(len(words))], Words: true},
					transcript.SearchQuery{Text: strings.Join(words[:min(len(words), 40)], " "), Words: true})
			}
			for _, q := range queries {
				query, err := queryOf(&q)
				if err != nil {
					continue
				}
				if asked++; len(holding(&c, first, n, query)) == 0 {
					t.Fatalf("no cell of %q holds %+v", string(text), q)
				}
			}
			query, err := queryOf(&transcript.SearchQuery{Text: "something else"})
			if err != nil {
				t.Fatal(err)
			}
			passed += len(holding(&c, first, n, query))
		}
	}
	if asked < 2000 {
		t.Errorf("only %d queries had terms", asked)
	}
	if passed > 0 {
		t.Errorf("%d cells hold what their texts do not", passed)
	}
}

// Small items share a cell, long ones have several, and those of two texts are
// never in one.
func TestCells_AreOfOneSize(t *testing.T) {
	tests := map[string]struct {
		sizes []int
		want  [][2]uint32 // first cell and how many
	}{
		"small ones":           {[]int{100, 200, 300}, [][2]uint32{{0, 1}, {0, 1}, {0, 1}}},
		"as many as fit":       {[]int{1000, 200, 300}, [][2]uint32{{0, 1}, {0, 1}, {1, 1}}},
		"one of a cell":        {[]int{cellBytes, 10}, [][2]uint32{{0, 1}, {1, 1}}},
		"a long one":           {[]int{10, 3 * cellBytes, 10}, [][2]uint32{{0, 1}, {1, 3}, {4, 1}}},
		"one that is too long": {[]int{cellBytes + 1}, [][2]uint32{{0, 2}}},
		"nothing":              {[]int{0, 10}, [][2]uint32{{0, 1}, {0, 1}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var c cellTerms
			var got [][2]uint32
			for _, size := range tt.sizes {
				first, n := c.addItem(strings.Repeat("x", size))
				got = append(got, [2]uint32{first, n})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
			if end, last := c.end(), got[len(got)-1]; end != last[0]+last[1] {
				t.Errorf("the next text begins with cell %d", end)
			}
		})
	}
}

func TestQueryOf_ShortTextsHaveNoTerms(t *testing.T) {
	for _, q := range []transcript.SearchQuery{{Text: "ab"}, {Text: "語"}, {Text: "--", Words: true}} {
		if got, err := queryOf(&q); err != transcript.ErrNoIndex {
			t.Errorf("%q: %v, %v, want ErrNoIndex", q.Text, got, err)
		}
	}
	if got, err := queryOf(&transcript.SearchQuery{Text: "a", Words: true}); err != nil || len(got.terms) != 1 {
		t.Errorf("a word of one character: %v, %v", got, err)
	}
}
