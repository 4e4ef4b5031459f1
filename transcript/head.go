package transcript

import "unicode/utf8"

// Head returns the first n bytes of a text, fewer where that would cut a character.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
