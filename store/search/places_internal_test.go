package search

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/transcript"
)

func FuzzItems(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{3, 1, 2, 4, 0, 0, 1, 'x', 2, 1})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Add(packItems([]packedItem{
		{SearchItem: transcript.SearchItem{Exchange: 7, Body: "request", At: "/messages/1", Segment: 33, Kind: transcript.ToolResult, IsError: true}, tool: 5, words: true},
		{SearchItem: transcript.SearchItem{Exchange: 9, Body: "response", At: "/messages/12", Kind: transcript.System}},
	}, 7))
	f.Fuzz(func(t *testing.T, packed []byte) {
		items, err := unpackItems(packed, 7)
		if err != nil {
			return
		}
		again, err := unpackItems(packItems(items, 7), 7)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(items, again, cmp.AllowUnexported(packedItem{})); diff != "" {
			t.Errorf("items differ when they are packed again (-want +got):\n%s", diff)
		}
		var want, got []string
		for _, it := range items {
			if !it.words {
				want = append(want, it.At)
			}
		}
		picked := textRow{first: 7, id: 100}
		s := &searching{filter: &exchangeFilter{lowest: math.MinInt64, highest: math.MaxInt64}}
		if err := s.pick(&picked, packed); err != nil {
			t.Fatal(err)
		}
		for _, it := range picked.items {
			got = append(got, it.At)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("items that may match (-want +got):\n%s", diff)
		}
	})
}
