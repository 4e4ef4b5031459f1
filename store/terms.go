package store

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/retake-debugger/retake/transcript"
)

// The search index holds, for each text, which terms are in it: three characters
// that follow each other in a folded text. White space counts as one character,
// whatever it is, unless there is nothing else.

const (
	// shortestText is how many characters a text needs to have a term.
	shortestText = 3
	// longestText is how many characters of a query are turned into terms. Parts
	// of a long text overlap by as much.
	longestText = 256
	// maxTerms is how many terms of a query are asked for.
	maxTerms = 12
)

// terms collects the terms of texts, each once.
type terms struct {
	out  []byte // parted by spaces
	seen map[[3]rune]bool
}

// add adds the terms of a folded text.
func (t *terms) add(text string) {
	var last [3]rune
	n := 0
	for _, r := range text {
		last = [3]rune{last[1], last[2], r}
		if n++; n >= shortestText {
			t.three(last)
		}
	}
}

// three adds the term of three characters.
func (t *terms) three(chars [3]rune) {
	term, blank := chars, 0
	for i, r := range chars {
		if isBlank(r) {
			term[i] = '.'
			blank++
		} else if isSeparator(r) {
			term[i] = r + private
		}
	}
	if blank == 3 {
		for i, r := range chars {
			term[i] = r + private
		}
	}
	if t.seen[term] {
		return
	}
	t.seen[term] = true
	for _, r := range term {
		t.out = utf8.AppendRune(t.out, r)
	}
	t.out = append(t.out, ' ')
}

// private is where ASCII that FTS5 would part terms at is moved to.
const private = 0xe000

// isSeparator tells whether FTS5's "ascii" parts terms at a character.
func isSeparator(r rune) bool {
	return r < utf8.RuneSelf && (r < '0' || r > '9') && (r < 'a' || r > 'z')
}

func isBlank(r rune) bool { return r <= ' ' || unicode.IsSpace(r) }

// termsOf gives the terms of a text, parted by spaces.
func termsOf(text *transcript.SearchText) string {
	t := terms{seen: make(map[[3]rune]bool, 1024), out: make([]byte, 0, 4096)}
	for i := range text.Items {
		t.add(transcript.Fold(text.Items[i].Text))
	}
	return string(t.out)
}

// queryOf gives the FTS5 query for a search; ErrNoIndex if its text has no
// terms.
func queryOf(q *transcript.SearchQuery) (string, error) {
	t := terms{seen: map[[3]rune]bool{}}
	if words := q.WordList(); len(words) > 0 {
		for _, w := range words {
			t.add(firstRunes(w, longestText))
		}
	} else {
		t.add(firstRunes(transcript.Fold(q.Text), longestText))
	}
	list := spread(strings.Fields(string(t.out)), maxTerms)
	if len(list) == 0 {
		return "", transcript.ErrNoIndex
	}
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
