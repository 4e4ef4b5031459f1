package analysis

import (
	"github.com/retake-debugger/retake/transcript"
	"strings"
	"unicode"
)

// A Span is a part of a text diff.
type Span struct {
	Fate Fate   `json:"fate"` // Same, Removed or Added
	Text string `json:"text"`
}

// DiffWords holds two texts against each other: by lines, and where those differ
// by words. The spans that are the same or removed are the first text, those
// that are the same or added the second.
func DiffWords(a, b string) []Span {
	if a == b {
		if a == "" {
			return nil
		}
		return []Span{{Same, a}}
	}
	var d wordDiff
	x, y := lines(a), lines(b)
	i, k := 0, 0
	for _, p := range append(Align(x, y), [2]int{len(x), len(y)}) {
		d.words(strings.Join(x[i:p[0]], ""), strings.Join(y[k:p[1]], ""))
		if p[0] < len(x) {
			d.add(Same, x[p[0]])
		}
		i, k = p[0]+1, p[1]+1
	}
	return d.flushed()
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.SplitAfter(s, "\n")
}

// wordDiff gathers spans; what is removed comes before what is added.
type wordDiff struct {
	spans          []Span
	removed, added strings.Builder
}

func (d *wordDiff) words(a, b string) {
	x, y := tokens(a), tokens(b)
	i, k := 0, 0
	pairs := Align(x, y)
	if fewAlike(x, pairs, max(len(a), len(b))) {
		pairs = nil
	}
	for _, p := range append(pairs, [2]int{len(x), len(y)}) {
		d.add(Removed, strings.Join(x[i:p[0]], ""))
		d.add(Added, strings.Join(y[k:p[1]], ""))
		if p[0] < len(x) {
			d.add(Same, x[p[0]])
		}
		i, k = p[0]+1, p[1]+1
	}
}

// fewAlike tells whether so little is alike that a reader is better served with
// one text after the other.
func fewAlike(tokens []string, pairs [][2]int, length int) bool {
	alike := 0
	for _, p := range pairs {
		if t := tokens[p[0]]; strings.TrimSpace(t) != "" {
			alike += len(t)
		}
	}
	return alike*3 < length
}

func (d *wordDiff) add(f Fate, text string) {
	switch {
	case text == "":
	case f == Removed:
		d.removed.WriteString(text)
	case f == Added:
		d.added.WriteString(text)
	default:
		d.flush()
		if n := len(d.spans); n > 0 && d.spans[n-1].Fate == Same {
			d.spans[n-1].Text += text
			return
		}
		d.spans = append(d.spans, Span{Same, text})
	}
}

func (d *wordDiff) flush() {
	if d.removed.Len() > 0 {
		d.spans = append(d.spans, Span{Removed, d.removed.String()})
	}
	if d.added.Len() > 0 {
		d.spans = append(d.spans, Span{Added, d.added.String()})
	}
	d.removed.Reset()
	d.added.Reset()
}

func (d *wordDiff) flushed() []Span {
	d.flush()
	return d.spans
}

// tokens cuts a text into words, runs of white space, and single other
// characters.
func tokens(s string) []string {
	var list []string
	start, before := 0, 0
	for i, r := range s {
		kind := 0 // stands alone
		switch {
		case transcript.IsWordRune(r):
			kind = 1
		case unicode.IsSpace(r):
			kind = 2
		}
		if i > start && (kind != before || kind == 0) {
			list = append(list, s[start:i])
			start = i
		}
		before = kind
	}
	if start < len(s) {
		list = append(list, s[start:])
	}
	return list
}
