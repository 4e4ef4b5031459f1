package transcript

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// longString is from what size on a string of a JSON value is put aside while the
// value is read: pictures are strings of megabytes, and decoding and encoding one
// again gives the same bytes.
const longString = 4 << 10

// longStrings are strings that were put aside.
type longStrings struct {
	prefix string // of what stands for them, which nobody can guess
	texts  [][]byte
}

// putAside gives a JSON value with short strings in the place of its long ones, of
// those whose canonical form is what is written.
func putAside(raw []byte) ([]byte, *longStrings) {
	if len(raw) < longString {
		return raw, nil
	}
	l := &longStrings{prefix: fmt.Sprintf(`"long-%016x-`, rand.Uint64())}
	var out []byte
	done := 0 // of raw, that is in out
	for i := 0; ; {
		n := bytes.IndexByte(raw[i:], '"')
		if n < 0 {
			break
		}
		begin := i + n
		end := stringEnd(raw, begin)
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

// putBack gives a text with the strings that were put aside.
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

// stringEnd gives the index behind the string that begins at raw[i], -1 if it has
// no end.
func stringEnd(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return -1
}

// isPlain tells whether encoding/json writes a string as these bytes.
func isPlain(s []byte) bool {
	for _, c := range s {
		if c < ' ' || c > '~' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

// isName tells whether what a string stands before makes it a member's name.
func isName(behind []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(behind, " \t\r\n"), []byte(":"))
}
