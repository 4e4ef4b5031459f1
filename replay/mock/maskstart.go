package mock

import (
	"regexp"
	"strings"
)

// start says where matches of a pattern may begin, so that the pattern is not tried at
// every byte of every text: it would take most of the time that a recording takes to load.
type start struct {
	needs    func(text string) bool // whether a text can have a match at all
	first    string                 // bytes with which a match begins; "" for any
	word     bool                   // and there begins a word, too
	dashes   []int                  // how far behind its beginning a match has dashes
	bytes    [256]bool              // first
	anchored *regexp.Regexp         // the pattern, at the beginning of a text
}

const (
	digits = "0123456789"
	days   = "MTWFS"    // Monday to Sunday
	months = "JFMASOND" // January to December
	hex    = "abcdefABCDEF" + digits
)

// holding needs a text that holds a part.
func holding(part string) func(string) bool {
	return func(text string) bool { return strings.Contains(text, part) }
}

func anyText(string) bool { return true }

func speaksOfTokens(text string) bool { return strings.Contains(strings.ToLower(text), "token") }

// of completes a start for its pattern.
func (s start) of(pattern string) start {
	if s.first == "" {
		return s
	}
	s.anchored = regexp.MustCompile(`^(?:` + pattern + `)`)
	for i := range len(s.first) {
		s.bytes[s.first[i]] = true
	}
	return s
}

// here reports whether a match may begin at a byte of a text.
func (s *start) here(text string, i int) bool {
	if !s.bytes[text[i]] || s.word && i > 0 && isWord(text[i-1]) {
		return false
	}
	for _, d := range s.dashes {
		if i+d >= len(text) || text[i+d] != '-' {
			return false
		}
	}
	return true
}

// replace puts mark in the place of every match, as ReplaceAllLiteralString does.
func (s *start) replace(pattern *regexp.Regexp, text, mark string) string {
	if s.needs != nil && !s.needs(text) {
		return text
	}
	if s.anchored == nil {
		return pattern.ReplaceAllLiteralString(text, mark)
	}
	var out strings.Builder
	copied := 0
	for i := 0; i < len(text); i++ {
		if !s.here(text, i) {
			continue
		}
		if at := s.anchored.FindStringIndex(text[i:]); at != nil {
			out.WriteString(text[copied:i])
			out.WriteString(mark)
			copied = i + at[1]
			i = copied - 1
		}
	}
	if copied == 0 {
		return text
	}
	out.WriteString(text[copied:])
	return out.String()
}

// isWord reports whether a byte belongs to a word, for \b.
func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
