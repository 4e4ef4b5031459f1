package main

import (
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// newJSON returns an encoder that also escapes what a terminal may interpret:
// encoding/json escapes only characters below U+0020.
func newJSON(w io.Writer) *json.Encoder {
	e := json.NewEncoder(controlEscaper{w})
	e.SetEscapeHTML(false)
	return e
}

// controlEscaper escapes U+007F to U+009F and bidirectional controls in JSON, where
// they occur only in strings, and puts U+FFFD for bytes that are not UTF-8, which
// recorded JSON may have: the document has to be UTF-8. No write may end within a character: encoding/json
// writes whole documents.
type controlEscaper struct{ io.Writer }

func (c controlEscaper) Write(document []byte) (int, error) {
	var out []byte
	from := 0
	for i := 0; i < len(document); {
		if document[i] < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(document[i:])
		if r <= 0x9f || r == utf8.RuneError && n == 1 || unicode.Is(unicode.Bidi_Control, r) {
			out = fmt.Appendf(append(out, document[from:i]...), `\u%04x`, r)
			from = i + n
		}
		i += n
	}
	if from == 0 {
		return c.Writer.Write(document)
	}
	if _, err := c.Writer.Write(append(out, document[from:]...)); err != nil {
		return 0, err
	}
	return len(document), nil
}
