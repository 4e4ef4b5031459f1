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
		{SearchItem: transcript.SearchItem{Exchange: 7, Body: "request", At: "/messages/1", Piece: 33, Kind: transcript.ToolResult, IsError: true}, tool: 5, signature: signatureOf("some text")},
		{SearchItem: transcript.SearchItem{Exchange: 9, Body: "response", At: "/messages/12", Kind: transcript.System}},
	}, 7))
	wanted := stretchesOf(&transcript.SearchQuery{Text: "some"})
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
			if mayHold(it.signature, wanted) {
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

func TestSignature_MissesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const letters = "ab -語é\n"
	passed := 0
	for range 2000 {
		text := make([]rune, 1+r.IntN(200))
		for i := range text {
			text[i] = []rune(letters)[r.IntN(6)]
		}
		signature := signatureOf(transcript.Fold(string(text)))
		start := r.IntN(len(text))
		part := string(text[start : start+r.IntN(len(text)-start+1)])
		if !mayHold(signature, stretchesOf(&transcript.SearchQuery{Text: part})) {
			t.Fatalf("the signature of %q does not hold %q", string(text), part)
		}
		if mayHold(signature, stretchesOf(&transcript.SearchQuery{Text: "something else that is long"})) {
			passed++
		}
	}
	if passed > 100 {
		t.Errorf("%d of 2000 signatures hold what their texts do not", passed)
	}
}
