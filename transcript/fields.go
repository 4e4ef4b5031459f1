package transcript

import (
	"strconv"
	"strings"
)

// Field is a text of an item that a search reads.
type Field struct {
	Name string // "name", "call_id", "text", "arguments" or "raw"
	Text string // long runs of base64 are left out
}

// Fields returns the texts that a search reads. Where arguments and source JSON
// contain escapes, they are there as they came and with the escapes decoded, so
// that code in them is found as it is read.
func (it *Item) Fields() []Field {
	var fields []Field
	add := func(name, text string) {
		if text != "" {
			fields = append(fields, Field{name, WithoutBase64(text)})
		}
	}
	both := func(name, text string) {
		if strings.IndexByte(text, '\\') >= 0 {
			add(name, unescape(text))
		}
		add(name, text)
	}
	if it.Kind == ToolDefinition { // its name is in its source
		both("raw", string(it.Raw))
		return fields
	}
	add("text", it.Text)
	add("name", it.Name)
	both("arguments", it.ArgumentsRaw)
	add("call_id", it.CallID)
	if it.Kind == Other || it.Kind == ToolResult && len(it.Parts) > 0 {
		both("raw", string(it.Raw))
	}
	return fields
}

// unescape decodes the escapes of JSON strings wherever they stand.
func unescape(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			r, n := escapedRune(s[i-1:])
			if n == 0 {
				b.WriteString(`\u`)
				break
			}
			b.WriteRune(r)
			i += n - 2
		default: // \" \\ \/
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// escapedRune reads \uXXXX, or two of them that are one character, and gives
// how long that is; 0 if it is neither.
func escapedRune(s string) (r rune, n int) {
	hex := func(s string) (rune, bool) {
		if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
			return 0, false
		}
		v, err := strconv.ParseUint(s[2:6], 16, 32)
		return rune(v), err == nil
	}
	r, ok := hex(s)
	if !ok {
		return 0, 0
	}
	if r >= 0xd800 && r < 0xdc00 {
		if low, ok := hex(s[6:]); ok && low >= 0xdc00 && low < 0xe000 {
			return 0x10000 + (r-0xd800)<<10 + (low - 0xdc00), 12
		}
	}
	return r, 6 // half of a pair is written as U+FFFD
}
