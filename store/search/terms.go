package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/retake-debugger/retake/transcript"
)

// A row has an entry in each of two tables of FTS5. In search_terms are its trigrams:
// three characters that follow each other in the folded text. White space counts as one
// character, whatever it is. In search_words are its words.

const (
	trigram = 3
	// A query for few terms is fast, one for many leaves fewer rows to look at in vain.
	// Most searches have enough after the first rows, so those are asked for with few.
	fewTerms  = 8
	mostTerms = 24
)

// folded returns the folded texts of a row.
func folded(text *transcript.SearchText) string {
	var b strings.Builder
	for i := range text.Items {
		b.WriteString(transcript.Fold(text.Items[i].Text))
		b.WriteByte('\n')
	}
	return b.String()
}

// rowText returns what is in search_terms of a row.
func rowText(folded string) string {
	return string(appendPlain(make([]byte, 0, len(folded)), folded))
}

// rowWords returns what is in search_words of a row.
func rowWords(folded string) string { return strings.Join(transcript.Words(folded), " ") }

// appendPlain appends a folded text with blanks for all white space.
func appendPlain(b []byte, s string) []byte {
	for i, r := range s {
		switch {
		case r <= ' ' || r >= utf8.RuneSelf && unicode.IsSpace(r):
			b = append(b, ' ')
		case r < utf8.RuneSelf:
			b = append(b, s[i])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

// A query is for the rows of a table that have some terms.
type query struct {
	table string
	terms []string
}

// queryOf returns what the rows of a search's hits must have; ErrNoIndex if its text is
// too short.
func queryOf(q *transcript.SearchQuery) (*query, error) {
	if words := q.WordList(); len(words) > 0 {
		return &query{"search_words", words}, nil
	}
	list := appendTrigrams(nil, transcript.Fold(q.Text))
	if len(list) == 0 {
		return nil, transcript.ErrNoIndex
	}
	var each []string
	for _, t := range list {
		if !slices.Contains(each, t) {
			each = append(each, t)
		}
	}
	return &query{"search_terms", each}, nil
}

// appendTrigrams appends the trigrams of a folded text, of a long one those of its
// beginning: the rest may be in another row.
func appendTrigrams(list []string, text string) []string {
	end := min(len(text), transcript.SearchOverlap)
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	r := []rune(string(appendPlain(nil, text[:end])))
	for i := range len(r) - trigram + 1 {
		list = append(list, string(r[i:i+trigram]))
	}
	return list
}

// match returns the FTS5 expression for rows that have n of some terms, which lie far
// apart, or all.
func match(terms []string, n int) string {
	var b strings.Builder
	for i := range min(n, len(terms)) {
		t := terms[i]
		if len(terms) > n {
			t = terms[i*(len(terms)-1)/(n-1)]
		}
		if i > 0 {
			b.WriteString(" AND ")
		}
		b.WriteString(`"` + strings.ReplaceAll(t, `"`, `""`) + `"`)
	}
	return b.String()
}
