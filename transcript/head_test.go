package transcript_test

import (
	"testing"

	"github.com/retake-debugger/retake/transcript"
)

func TestHead_CutsBetweenCharacters(t *testing.T) {
	for n, want := range []string{"", "a", "a", "aé", "aé"} {
		if got := transcript.Head("aé", n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
}
