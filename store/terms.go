package store

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/retake-debugger/retake/transcript"
)

// The search index holds, for each text, which of these terms are in it:
//
//	abc      three characters that follow each other in the folded text. What is
//	         no part of words is "." in it, so that "foo-bar" and "foo bar" share
//	         their terms; who looks at the text tells them apart
//	!2d2d3e  three such characters, in hexadecimal
//	=parser  a word of ASCII letters
//
// The text counts as one with a space before and behind it.

const (
	// shortestText is how many characters a text needs to have a term.
	shortestText = 3
	// longestText is how many characters of a query are turned into terms. Parts
	// of a long text overlap by as much.
	longestText = 256
	// maxTerms is how many terms of a query are asked for.
	maxTerms = 12

	shortestWord, longestWord = 4, 20
)

// terms collects the terms of a text, each once.
type terms struct {
	list []string
	seen map[string]bool
	buf  []byte
}

func (t *terms) add(term []byte) {
	if !t.seen[string(term)] {
		s := string(term)
		t.seen[s] = true
		t.list = append(t.list, s)
	}
}

// termsOf gives the terms of a folded text. Whole tells that it is one from its
// beginning to its end, so that its borders are borders of words.
func termsOf(text string, whole bool) []string {
	if whole {
		text = " " + text + " "
	}
	t := &terms{seen: make(map[string]bool, len(text)/2)}
	t.threes(text)
	t.words(text)
	return t.list
}

func (t *terms) threes(text string) {
	var ends [3]int // behind the last three characters
	n := 0
	for i, r := range text {
		start := ends[0]
		ends[0], ends[1], ends[2] = ends[1], ends[2], i+utf8.RuneLen(r)
		if n++; n >= shortestText {
			t.add(t.three(text[start:ends[2]]))
		}
	}
}

// three writes the term of three characters.
func (t *terms) three(s string) []byte {
	t.buf = t.buf[:0]
	marks := 0
	for _, r := range s {
		if isMark(r) {
			t.buf = append(t.buf, '.')
			marks++
		} else {
			t.buf = utf8.AppendRune(t.buf, r)
		}
	}
	if marks == 3 {
		t.buf = fmt.Appendf(t.buf[:0], "!%x", s)
	}
	return t.buf
}

// isMark tells whether a character stands between words. Names in code are made
// of several.
func isMark(r rune) bool { return r == '_' || !transcript.IsWordRune(r) }

// words adds the words that have borders on both sides in text.
func (t *terms) words(text string) {
	start := -1 // of a word; -1 where none can begin
	for i, r := range text {
		switch {
		case r >= 'a' && r <= 'z':
		case isMark(r):
			if n := i - start; start >= 0 && n >= shortestWord && n <= longestWord {
				t.buf = append(append(t.buf[:0], '='), text[start:i]...)
				t.add(t.buf)
			}
			start = i + utf8.RuneLen(r)
		default:
			start = -1
		}
	}
}

// queryOf gives the FTS5 query for a search; ErrNoIndex if its text has no
// terms.
func queryOf(q *transcript.SearchQuery) (string, error) {
	var list []string
	if words := q.WordList(); len(words) > 0 {
		for _, w := range words {
			list = append(list, termsOf(firstRunes(w, longestText), utf8.RuneCountInString(w) <= longestText)...)
		}
	} else {
		list = termsOf(firstRunes(transcript.Fold(q.Text), longestText), false)
	}
	if len(list) == 0 {
		return "", transcript.ErrNoIndex
	}
	list = telling(list)
	for i := range list {
		list[i] = `"` + list[i] + `"`
	}
	return strings.Join(list, " AND "), nil
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// telling takes, of many terms, those that tell most: words first, then terms
// that lie far apart.
func telling(list []string) []string {
	var words, threes []string
	for _, term := range list {
		if term[0] == '=' {
			words = append(words, term)
		} else {
			threes = append(threes, term)
		}
	}
	words = spread(words, maxTerms)
	return slices.Concat(words, spread(threes, max(maxTerms-len(words), 2)))
}

func spread(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	var out []string
	for i := range n {
		out = append(out, list[i*(len(list)-1)/(n-1)])
	}
	return out
}
