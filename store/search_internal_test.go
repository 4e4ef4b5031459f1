package store

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/transcript"
)

func FuzzItems(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{3, 1, 2, 4, 0, 0, 1, 'x', 2, 0xff, 0xff})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Add(packItems([]packedItem{
		{SearchItem: transcript.SearchItem{Exchange: 7, Body: "request", At: "/messages/1", Piece: 33, Kind: transcript.ToolResult, IsError: true}, tool: 5, more: true, signature: signatureOf("some text")},
		{SearchItem: transcript.SearchItem{Exchange: 9, Body: "response", At: "/messages/12", Kind: transcript.System}},
	}, 7))
	wanted := tracesOf(&transcript.SearchQuery{Text: "some text"})
	f.Fuzz(func(t *testing.T, packed []byte) {
		items, err := unpackItems(packed, 7)
		if err != nil {
			return
		}
		again, err := unpackItems(packItems(items, 7), 7)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(items, again, cmp.AllowUnexported(packedItem{}), cmp.Comparer(func(a, b []byte) bool { return string(a) == string(b) })); diff != "" {
			t.Errorf("items differ when they are packed again (-want +got):\n%s", diff)
		}
		var want []string
		for _, it := range items {
			if !it.words && mayHold(it.signature, wanted.fours) && (!it.more || mayHold(it.signature, wanted.more)) {
				want = append(want, it.At)
			}
		}
		picked := textRow{first: 7}
		if err := (&searching{sieve: sieve{holds: wanted}, filter: &exchangeFilter{lowest: math.MinInt64, highest: math.MaxInt64}}).pick(&picked, packed); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, it := range picked.items {
			got = append(got, it.At)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("items that may hold it (-want +got):\n%s", diff)
		}
	})
}

// mayBeIn tells what a search makes of an item of that text.
func mayBeIn(text string, q transcript.SearchQuery, more bool) bool {
	r := itemReader{signature: signatureOf(transcript.Fold(text))}
	if more {
		r.flags = flagMore
	}
	s := sieve{holds: tracesOf(&q)}
	return s.passes(&r)
}

func TestSignature_MissesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const letters = "ab -語é\n"
	passed := 0
	for range 2000 {
		text := make([]rune, 1+r.IntN(200))
		for i := range text {
			text[i] = []rune(letters)[r.IntN(6)]
		}
		start := r.IntN(len(text))
		part := string(text[start : start+r.IntN(len(text)-start+1)])
		words := transcript.Words(transcript.Fold(string(text)))
		for _, more := range []bool{false, true} {
			if !mayBeIn(string(text), transcript.SearchQuery{Text: part}, more) {
				t.Fatalf("the signature of %q does not hold %q", string(text), part)
			}
			for _, word := range words {
				if !mayBeIn(string(text), transcript.SearchQuery{Text: word, Words: true}, more) {
					t.Fatalf("the signature of %q does not hold the word %q", string(text), word)
				}
			}
			if mayBeIn(string(text), transcript.SearchQuery{Text: "something else that is long"}, more) {
				passed++
			}
		}
	}
	if passed > 100 {
		t.Errorf("%d of 4000 signatures hold what their texts do not", passed)
	}
}

// An item of a file from before is known by its stretches of four bytes alone.
func TestSignature_OfBeforeMissesNothing(t *testing.T) {
	r := itemReader{signature: make([]byte, 8)}
	set := func(hash uint64) { r.signature[hash%64/8] |= 1 << (hash % 8) }
	for _, hash := range []string{"some", "ome ", "me t", "e te", " tex", "text"} {
		set(stretchHash(hash))
	}
	for query, want := range map[string]bool{"some text": true, "ome tex": true, "text some": false, "tex": true} {
		s := sieve{holds: tracesOf(&transcript.SearchQuery{Text: query})}
		if got := s.passes(&r); got != want {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
}
