package transcript

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold gives a text as searches compare it: letters in one case where a single
// letter stands for a single one, what is not UTF-8 as U+FFFD.
func Fold(s string) string {
	i := 0
	for i < len(s) && s[i] < utf8.RuneSelf && (s[i] < 'A' || s[i] > 'Z') {
		i++
	}
	if i == len(s) {
		return s
	}
	b := make([]byte, 0, len(s)+8)
	b = append(b, s[:i]...)
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			b = append(b, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		b = utf8.AppendRune(b, foldRune(r))
		i += n
	}
	return string(b)
}

func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	if r >= 0x2e80 && r < 0xa640 || r >= 0xac00 && r < 0xd7a4 { // Chinese, Japanese, Korean: no cases
		return r
	}
	lowest := r
	for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
		lowest = min(lowest, o)
	}
	if lowest >= 'A' && lowest <= 'Z' {
		lowest += 'a' - 'A'
	}
	return lowest
}

// A Matcher finds what a query asks for in texts.
type Matcher struct {
	text  string   // folded
	words []string // folded; if there are any, they are what is looked for
}

// NewMatcher makes a matcher for the text of a query. One without text takes
// every text.
func NewMatcher(q SearchQuery) Matcher {
	return Matcher{text: Fold(q.Text), words: q.WordList()}
}

// WordList gives the folded words that a query looks for; none if its text
// holds none, or is looked for as it stands.
func (q *SearchQuery) WordList() []string {
	if !q.Words {
		return nil
	}
	return Words(Fold(q.Text))
}

// A Hit is where a match was found: bytes from Start to End of a field.
type Hit struct {
	Field      Field
	Start, End int
	Count      int  // how often the text, or the first word, is in that field
	WholeWord  bool // it is not a part of a longer word
}

// Find looks through the fields of an item, best one first.
func (m Matcher) Find(fields []Field) (Hit, bool) {
	if len(m.words) > 0 {
		return m.findWords(fields)
	}
	for _, f := range fields {
		folded := Fold(f.Text)
		if at := strings.Index(folded, m.text); at >= 0 {
			count := 1
			if m.text != "" {
				count += strings.Count(folded[at+len(m.text):], m.text)
			}
			return f.hit(folded, at, len(m.text), count), true
		}
	}
	return Hit{}, false
}

// findWords wants every word in some field, and shows the first word.
func (m Matcher) findWords(fields []Field) (shown Hit, ok bool) {
	folded := make([]string, len(fields))
	for i := range fields {
		folded[i] = Fold(fields[i].Text)
	}
	for i, word := range m.words {
		found := false
		for k := range fields {
			at, count := findWord(folded[k], word)
			if found = count > 0; found {
				if i == 0 {
					shown = fields[k].hit(folded[k], at, len(word), count)
				}
				break
			}
		}
		if !found {
			return Hit{}, false
		}
	}
	return shown, true
}

// findWord gives the first place of a whole word, and how often it is there.
func findWord(folded, word string) (at, count int) {
	for from := 0; ; {
		i := strings.Index(folded[from:], word)
		if i < 0 {
			return at, count
		}
		i += from
		from = i + len(word)
		if isWord(folded, i, from) {
			if count == 0 {
				at = i
			}
			count++
		}
	}
}

// hit makes the hit of what was found in the folded text of a field.
func (f Field) hit(folded string, at, length, count int) Hit {
	h := Hit{Field: f, Start: at, End: at + length, Count: count, WholeWord: isWord(folded, at, at+length)}
	if !isASCII(folded[:h.End]) || !isASCII(f.Text[:min(h.End, len(f.Text))]) {
		h.Start, h.End = unfolded(f.Text, h.Start), unfolded(f.Text, h.End)
	}
	return h
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unfolded gives the place in s that is at in its folded text.
func unfolded(s string, at int) int {
	n := 0
	for i, r := range s {
		if n >= at {
			return i
		}
		n += utf8.RuneLen(foldRune(r))
	}
	return len(s)
}

// IsWordRune tells whether a character is a part of words.
func IsWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// Words gives the words of a text, each once.
func Words(s string) []string {
	var words []string
	seen := map[string]bool{}
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return !IsWordRune(r) }) {
		if !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	return words
}

// isWord tells whether no word goes on across the borders of s[start:end].
func isWord(s string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	first, _ := utf8.DecodeRuneInString(s[start:])
	last, _ := utf8.DecodeLastRuneInString(s[:end])
	after, _ := utf8.DecodeRuneInString(s[end:])
	return !(start > 0 && IsWordRune(before) && IsWordRune(first)) && !(end < len(s) && IsWordRune(last) && IsWordRune(after))
}
