package transcript

import (
	"iter"
	"strings"
)

const (
	longBase64 = 512 // so long a run of its characters is data, not text
	keptBase64 = 64  // what stays of one at either end
)

// WithoutBase64 returns a text without the middle of its long runs of base64:
// searches do not need it, and an index of it would be as large as the data.
func WithoutBase64(s string) string {
	var out strings.Builder
	done := 0
	for start, end := range Base64Runs(s, longBase64) {
		out.WriteString(s[done : start+keptBase64])
		out.WriteString("…")
		done = end - keptBase64
	}
	if done == 0 {
		return s
	}
	return out.String() + s[done:]
}

// Base64Runs returns where runs of at least that many bytes of base64 begin and
// end. A run without capitals, small letters and digits is a word, a path or a
// line, not data.
func Base64Runs(s string, least int) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for start := 0; start+least <= len(s); {
			// From the end: in a text, whose words are short, few bytes are read.
			last := start + least - 1
			for last >= start && isBase64(s[last]) {
				last--
			}
			if last >= start {
				start = last + 1
				continue
			}
			end := start + least
			for end < len(s) && isBase64(s[end]) {
				end++
			}
			if isMixed(s[start:end]) && !yield(start, end) {
				return
			}
			start = end + 1
		}
	}
}

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '=' || c == '-' || c == '_'
}

// isMixed reports whether there are capitals, small letters and digits.
func isMixed(s string) bool {
	var upper, lower, digit bool
	for i := 0; i < len(s) && !(upper && lower && digit); i++ {
		c := s[i]
		upper = upper || c >= 'A' && c <= 'Z'
		lower = lower || c >= 'a' && c <= 'z'
		digit = digit || c >= '0' && c <= '9'
	}
	return upper && lower && digit
}
