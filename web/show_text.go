package web

import (
	"strings"
	"unicode/utf8"

	"github.com/retake-debugger/retake/transcript"
)

// oneLine puts a text on one line of at most n characters.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(transcript.Head(s, 8*n)), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}
