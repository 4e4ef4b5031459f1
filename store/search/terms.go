package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/retake-debugger/retake/transcript"
)

// FTS5 knows of a row which trigrams are in it: three characters that follow each
// other in the folded text. White space counts as one character, whatever it is.
// Words of one or two characters have no trigram of their own, so they are written
// again after the text, between marks. Marks also part the items of a row.

const (
	mark = "\x01" // in no text: as a control character it counts as white space

	trigram = 3
	// A query for few trigrams is fast, one for many leaves fewer rows to look at
	// in vain. Most searches have enough after the first rows, so those are asked
	// for with few.
	fewTrigrams  = 8
	mostTrigrams = 24
)

// rowText returns what is indexed of a row.
func rowText(text *transcript.SearchText) string {
	folded := make([]string, len(text.Items))
	size := 0
	for i := range text.Items {
		folded[i] = transcript.Fold(text.Items[i].Text)
		size += len(folded[i])
	}
	b := make([]byte, 0, size+size/8+16)
	for _, s := range folded {
		b = append(b, mark...)
		b = appendPlain(b, s)
	}
	seen := map[string]bool{}
	for _, s := range folded {
		for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return !transcript.IsWordRune(r) }) {
			if isShort(word) && !seen[word] {
				seen[word] = true
				b = append(append(b, mark...), word...)
			}
		}
	}
	return string(append(b, mark...))
}

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

func isShort(word string) bool {
	return len(word) < trigram*utf8.UTFMax && utf8.RuneCountInString(word) < trigram
}

// trigramsOf returns the trigrams that an item must have to match a query, each
// once; ErrNoIndex if there are none.
func trigramsOf(q *transcript.SearchQuery) ([]string, error) {
	var list []string
	if words := q.WordList(); len(words) > 0 {
		for _, word := range words {
			list = appendTrigrams(list, word)
			if isShort(word) {
				// Of two characters the first mark makes a trigram, of one both.
				list = append(list, string([]rune(mark + word + mark)[:trigram]))
			}
		}
	} else {
		list = appendTrigrams(list, transcript.Fold(q.Text))
	}
	if len(list) == 0 {
		return nil, transcript.ErrNoIndex
	}
	var each []string
	for _, t := range list {
		if !slices.Contains(each, t) {
			each = append(each, t)
		}
	}
	return each, nil
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

// match returns the FTS5 expression for rows that have at most n of some trigrams,
// which lie far apart.
func match(trigrams []string, n int) string {
	var b strings.Builder
	for i := range min(n, len(trigrams)) {
		t := trigrams[i]
		if len(trigrams) > n {
			t = trigrams[i*(len(trigrams)-1)/(n-1)]
		}
		if i > 0 {
			b.WriteString(" AND ")
		}
		b.WriteString(`"` + strings.ReplaceAll(t, `"`, `""`) + `"`)
	}
	return b.String()
}
