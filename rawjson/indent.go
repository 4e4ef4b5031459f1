package rawjson

import "bytes"

// laidOut is how deep values get lines of their own. What lies deeper follows on the
// line: two blanks a level would make the text as long as the square of the depth.
const laidOut = 60

// Indent lays out a JSON value as encoding/json.Indent does, with two blanks a level
// for the first 60 levels, and stops after about most bytes. ok is false if text is
// not one valid JSON value. Strings and numbers stay as written.
func Indent(text []byte, most int) (out []byte, ok bool) {
	if !Valid(text) {
		return nil, false
	}
	b := bytes.NewBuffer(make([]byte, 0, min(most, 2*len(text))+64))
	depth := 0
	for i := SkipSpace(text, 0); i < len(text) && b.Len() < most; i = SkipSpace(text, i) {
		switch c := text[i]; c {
		case '{', '[':
			b.WriteByte(c)
			i = SkipSpace(text, i+1)
			if text[i] == c+2 { // empty
				b.WriteByte(text[i])
				i++
				continue
			}
			depth++
			newLine(b, depth, depth)
		case '}', ']':
			depth--
			newLine(b, depth, depth+1)
			b.WriteByte(c)
			i++
		case ',':
			b.WriteByte(c)
			newLine(b, depth, depth)
			i++
		case ':':
			b.WriteString(": ")
			i++
		default:
			end := Skip(text, i)
			b.Write(text[i:end])
			i = end
		}
	}
	return b.Bytes(), true
}

// newLine begins a line for something at a depth, unless the container it belongs to
// lies too deep.
func newLine(b *bytes.Buffer, depth, container int) {
	if container > laidOut {
		return
	}
	b.WriteByte('\n')
	for range depth {
		b.WriteString("  ")
	}
}
