package safehtml

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestRuns_MarksWhatCannotBeSeen(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\nand\r\nlines":      "plain\ttext\nand\r\nlines",
		"lone\rreturn":                   "lone⟦U+000D⟧return",
		"a\u202Eb":                       "a⟦U+202E⟧b",
		"\u2066x\u2069":                  "⟦U+2066⟧x⟦U+2069⟧",
		"\xff\xfe":                       "⟦0xFF⟧⟦0xFE⟧",
		"\x00\x7f\u0085":                 "⟦U+0000⟧⟦U+007F⟧⟦U+0085⟧",
		"real \uFFFD stays":              "real \uFFFD stays",
		"👩\u200d💻 ❤\ufe0f 1\ufe0f":       "👩\u200d💻 ❤\ufe0f 1\ufe0f",
		"می\u200cخواهم":                  "می\u200cخواهم",
		"a\u200db":                       "a⟦U+200D⟧b",
		"x\ufe0f":                        "x⟦U+FE0F⟧",
		"x\U000E0101":                    "x⟦U+E0101⟧",
		"\u3164\u2028\u00ad":             "⟦U+3164⟧⟦U+2028⟧⟦U+00AD⟧",
		strings.Repeat("\U000E0041", 20): strings.Repeat("⟦U+E0041⟧", 8) + "⟦+12⟧",
		"":                               "",
	} {
		if got := Plain(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

func FuzzRuns(f *testing.F) {
	for _, s := range []string{"", "a\u202Eb\xff\x00", "👩\u200d💻", "\u200d\u200d\ufe0f\ufe0f", "\r\n\r", strings.Repeat("\u200b", 30)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rest := s
		for _, r := range Runs(s) {
			if r.Mark {
				continue
			}
			at := strings.Index(rest, r.Text)
			if at < 0 || r.Text == "" || !utf8.ValidString(r.Text) {
				t.Fatalf("%q is not of %q", r.Text, s)
			}
			rest = rest[at+len(r.Text):]
			for _, c := range r.Text {
				if c == 0x202e || c == 0x200b || c < 0x20 && c != '\n' && c != '\t' && c != '\r' || unicode.Is(unicode.Bidi_Control, c) {
					t.Fatalf("%U is shown bare in %q", c, s)
				}
			}
		}
	})
}
