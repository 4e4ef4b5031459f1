package rawjson

import "bytes"

// Extent finds the end of a JSON value that comes in parts.
type Extent struct {
	depth   int
	text    bool // inside a string
	escaped bool // after a backslash
}

// Reached reports whether the value ends in the next part. A number or a word may end
// anywhere.
func (x *Extent) Reached(part []byte) bool {
	for i := 0; i < len(part); i++ {
		switch c := part[i]; {
		case x.escaped:
			x.escaped = false
		case x.text:
			end := bytes.IndexByte(part[i:], '"')
			if end < 0 {
				end = len(part) - i
			}
			text := part[i : i+end]
			x.escaped = (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 1
			if i += end; i < len(part) {
				x.text, x.escaped = x.escaped, false
			}
		case c == '"':
			x.text = true
		case c == '{' || c == '[':
			x.depth++
		case c == '}' || c == ']':
			x.depth--
		}
	}
	return x.depth <= 0 && !x.text
}

// OpenArray returns the name of the member whose array begins at the end of a text,
// "" if none does.
func OpenArray(text []byte) string {
	rest, ok := bytes.CutSuffix(text, []byte("["))
	if !ok {
		return ""
	}
	rest, ok = bytes.CutSuffix(bytes.TrimSpace(rest), []byte(":"))
	if !ok {
		return ""
	}
	rest, ok = bytes.CutSuffix(bytes.TrimSpace(rest), []byte(`"`))
	if !ok {
		return ""
	}
	return string(rest[bytes.LastIndexByte(rest, '"')+1:])
}
