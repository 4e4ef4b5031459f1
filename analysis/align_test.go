package analysis

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// common is the length of the longest common subsequence, the plain way.
func common(a, b string) int {
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for k := range b {
			length[i+1][k+1] = max(length[i][k+1], length[i+1][k])
			if a[i] == b[k] {
				length[i+1][k+1] = length[i][k] + 1
			}
		}
	}
	return length[len(a)][len(b)]
}

func checkAligned(t *testing.T, a, b string) int {
	t.Helper()
	i, k := -1, -1
	pairs := Align([]byte(a), []byte(b))
	for _, p := range pairs {
		if p[0] <= i || p[1] <= k || a[p[0]] != b[p[1]] {
			t.Fatalf("align %q %q: %v is not in order or not equal", a, b, pairs)
		}
		i, k = p[0], p[1]
	}
	return len(pairs)
}

func TestAlign_FindsTheLongestWhereNothingIsUnique(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		word := func() string {
			var b strings.Builder
			for range random.IntN(14) {
				b.WriteByte('a' + byte(random.IntN(3)))
			}
			return b.String()
		}
		a, b := word()+"", word()
		a, b = a+a, b+b // no element is there once
		if got, want := checkAligned(t, a, b), common(a, b); got != want {
			t.Fatalf("align %q %q: %d in common, want %d", a, b, got, want)
		}
	}
}

func TestAlign_KeepsWhatSurroundsAChange(t *testing.T) {
	tests := []struct {
		name, a, b string
		want       int
	}{
		{"nothing", "", "", 0},
		{"equal", "abcdef", "abcdef", 6},
		{"inserted", "abcdef", "abcXdef", 6},
		{"deleted", "abcXdef", "abcdef", 6},
		{"swapped", "abcdef", "abdcef", 5},
		{"nothing in common", "abc", "def", 0},
		{"one side empty", "abc", "", 0},
		{"repeated", "xaxbxcx", "xaxcx", 5},
	}
	for _, tt := range tests {
		if got := checkAligned(t, tt.a, tt.b); got != tt.want {
			t.Errorf("%s: %d in common, want %d", tt.name, got, tt.want)
		}
	}
}

func FuzzAlign(f *testing.F) {
	f.Add("abcabba", "cbabac")
	f.Add("", "a")
	f.Add("aaaa", "aa")
	f.Fuzz(func(t *testing.T, a, b string) { checkAligned(t, a, b) })
}
