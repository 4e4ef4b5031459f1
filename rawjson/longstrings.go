package rawjson

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// longString is the length from which a string is put aside while its value is
// decoded and encoded again. Images are strings of megabytes, and the result has the
// same bytes.
const longString = 4 << 10

// longStrings are strings that were put aside.
type longStrings struct {
	prefix string // of the placeholders; random, so that no input contains it
	texts  [][]byte
}

// putAside returns a JSON value with placeholders for those long strings that are
// already written in their canonical form.
func putAside(raw []byte) ([]byte, *longStrings) {
	if len(raw) < longString {
		return raw, nil
	}
	l := &longStrings{prefix: fmt.Sprintf(`"long-%016x-`, rand.Uint64())}
	var out []byte
	done := 0 // bytes of raw that are in out
	for i := 0; ; {
		n := bytes.IndexByte(raw[i:], '"')
		if n < 0 {
			break
		}
		begin := i + n
		end := SkipString(raw, begin)
		if end < 0 {
			break
		}
		if i = end; end-begin < longString || !isPlain(raw[begin+1:end-1]) || isName(raw[end:]) {
			continue
		}
		out = append(append(out, raw[done:begin]...), l.name(len(l.texts))...)
		l.texts = append(l.texts, raw[begin:end])
		done = end
	}
	if len(l.texts) == 0 {
		return raw, nil
	}
	return append(out, raw[done:]...), l
}

func (l *longStrings) name(i int) string { return fmt.Sprintf(`%s%d"`, l.prefix, i) }

// putBack returns a text with its placeholders replaced.
func (l *longStrings) putBack(text []byte) []byte {
	if l == nil {
		return text
	}
	size := len(text)
	for _, t := range l.texts {
		size += len(t)
	}
	out := make([]byte, 0, size)
	for {
		before, rest, ok := bytes.Cut(text, []byte(l.prefix))
		out = append(out, before...)
		if !ok {
			return out
		}
		i := 0
		for ; rest[0] != '"'; rest = rest[1:] {
			i = 10*i + int(rest[0]-'0')
		}
		out, text = append(out, l.texts[i]...), rest[1:]
	}
}

// isPlain reports whether encoding/json writes a string as these bytes.
func isPlain(s []byte) bool {
	for _, c := range s {
		if c < ' ' || c > '~' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

// isName reports whether a string is a member's name, by the text after it.
func isName(after []byte) bool {
	i := SkipSpace(after, 0)
	return i < len(after) && after[i] == ':'
}
