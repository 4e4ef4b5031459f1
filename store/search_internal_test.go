package store

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
		{SearchItem: transcript.SearchItem{Exchange: 7, Body: "request", At: "/messages/1", Segment: 33, Kind: transcript.ToolResult, IsError: true}, tool: 5, cell: 1, cells: 3},
		{SearchItem: transcript.SearchItem{Exchange: 9, Body: "response", At: "/messages/12", Kind: transcript.System}, cell: 4, cells: 1},
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
			if !it.words && it.cell <= 3 && it.cell+it.cells > 3 {
				want = append(want, it.At)
			}
		}
		picked := textRow{first: 7, id: 100}
		s := &searching{filter: &exchangeFilter{lowest: math.MinInt64, highest: math.MaxInt64}}
		if err := s.pick(&picked, packed, func(first, n int64) bool { return inCells(first, n, []int64{200, 103, 99}) }); err != nil {
			t.Fatal(err)
		}
		for _, it := range picked.items {
			got = append(got, it.At)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("items in a cell (-want +got):\n%s", diff)
		}
	})
}

func TestToJoin(t *testing.T) {
	// blocks of so many live cells, one after the other
	blocks := func(live ...int64) (list []searchBlock) {
		for i, n := range live {
			b := searchBlock{id: int64(i), first: 1, span: max(n, 1), made: n, live: n}
			if i > 0 {
				b.first = list[i-1].end()
			}
			list = append(list, b)
		}
		return list
	}
	repeat := func(n int, live int64) (list []int64) {
		for range n {
			list = append(list, live)
		}
		return list
	}
	half := blocks(5000, 5000)
	half[1].live = 2000
	tests := map[string]struct {
		all             []searchBlock
		usual, thorough [2]int // the first and how many; none if none
	}{
		"nothing":            {nil, [2]int{}, [2]int{}},
		"few small ones":     {blocks(50, 50, 50), [2]int{}, [2]int{}},
		"some small ones":    {blocks(50, 50, 50, 50, 50), [2]int{}, [2]int{0, 5}},
		"many small ones":    {blocks(repeat(16, 10)...), [2]int{0, 16}, [2]int{0, 16}},
		"enough small ones":  {blocks(append([]int64{5000}, repeat(12, 100)...)...), [2]int{1, 11}, [2]int{1, 11}},
		"middle ones":        {blocks(append(repeat(16, 1024), 50)...), [2]int{0, 16}, [2]int{0, 16}},
		"too few for a full": {blocks(repeat(15, 1024)...), [2]int{}, [2]int{}},
		"more than a full":   {blocks(9000, 7000, 1024), [2]int{0, 2}, [2]int{0, 2}},
		"full ones":          {blocks(16384, 16384, 16384), [2]int{}, [2]int{}},
		"half of it is gone": {half, [2]int{}, [2]int{1, 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for thorough, want := range map[bool][2]int{false: tt.usual, true: tt.thorough} {
				var got [2]int
				if list := toJoin(tt.all, thorough); len(list) > 0 {
					got = [2]int{int(list[0].id), len(list)}
				}
				if got != want {
					t.Errorf("thorough %v: from %d on %d, want from %d on %d", thorough, got[0], got[1], want[0], want[1])
				}
			}
		})
	}
}
