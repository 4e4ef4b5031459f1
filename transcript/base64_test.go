package transcript

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// runsOneByOne is the plain way to say what a run is.
func runsOneByOne(s string, least int) (runs [][2]int) {
	for start := 0; start < len(s); {
		end := start
		for end < len(s) && strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_", s[end]) >= 0 {
			end++
		}
		run := s[start:end]
		if len(run) >= least && strings.ContainsAny(run, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ContainsAny(run, "abcdefghijklmnopqrstuvwxyz") && strings.ContainsAny(run, "0123456789") {
			runs = append(runs, [2]int{start, end})
		}
		start = max(end, start) + 1
	}
	return runs
}

func TestBase64Runs_FindsWhatAPlainLookFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	found := 0
	for range 5000 {
		text := make([]byte, r.IntN(60))
		alphabet := []string{"aB3 ", "aB3+/=-_", "ab ", "aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3 ", "aB3\xff\n"}[r.IntN(5)]
		for i := range text {
			text[i] = alphabet[r.IntN(len(alphabet))]
		}
		least := 1 + r.IntN(20)
		want := runsOneByOne(string(text), least)
		var got [][2]int
		for start, end := range Base64Runs(string(text), least) {
			got = append(got, [2]int{start, end})
		}
		found += len(want)
		if !slices.Equal(want, got) {
			t.Fatalf("runs of %d in %q are %v, want %v", least, text, got, want)
		}
	}
	if found < 1000 {
		t.Errorf("only %d runs", found)
	}
}
