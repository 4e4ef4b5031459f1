package safehtml

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Run is a stretch of text, or a mark for characters that cannot be seen.
type Run struct {
	Text string
	Mark bool
}

// maxMarks bounds how many characters one mark spells out.
const maxMarks = 8

// Runs splits text so that each character that is invisible, or that would reorder
// its neighbours, becomes visible.
func Runs(s string) []Run {
	var out []Run
	start := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !hidden(s, i, r, n) {
			i += n
			continue
		}
		if i > start {
			out = append(out, Run{Text: s[start:i]})
		}
		var mark string
		mark, i = markAt(s, i)
		out = append(out, Run{Text: mark, Mark: true})
		start = i
	}
	if start < len(s) {
		out = append(out, Run{Text: s[start:]})
	}
	return out
}

// markAt spells out the hidden characters from i on and returns where they end.
func markAt(s string, i int) (string, int) {
	var b strings.Builder
	shown, more := 0, 0
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !hidden(s, i, r, n) {
			break
		}
		if shown < maxMarks {
			b.WriteString(spell(s[i:i+n], r))
			shown++
		} else {
			more++
		}
		i += n
	}
	if more > 0 {
		fmt.Fprintf(&b, "⟦+%d⟧", more)
	}
	return b.String(), i
}

func spell(bytes string, r rune) string {
	switch {
	case r == utf8.RuneError && len(bytes) == 1:
		return fmt.Sprintf("⟦0x%02X⟧", bytes[0])
	case r == 0x1b:
		return "⟦ESC⟧"
	}
	return fmt.Sprintf("⟦U+%04X⟧", r)
}

// hidden reports whether the character r of n bytes at s[i] cannot be seen.
// Joiners between letters of scripts that need them, and between emoji, are
// left alone.
func hidden(s string, i int, r rune, n int) bool {
	switch {
	case r < 0x20:
		return r != '\n' && r != '\t' && !(r == '\r' && strings.HasPrefix(s[i+1:], "\n"))
	case r < 0x7f:
		return false
	case r < 0xa0:
		return true
	case r == utf8.RuneError:
		return n == 1
	case r == 0x200c || r == 0x200d:
		return !joins(s, i, n)
	case 0xfe00 <= r && r <= 0xfe0f:
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		return before < 0x80 && !strings.ContainsRune("0123456789#*", before) || unicode.Is(unicode.Variation_Selector, before)
	}
	return unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) || unicode.Is(unicode.Variation_Selector, r) || blank(r)
}

// blank reports whether r is a letter by its category but draws nothing.
func blank(r rune) bool {
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0:
		return true
	}
	return false
}

func joins(s string, i, n int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+n:])
	return visibleBeyondLatin(before) && visibleBeyondLatin(after)
}

func visibleBeyondLatin(r rune) bool {
	return r > 0x2ff && r != utf8.RuneError && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && !blank(r)
}

// Plain is Runs as one string, for titles and attributes.
func Plain(s string) string {
	var b strings.Builder
	for _, r := range Runs(s) {
		b.WriteString(r.Text)
	}
	return b.String()
}
