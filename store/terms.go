package store

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/retake-debugger/retake/transcript"
)

// The search index tells which terms are in which cell: some neighbouring items
// together, or a piece of a longer one. A term is four characters that follow each
// other in a folded item, or a whole word of it. White space counts as one
// character, whatever it is, and so does the end of an item. Three characters are
// looked for as the beginning of a term. Longer stretches would tell cells apart a
// little better and make the index larger by half.

const (
	// termRunes is how many characters a stretch has.
	termRunes = 4
	// shortestText is how many characters a query needs to have a term.
	shortestText = termRunes - 1
	// longestText is how many bytes of a query are turned into stretches. Pieces of
	// a long item overlap by as much, so that one of them holds all.
	longestText = 96
	// longestWord is how many characters a word has at most that is known as one:
	// a longer one may be cut where a part of an item ends.
	longestWord = 256
	// maxTerms is how many terms of a query are asked for.
	maxTerms = 24
	// cellBytes is about how much text a cell has.
	cellBytes = 1280
)

// term stands for four characters, or for a word. The first three characters are
// in its high bits, so that terms that begin alike follow each other. Different
// ones may share a number: whoever shows an item looks at its text before. These
// numbers are part of the file.
type term uint32

const (
	termBits  = 30
	fourthBit = 8 // that stand for the last character
)

// stretchTerm gives the term of four characters.
func stretchTerm(r [termRunes]rune) term {
	return beginTerm(r[0], r[1], r[2]) + term(fourth(r[3]))
}

// beginTerm gives the first of the terms that begin with three characters.
func beginTerm(a, b, c rune) term {
	v := mix(uint64(a)<<42 | uint64(b)<<21 | uint64(c))
	return term(v>>(64-termBits)) &^ (1<<fourthBit - 1)
}

func fourth(r rune) uint8 {
	if r < utf8.RuneSelf {
		return uint8(r)
	}
	return utf8.RuneSelf | uint8(mix(uint64(r))>>57)
}

// wordTerm gives the term of a folded word.
func wordTerm(word string) term {
	sum := uint64(14695981039346656037) // FNV-1a
	for i := range len(word) {
		sum = (sum ^ uint64(word[i])) * 1099511628211
	}
	return term(mix(sum) >> (64 - termBits))
}

