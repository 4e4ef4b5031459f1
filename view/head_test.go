package view

import "testing"

func TestHead_CutsBetweenCharacters(t *testing.T) {
	for n, want := range []string{"", "a", "a", "aé", "aé"} {
		if got := Head("aé", n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
}
