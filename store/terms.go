package store

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/retake-debugger/retake/transcript"
)

// The search index holds, for each text, which terms are in it: four characters
// that follow each other in a folded item. White space counts as one character,
// whatever it is, and so does the end of an item. Three characters are looked for
// as the beginning of a term. Terms of three would make a smaller index of small
// texts; but most are in most texts, and whatever is made of common ones alone
// would be looked for everywhere.

const (
	// termRunes is how many characters a term has.
	termRunes = 4
	// shortestText is how many characters a query needs to have a term.
	shortestText = termRunes - 1
	// longestText is how many characters of a query are turned into terms. Parts
	// of a long text overlap by as much.
	longestText = 256
	// maxTerms is how many terms of a query are asked for.
	maxTerms = 12
)

// terms collects the terms of texts, each once.
type terms struct {
	out  []byte // parted by spaces
	seen map[[termRunes]rune]bool
}

// add adds the terms of a folded text.
func (t *terms) add(text string) {
	var last [termRunes]rune
	n := 0
	for _, r := range text {
		copy(last[:], last[1:])
		last[termRunes-1] = termRune(r)
		if n++; n >= termRunes {
			t.term(last)
		}
	}
}

// addItem adds the terms of a folded item, which has an end.
func (t *terms) addItem(text string) { t.add(text + " ") }

func (t *terms) term(term [termRunes]rune) {
	if t.seen[term] {
		return
	}
	t.seen[term] = true
	for _, r := range term {
		t.out = utf8.AppendRune(t.out, r)
	}
	t.out = append(t.out, ' ')
}

// termRune gives what stands for a character in a term.
func termRune(r rune) rune {
	switch {
	case isBlank(r):
		return '.'
	case isSeparator(r):
		return r + private
	}
	return r
}

// private is where ASCII that FTS5 would part terms at is moved to.
const private = 0xe000

// isSeparator tells whether FTS5's "ascii" parts terms at a character.
func isSeparator(r rune) bool {
	return r < utf8.RuneSelf && (r < '0' || r > '9') && (r < 'a' || r > 'z')
}

func isBlank(r rune) bool { return r <= ' ' || unicode.IsSpace(r) }

// A long item is in several texts. So that one is found that holds some words in
// different parts, it has one more text, whose terms are its words; not the words
// themselves, of which there may be as many as it is long, but one of 65,536 terms
// that stands for each.

// wordTerm gives the term that stands for a folded word. It is part of the file.
func wordTerm(word string) string {
	h := fnv.New32a()
	h.Write([]byte(word))
	sum := h.Sum32()
	return string(rune(wordMark)) + fmt.Sprintf("%04x", uint16(sum^sum>>16))
}

// wordMark begins such terms. They are longer than others.
const wordMark = private + 0x100

// wordTerms gives the terms of words that are parted by spaces.
func wordTerms(words string) string {
	var out strings.Builder
	seen := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		if term := wordTerm(word); !seen[term] {
			seen[term] = true
			out.WriteString(term)
			out.WriteByte(' ')
		}
	}
	return out.String()
}

// termsOf gives the terms of a text, parted by spaces.
func termsOf(text *transcript.SearchText) string {
	if text.Words {
		return wordTerms(text.Items[0].Text)
	}
	t := terms{seen: make(map[[termRunes]rune]bool, 4096), out: make([]byte, 0, 1<<14)}
	for i := range text.Items {
		t.addItem(transcript.Fold(text.Items[i].Text))
	}
	return string(t.out)
}

// queryOf gives the FTS5 query for a search; ErrNoIndex if its text has no
// terms.
func queryOf(q *transcript.SearchQuery) (string, error) {
	texts := q.WordList()
	if len(texts) == 0 {
		texts = []string{transcript.Fold(q.Text)}
	}
	t := terms{seen: map[[termRunes]rune]bool{}}
	var list []string
	for _, text := range texts {
		if utf8.RuneCountInString(text) == shortestText {
			list = append(list, `"`+strings.Map(termRune, text)+`" *`)
		}
		t.add(firstRunes(text, longestText))
	}
	for _, term := range strings.Fields(string(t.out)) {
		list = append(list, `"`+term+`"`)
	}
	if len(list) == 0 {
		return "", transcript.ErrNoIndex
	}
	query := strings.Join(spread(list, maxTerms), " AND ")
	if words := q.WordList(); len(words) > 1 {
		list = nil
		for _, word := range words {
			list = append(list, `"`+wordTerm(word)+`"`)
		}
		query = "(" + query + ") OR (" + strings.Join(spread(list, maxTerms), " AND ") + ")"
	}
	return query, nil
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

// spread takes, of many terms, some that lie far apart.
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