// mix spreads what bits tell over all of them (the finaliser of SplitMix64).
func mix(v uint64) uint64 {
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// termRune gives what stands for a character in a term.
func termRune(r rune) rune {
	if r <= ' ' || unicode.IsSpace(r) {
		return ' '
	}
	return r
}

// eachStretch gives the terms of the stretches of a folded text.
func eachStretch(text string, yield func(term)) {
	var last [termRunes]rune
	n := 0
	for _, r := range text {
		copy(last[:], last[1:])
		last[termRunes-1] = termRune(r)
		if n++; n >= termRunes {
			yield(stretchTerm(last))
		}
	}
}

func notOfWord(r rune) bool { return !transcript.IsWordRune(r) }

// termQuery is what a cell must hold: all of these terms, or, of a text of three
// characters, any that begins with them.
type termQuery struct {
	terms []term
	begin bool
}

// queryOf gives the query for a search; ErrNoIndex if its text has no terms.
func queryOf(q *transcript.SearchQuery) (termQuery, error) {
	words := q.WordList()
	var list []term
	for _, word := range words {
		if utf8.RuneCountInString(word) <= longestWord {
			list = append(list, wordTerm(word))
		}
	}
	if len(list) > 0 {
		return termQuery{terms: spreadFirst(list)}, nil
	}
	text := transcript.Fold(q.Text)
	if len(words) > 0 {
		text = words[0]
	}
	if utf8.RuneCountInString(text) == shortestText {
		r := []rune(text)
		return termQuery{terms: []term{beginTerm(termRune(r[0]), termRune(r[1]), termRune(r[2]))}, begin: true}, nil
	}
	eachStretch(text[:runeStart(text, min(len(text), longestText))], func(t term) { list = append(list, t) })
	if len(list) == 0 {
		return termQuery{}, transcript.ErrNoIndex
	}
	return termQuery{terms: spreadFirst(list)}, nil
}

// runeStart gives where the character at byte i begins.
func runeStart(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// spreadFirst gives at most maxTerms terms, each once. Those that are asked for at
// first lie far apart.
func spreadFirst(list []term) []term {
	var out []term
	for _, t := range append(spread(list, firstTerms), spread(list, maxTerms)...) {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out[:min(len(out), maxTerms)]
}

// spread takes, of many terms, some that lie far apart.
func spread(list []term, n int) []term {
	if len(list) <= n {
		return list
	}
	var out []term
	for i := range n {
		out = append(out, list[i*(len(list)-1)/(n-1)])
	}
	return out
}

// cellTerms collects which terms are in which cell, as term<<32 | cell.
type cellTerms struct {
	list  []uint64
	spare []uint64              // to sort with
	cell  uint32                // the one that is being filled
	fill  int                   // bytes in it
	last  [1 << lastBits]uint64 // complements
}

// lastBits: half of the terms of a cell are in it already. Most of those are seen
// at once by looking for them among the last ones, and need not be sorted out.
const lastBits = 11

// keptTerms is how many terms there is room for from one indexing to the next.
const keptTerms = 128 << 10

// cellTerms gives an empty collection with room for the terms of so much text.
func (w *writer) cellTerms(bytes int) *cellTerms {
	c := w.terms.Swap(nil)
	if c == nil {
		c = &cellTerms{}
	}
	c.list, c.cell, c.fill = slices.Grow(c.list[:0], bytes*5/8), 0, 0
	clear(c.last[:])
	return c
}

// keepTerms keeps the room of a collection for the next one, unless it is large.
func (w *writer) keepTerms(c *cellTerms) {
	if cap(c.list) <= keptTerms && cap(c.spare) <= keptTerms {
		w.terms.Store(c)
	}
}

// addItem adds a folded item and says which cells it is in.
func (c *cellTerms) addItem(text string) (first, n uint32) {
	if c.fill > 0 && c.fill+len(text) > cellBytes {
		c.next()
	}
	first = c.cell
	c.addWords(text)
	pieces := (len(text) + cellBytes - 1) / cellBytes
	text += " " // its end
	if pieces <= 1 {
		c.fill += len(text)
		c.addStretches(text)
		return first, 1
	}
	size := (len(text) + pieces - 1) / pieces
	for from := 0; ; {
		to := runeStart(text, min(from+size, len(text)))
		c.addStretches(text[from:runeStart(text, min(to+longestText, len(text)))])
		if to == len(text) {
			break
		}
		c.next()
		from = to
	}
	n = c.cell - first + 1
	c.next()
	return first, n
}

// addWordsAlone adds the words of a long folded item, in a cell of their own.
func (c *cellTerms) addWordsAlone(text string) (first, n uint32) {
	first = c.end()
	c.addWords(text)
	c.next()
	return first, 1
}

// next begins a new cell.
func (c *cellTerms) next() { c.cell, c.fill = c.cell+1, 0 }

// end gives how many cells there are.
func (c *cellTerms) end() uint32 {
	if c.fill > 0 {
		c.next()
	}
	return c.cell
}

// add adds a term to the cell, unless it is one of the last ones.
func (c *cellTerms) add(t term) {
	v := uint64(t)<<32 | uint64(c.cell)
	last := &c.last[uint32(t)*0x9e3779b1>>(32-lastBits)]
	if *last != ^v { // 0 is none
		*last = ^v
		c.list = append(c.list, v)
	}
}

func (c *cellTerms) addStretches(text string) { eachStretch(text, c.add) }

// addWords adds the words of a folded text to the cell.
func (c *cellTerms) addWords(text string) {
	for word := range strings.FieldsFuncSeq(text, notOfWord) {
		c.add(wordTerm(word))
	}
}

// sorted gives each of them once, in order.
func (c *cellTerms) sorted() []uint64 {
	c.list, c.spare = sortTerms(c.list, c.spare) // cells were in order before
	c.list = slices.Compact(c.list)
	return c.list
}

// sortTerms sorts by the terms in the high halves, by three times ten bits; equal
// ones stay as they are. It is several times as fast as sorting by comparison. It
// needs as much memory again, which may be given, and gives back what is over.
func sortTerms(list, spare []uint64) (sorted, over []uint64) {
	const digit = 10
	other := slices.Grow(spare[:0], len(list))[:len(list)]
	for shift := 32; shift < 32+termBits; shift += digit {
		var at [1<<digit + 1]int
		for _, v := range list {
			at[v>>shift&(1<<digit-1)+1]++
		}
		for i := range 1 << digit {
			at[i+1] += at[i]
		}
		for _, v := range list {
			i := v >> shift & (1<<digit - 1)
			other[at[i]] = v
			at[i]++
		}
		list, other = other, list
	}
	return list, other
}
