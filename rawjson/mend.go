package rawjson

import (
	"fmt"
	"unicode/utf8"
)

// Mend returns the JSON value that b begins with. A complete value is returned as
// b's own bytes. Of a damaged one it returns what comes before the damage, with the
// open brackets closed, and whole is false. rest is how many bytes of b, apart from
// white space, are not in v. v is nil if b does not begin with a value.
func Mend(b []byte) (v []byte, whole bool, rest int) {
	c := Reader{Text: b, cut: -1}
	c.stack = c.room[:0]
	if c.value() {
		start := SkipSpace(b, 0)
		end := c.At
		if tail := SkipSpace(b, end); tail < len(b) {
			rest = len(b) - end
		}
		return b[start:end:end], true, rest
	}
	if c.good == 0 && c.cut < 0 {
		return nil, false, len(b)
	}
	start := SkipSpace(b, 0)
	end, depth := max(c.good, start), c.depth
	v = append(make([]byte, 0, end-start+len(c.stack)+1), b[start:end]...)
	if c.cut >= 0 {
		s := wholeChars(b[c.cut:])
		v = append(append(append(v, b[end:c.cut]...), s...), '"')
		end, depth = c.cut+len(s), len(c.stack)
	}
	for d := depth - 1; d >= 0; d-- {
		v = append(v, c.stack[d]+2) // '{'+2 is '}', '['+2 is ']'
	}
	return v, false, len(b) - end
}

// wholeChars drops an escape or a character that the end of the input cuts off.
func wholeChars(s []byte) []byte {
	for i := 1; i < len(s); {
		n := 1
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == 'u':
			n = 6
			if i+12 > len(s) && i+3 < len(s) && (s[i+2] == 'd' || s[i+2] == 'D') && s[i+3] >= '8' {
				return s[:i] // a high surrogate without its other half
			}
		case s[i] == '\\':
			n = 2
		case s[i] >= utf8.RuneSelf && !utf8.FullRune(s[i:]):
			return s[:i]
		}
		if i+n > len(s) {
			return s[:i]
		}
		i += n
	}
	return s
}

// EscapeControls returns b with the control characters in its strings escaped, as
// JSON requires, and how many there were.
func EscapeControls(b []byte) (fixed []byte, n int) {
	from, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			quoted = !quoted
		case !quoted:
		case c == '\\':
			i++
		case c < 0x20:
			fixed = fmt.Appendf(append(fixed, b[from:i]...), `\u%04x`, c)
			from = i + 1
			n++
		}
	}
	return append(fixed, b[from:]...), n
}
