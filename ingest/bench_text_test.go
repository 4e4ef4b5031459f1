//go:build unix

package ingest_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// words makes text like that of transcripts, already escaped for JSON. It never
// says the same twice: where conversations were recorded beside the project it
// gives what they say, in its order, and else made-up words, which compress less.
type words struct {
	rand *rand.Rand
	all  []string
	said []string // texts of recorded conversations
	at   int      // in the first of them
}

// newWords makes words up.
func newWords(seed uint64) *words {
	w := &words{rand: rand.New(rand.NewPCG(seed, 0))}
	for range 4000 {
		word := make([]byte, 2+w.rand.IntN(8))
		for i := range word {
			word[i] = "etaoinshrdlucmfwyp"[w.rand.IntN(18)]
		}
		w.all = append(w.all, string(word))
	}
	return w
}

func madeUp(_ *testing.B, seed uint64) *words { return newWords(seed) }

// recordedWords gives what was really said.
func recordedWords(b *testing.B, seed uint64) *words {
	w := newWords(seed)
	seen := map[string]bool{}
	var learn func(v any)
	learn = func(v any) {
		switch v := v.(type) {
		case string:
			if len(v) > 60 && strings.Contains(v, " ") && !seen[v] {
				seen[v] = true
				w.said = append(w.said, v)
			}
		case []any:
			for _, e := range v {
				learn(e)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				learn(v[name])
			}
		}
	}
	_ = filepath.WalkDir("../../shared/corpus/long/dev", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		raw, _ := os.ReadFile(path)
		for dec := json.NewDecoder(bytes.NewReader(raw)); ; {
			var v any
			if dec.Decode(&v) != nil {
				return nil
			}
			learn(v)
		}
	})
	if len(w.said) == 0 {
		b.Skip("no recorded conversations beside the project")
	}
	return w
}

// text gives about n bytes.
func (w *words) text(n int) string {
	var b strings.Builder
	for b.Len() < n && len(w.said) > 0 {
		rest := w.said[0][w.at:]
		some := strings.ToValidUTF8(rest[:min(n-b.Len(), len(rest))], "")
		escaped, _ := json.Marshal(some)
		b.Write(escaped[1 : len(escaped)-1])
		if w.at += max(len(some), 1); w.at >= len(w.said[0]) {
			w.said, w.at = w.said[1:], 0
		}
	}
	for b.Len() < n {
		b.WriteString(w.all[w.rand.IntN(len(w.all))])
		switch w.rand.IntN(12) {
		case 0:
			b.WriteString(`,\n`)
		case 1:
			b.WriteString(` \"`)
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}
