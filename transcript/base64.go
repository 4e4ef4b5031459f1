package transcript

import (
	"iter"
	"strings"
)

const (
	longBase64 = 512 // so long a run of its characters is data, not text
	keptBase64 = 64  // what stays of one at either end
)

// WithoutBase64 gives a text without the middle of its long runs of base64:
// nobody looks for that, and an index of it would be as large as the data.
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

// Base64Runs gives where runs of that many bytes of base64 and more begin and
// end. One without capitals, small letters and digits is a word, a path or a
// line, no data.
func Base64Runs(s string, least int) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		if len(s) < least {
			return
		}
		start := 0
		var upper, lower, digit bool
		for i := 0; i <= len(s); i++ {
			if i < len(s) {
				switch c := s[i]; {
				case c >= 'a' && c <= 'z':
					lower = true
					continue
				case c >= 'A' && c <= 'Z':
					upper = true
					continue
				case c >= '0' && c <= '9':
					digit = true
					continue
				case c == '+', c == '/', c == '=', c == '-', c == '_':
					continue
				}
			}
			if i-start >= least && upper && lower && digit && !yield(start, i) {
				return
			}
			start, upper, lower, digit = i+1, false, false, false
		}
	}
}
