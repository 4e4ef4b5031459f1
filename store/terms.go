package store

import (
	"slices"
	"strconv"
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
	// maxWordTerms is how many of these are of words, if others are asked for too.
	maxWordTerms = 6
)

// terms collects the terms of texts, each once.
type terms struct {
	out   []byte // parted by spaces
	seen  map[[termRunes]rune]bool
	words [1 << 16 / 64]uint64 // a bit for each wordHash
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

// addItem adds the terms of a folded item, which has an end, and of its words.
func (t *terms) addItem(text string) {
	t.add(text + " ")
	t.addWords(text)
}

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

// Words have terms too: not the words themselves, of which there may be as many as
// there are texts, but one of 65,536 terms that stands for each. Which stretches of
// four characters are in a text says little of a word that is put together from
// common ones. A long item is in several texts; it has one more of the terms of its
// words alone, so that one is found that holds some words in different parts.

// wordHash is the low half of FNV-1a (32 bits) of a folded word, mixed with the
// high one. It is part of the file.
func wordHash(word string) uint16 {
	sum := uint32(2166136261)
	for i := range len(word) {
		sum = (sum ^ uint32(word[i])) * 16777619
	}
	return uint16(sum ^ sum>>16)
}

// wordMark begins such terms. They are longer than others.
const wordMark = private + 0x100

func appendWordTerm(out []byte, hash uint16) []byte {
	out = utf8.AppendRune(out, wordMark)
	return append(out, strconv.FormatUint(1<<16|uint64(hash), 16)[1:]...)
}

// wordTerm gives the term that stands for a folded word.
func wordTerm(word string) string { return string(appendWordTerm(nil, wordHash(word))) }

// addWords adds the terms of the words of a folded text.
func (t *terms) addWords(text string) {
	for word := range strings.FieldsFuncSeq(text, notOfWord) {
		hash := wordHash(word)
		bit := uint64(1) << (hash % 64)
		if t.words[hash/64]&bit != 0 {
			continue
		}
		t.words[hash/64] |= bit
		t.out = append(appendWordTerm(t.out, hash), ' ')
	}
}

// termsOf gives the terms of a text, parted by spaces.
func termsOf(text *transcript.SearchText) string {
	if text.Words {
		var t terms
		t.addWords(text.Items[0].Text)
		return string(t.out)
	}
	t := terms{seen: make(map[[termRunes]rune]bool, 4096), out: make([]byte, 0, 1<<14)}
	for i := range text.Items {
		t.addItem(transcript.Fold(text.Items[i].Text))
	}
	return string(t.out)
}

// queryOf gives the FTS5 query for a search; ErrNoIndex if its text has no
// terms. Texts that have no terms of words are asked for without.
func queryOf(q *transcript.SearchQuery, byWords bool) (string, error) {
	words := q.WordList()
	texts := words
	if len(texts) == 0 {
		texts = []string{transcript.Fold(q.Text)}
	}
	list := stretchTerms(texts)
	if len(list) == 0 {
		return "", transcript.ErrNoIndex
	}
	if len(words) > 1 {
		all := allOf(wordsTerms(words))
		if byWords { // of one text or of the words of a long item
			return all, nil
		}
		return "(" + allOf(list) + ") OR (" + all + ")", nil
	}
	query := allOf(list)
	if !byWords {
		return query, nil
	}
	if len(words) == 0 {
		words = innerWords(firstRunes(texts[0], longestText))
	} else if utf8.RuneCountInString(words[0]) > longestText {
		return query, nil // may be cut where a text ends
	}
	if len(words) == 0 {
		return query, nil
	}
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) }) // long ones are rare
	words = words[:min(len(words), maxWordTerms)]
	return allOf(wordsTerms(words)) + " AND " + allOf(spread(list, maxTerms-len(words))), nil
}

// stretchTerms gives the terms, as a query names them, of the characters that
// follow each other in folded texts.
func stretchTerms(texts []string) []string {
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
	return list
}

func wordsTerms(words []string) []string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = `"` + wordTerm(word) + `"`
	}
	return list
}

func allOf(list []string) string { return strings.Join(spread(list, maxTerms), " AND ") }

// innerWords gives the words of a text that do not go on beyond it, whatever is
// around it.
func innerWords(text string) []string {
	from, to := strings.IndexFunc(text, notOfWord), strings.LastIndexFunc(text, notOfWord)
	if from < 0 {
		return nil
	}
	return transcript.Words(text[from:to])
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
