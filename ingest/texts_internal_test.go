package ingest

import (
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
