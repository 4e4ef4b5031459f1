package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// An item is cut into parts where a character begins. One that is not UTF-8, such
// as a file that an agent has read, has none for as long as it likes.
func TestTexts_PartsOfWhatIsNotUTF8(t *testing.T) {
	for name, text := range map[string]string{
		"continuation bytes alone":        strings.Repeat("\x80", 100<<10),
		"many continuation bytes in text": strings.Repeat("a", 32<<10-700) + strings.Repeat("\xbf", 5000) + strings.Repeat("b", 50<<10),
		"latin 1":                         strings.Repeat("na\xefve \xe9t\xe9 ", 10<<10),
	} {
		t.Run(name, func(t *testing.T) {
			done := make(chan []transcript.SearchText, 1)
			go func() {
				var all texts
				all.alone(transcript.SearchItem{Text: text}, transcript.Key{}, partBytes)
				done <- all.list
			}()
			select {
			case list := <-done:
				size := 0
				for i := range list {
					if !list[i].Words {
						size += list[i].Bytes()
					}
				}
				if size > 4*len(text) { // each byte that is not UTF-8 becomes three
					t.Errorf("%d bytes in %d parts", size, len(list))
				}
			case <-time.After(5 * time.Second):
				t.Fatal("there is no end to it")
			}
		})
	}
}

// Whatever part of a long item is looked for, one of its texts has it, as far as the
// index looks.
func TestTexts_PartsOverlap(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "%d数 ſ%x ", i, i)
	}
	item := b.String()
	var all texts
	all.alone(transcript.SearchItem{Text: item}, transcript.Key{}, partBytes)
	folded := transcript.Fold(item)
	for from := 0; from < len(folded); from += 29 {
		part := strings.ToValidUTF8(folded[from:min(len(folded), from+transcript.SearchOverlap)], "")
		if !slices.ContainsFunc(all.list, func(s transcript.SearchText) bool { return strings.Contains(s.Items[0].Text, part) }) {
			t.Fatalf("no text has %q", part)
		}
	}
	if n := len(all.list); n < len(folded)/partBytes || n > len(folded)/partBytes+3 || !all.list[n-1].Words {
		t.Errorf("%d texts of %d bytes", n, len(folded))
	}
}
