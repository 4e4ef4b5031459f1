package store

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPostings_ComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var bits bitWriter
	bitmaps := 0
	for round := range 2000 {
		span := uint32(1 + r.IntN([]int{1, 64, 1000, 70_000}[round%4]))
		often := r.Float64()
		if round%3 > 0 {
			often /= 1000
		}
		var want [][]uint32
		var row []byte
		last := term(0)
		var all []term
		for range 1 + r.IntN(5) {
			var cells []uint32
			for cell := range span {
				if r.Float64() < often {
					cells = append(cells, cell)
				}
			}
			if len(cells) == 0 {
				cells = []uint32{uint32(r.IntN(int(span)))}
			}
			distance := term(1 + r.IntN(1<<20))
			row = appendTerm(row, distance, cells, span, &bits)
			last += distance
			want, all = append(want, cells), append(all, last)
		}
		read := readTerms(row, 0)
		for i := range want {
			if !read.next() || read.term != all[i] {
				t.Fatalf("term %d is %d, want %d (damaged: %v)", i, read.term, all[i], read.v.Bad)
			}
			if got, err := read.cells(nil, span); err != nil || !slices.Equal(got, want[i]) {
				t.Fatalf("%d cells of %d: got %d (%v)", len(want[i]), span, len(got), err)
			}
			bitmap, ok := read.bitmap(span)
			for cell := range span {
				if ok && hasBit(bitmap, cell) != slices.Contains(want[i][:min(len(want[i]), 1000)], cell) && cell <= want[i][min(len(want[i]), 1000)-1] {
					t.Fatalf("cell %d of %d is wrong in the bitmap", cell, span)
				}
			}
			if ok {
				bitmaps++
			}
		}
		if read.next() || read.v.Bad {
			t.Fatal("there is more than was written")
		}
	}
	if bitmaps < 100 {
		t.Errorf("only %d were bitmaps", bitmaps)
	}
}

// A term of half of all cells takes a bit for each cell, one of few about as many
// bits as it takes to tell them apart.
func TestPostings_AreSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const span = 1 << 14
	for _, tt := range []struct {
		n    int
		bits float64
	}{{2, 16}, {16, 12.5}, {160, 8.6}, {1600, 5.2}, {8000, 2.2}, {16000, 1.1}} {
		cells := make([]uint32, 0, tt.n)
		for _, cell := range r.Perm(span)[:tt.n] {
			cells = append(cells, uint32(cell))
		}
		slices.Sort(cells)
		var w bitWriter
		if got := float64(8*len(appendTerm(nil, 1, cells, span, &w))) / float64(tt.n); got > tt.bits*1.05+32/float64(tt.n) {
			t.Errorf("%d of %d cells take %.2f bits each, want %.1f", tt.n, span, got, tt.bits)
		}
	}
}

func FuzzTerms(f *testing.F) {
	var w bitWriter
	f.Add([]byte{}, uint32(1))
	f.Add(appendTerm(appendTerm(nil, 7, []uint32{1, 5, 900}, 1000, &w), 9, []uint32{3}, 1000, &w), uint32(1000))
	f.Add([]byte{1, 2, 1, 0}, uint32(1<<14))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 3, 0xff, 0xff, 3, 2, 0, 0}, uint32(mostSpan))
	f.Fuzz(func(t *testing.T, row []byte, span uint32) {
		span = 1 + span%mostSpan
		read := readTerms(row, 0)
		var again []byte
		last, whole := term(0), true
		for read.next() {
			cells, err := read.cells(nil, span)
			if err != nil {
				whole = false
				continue
			}
			if !slices.IsSorted(cells) || len(slices.Compact(slices.Clone(cells))) != len(cells) || cells[len(cells)-1] >= span {
				t.Fatalf("cells %v of %d", cells, span)
			}
			again = appendTerm(again, read.term-last, cells, span, &w)
			last = read.term
		}
		if !whole || read.v.Bad {
			return
		}
		one, two := readTerms(row, 0), readTerms(again, 0)
		for one.next() {
			a, _ := one.cells(nil, span)
			if !two.next() || two.term != one.term {
				t.Fatal("a term is lost")
			}
			if b, err := two.cells(nil, span); err != nil || !slices.Equal(a, b) {
				t.Fatalf("cells %v and again %v (%v)", a, b, err)
			}
		}
	})
}
