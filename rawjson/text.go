package rawjson

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// String returns the text of a JSON string, "" for anything else.
func String(v []byte) string {
	if !IsString(v) {
		return ""
	}
	return Unquote(v)
}

// Unquote decodes a JSON string as encoding/json does: bytes that are not UTF-8 and
// a surrogate without its other half become U+FFFD.
func Unquote(v []byte) string {
	s := v[1 : len(v)-1]
	valid := utf8.Valid(s)
	if valid && bytes.IndexByte(s, '\\') < 0 {
		return string(s)
	}
	out := make([]byte, 0, len(s))
	for len(s) > 0 {
		n := bytes.IndexByte(s, '\\')
		if n < 0 || n == len(s)-1 {
			n = len(s)
		}
		if valid {
			out = append(out, s[:n]...)
		} else {
			out = appendValid(out, s[:n])
		}
		if s = s[n:]; len(s) > 0 {
			out, n = appendEscape(out, s)
			s = s[n:]
		}
	}
	return string(out)
}

// appendValid appends a text with U+FFFD in place of bytes that are not UTF-8.
func appendValid(out, s []byte) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		out, s = utf8.AppendRune(out, r), s[n:]
	}
	return out
}

func appendEscape(out, s []byte) ([]byte, int) {
	switch s[1] {
	case 'b':
		return append(out, '\b'), 2
	case 'f':
		return append(out, '\f'), 2
	case 'n':
		return append(out, '\n'), 2
	case 'r':
		return append(out, '\r'), 2
	case 't':
		return append(out, '\t'), 2
	case 'u':
		r := unit(s)
		if r < 0 {
			return append(out, 'u'), 2
		}
		if utf16.IsSurrogate(r) {
			if pair := utf16.DecodeRune(r, unit(s[6:])); pair != utf8.RuneError {
				return utf8.AppendRune(out, pair), 12
			}
			r = utf8.RuneError
		}
		return utf8.AppendRune(out, r), 6
	}
	return append(out, s[1]), 2
}

// unit returns the UTF-16 unit of the \u escape that s begins with, -1 if there is
// none.
func unit(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	r := rune(0)
	for _, c := range s[2:6] {
		h := hexDigit(c)
		if h < 0 {
			return -1
		}
		r = r<<4 | rune(h)
	}
	return r
}

// Quote returns a text as a JSON string with no more escapes than necessary.
func Quote(s string) []byte {
	out := make([]byte, 0, len(s)+len(s)/32+2)
	out = append(out, '"')
	for len(s) > 0 {
		n := plainPart(s)
		out = append(out, s[:n]...)
		if s = s[n:]; len(s) == 0 {
			break
		}
		switch c := s[0]; {
		case c == '"', c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, '\\', 'n')
		case c == '\r':
			out = append(out, '\\', 'r')
		case c == '\t':
			out = append(out, '\\', 't')
		case c < ' ':
			const digits = "0123456789abcdef"
			out = append(out, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default: // no UTF-8
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		s = s[1:]
	}
	return append(out, '"')
}

// plainPart returns how many bytes of s JSON writes as they are.
func plainPart(s string) int {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				return i
			}
			i += n
		case c < ' ', c == '"', c == '\\':
			return i
		default:
			i++
		}
	}
	return len(s)
}

// maxCount limits a count, so that sums do not overflow.
const maxCount = 1 << 53

// Count returns a number as a count, 0 if v is none. Some providers write 12.0.
func Count(v []byte) int64 {
	if len(v) == 0 || len(v) > 32 {
		return 0
	}
	if len(v) < 16 {
		n, i := int64(0), 0
		for i < len(v) && v[i] >= '0' && v[i] <= '9' {
			n = 10*n + int64(v[i]-'0')
			i++
		}
		if i == len(v) {
			return n
		}
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f != f {
		return 0
	}
	return int64(max(0, min(f, maxCount)))
}

// Scalar returns the text of a string, and any other scalar as it is written.
func Scalar(v []byte) string {
	if IsString(v) {
		return Unquote(v)
	}
	if !Present(v) {
		return ""
	}
	return string(v)
}
