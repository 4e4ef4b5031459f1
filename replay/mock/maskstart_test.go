package mock

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where matches may begin is known of each mask: what it finds there is what it finds
// when it is tried everywhere.
func TestStart_FindsWhatThePatternFinds(t *testing.T) {
	parts := []string{"0190a000-0000-7000-8000-000000000001", "a0190a000-0000-7000-8000-000000000001b", "2026-11-30", "2026-11-30T09:30:00.5Z", "x2026-11-30", "Mon, Nov 30, 2026", "Monday Nov 30 09:30:00 UTC 2026", "Mon, 30 Nov 2026", "30 November 2026",
		"11/30/2026", "9:30:01 AM", "12:00:00,25", "1.5 s", "12ms", "3 minutes", "7µs", "xx7s", "_7s", "token usage: 1,000/2,000; 1,000 remaining", "TOKEN USAGE: 5/7; 2 remaining", "12k of 200k to\u212aens left", "tokens used: 12.5k", "/private/var/tmp/abc/d", "/tmp/x y",
		"/var/folders/a/b/T/c", "-private-tmp-abc-def", "-var-tmp-1", "tmp-5", " ", ",", ".", "-", "/", ":", "é", "5", "M", "Ma", "\n", "_", "a", "\xff", "2026-11-30-12"}
	r := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for range 20_000 {
		var b strings.Builder
		for range 1 + r.IntN(6) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		texts = append(texts, b.String())
	}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files found (%v)", err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for _, m := range Masks() {
		if m.Member != "" {
			continue
		}
		found := 0
		for _, text := range texts {
			want := m.Pattern.ReplaceAllLiteralString(text, "<>")
			if got := m.start.replace(m.Pattern, text, "<>"); got != want {
				t.Fatalf("%s in %q: %q, want %q", m, text, got, want)
			}
			if want != text {
				found++
			}
		}
		if found == 0 {
			t.Errorf("%s is in none of the texts", m)
		}
	}
}
