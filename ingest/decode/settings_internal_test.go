package decode

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/retake-debugger/retake/transcript"
)

func TestSettings_AreThoseOfTheRequest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var s settings
	for range 2000 {
		var input []transcript.Item
		for range r.IntN(4) {
			text := fmt.Sprintf("text%c\nline", 'a'+r.IntN(4))
			switch r.IntN(3) {
			case 0:
				input = append(input, transcript.Item{Kind: transcript.System, Text: text})
			case 1:
				input = append(input, transcript.Item{Kind: transcript.ToolDefinition, Name: text})
			default:
				input = append(input, transcript.Item{Kind: transcript.MessageItem, Text: text})
			}
		}
		if got, want := s.of(input), transcript.SettingsOf(input); got != want {
			t.Fatalf("settings of %+v are %+v, want %+v", input, got, want)
		}
		if len(s.known) > settingsMost {
			t.Fatalf("%d settings are remembered", len(s.known))
		}
	}
}
