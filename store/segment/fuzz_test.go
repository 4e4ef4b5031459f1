package segment

import (
	"bytes"
	"math"
	"runtime"
	"slices"
	"testing"
)

// idsFrom makes segment ids of both lanes from bytes: some follow each other,
// some do not.
func idsFrom(b []byte) []ID {
	ids := []ID{}
	for i := 0; i+1 < len(b); i += 2 {
		id := ID(b[i])
		for range b[i+1]%7 + 1 {
			ids = append(ids, id)
			id += 2
		}
	}
	return ids
}

func listOf(ids []ID) *List {
	list := &List{}
	for _, id := range ids {
		list.add(id)
	}
	return list
}

// FuzzRecipe_RoundTrip: what is written against any base comes back.
func FuzzRecipe_RoundTrip(f *testing.F) {
	f.Add([]byte{}, []byte{1, 1})
	f.Add([]byte{1, 3, 9, 9}, []byte{1, 3, 9, 8, 200, 1})
	f.Add([]byte{1, 3, 50, 9, 7, 7}, []byte{1, 3, 60, 4, 50, 9, 7, 7})
	f.Add([]byte{5, 6, 5, 6}, []byte{5, 6, 5, 6, 5, 6})
	f.Fuzz(func(t *testing.T, base, body []byte) {
		from, want := idsFrom(base), idsFrom(body)
		recipe, own := encodeRecipe(from, want)
		list, err := DecodeRecipe(listOf(from), recipe)
		if err != nil || !slices.Equal(list.All(), want) {
			t.Fatalf("got %v, want %v, %v", list, want, err)
		}
		if n, want := sharedPrefix(list, listOf(from)), commonPrefix(from, want); n != want {
			t.Errorf("%d segments are shared with the base, want %d", n, want)
		}
		if own > len(want) || own != difference(from, want) {
			t.Errorf("%d segments listed of %d, difference is %d", own, len(want), difference(from, want))
		}
	})
}

// FuzzRecipe_Damaged: damaged bytes are an error or a recipe, never a panic and
// never more memory than a recipe may take.
func FuzzRecipe_Damaged(f *testing.F) {
	good, _ := encodeRecipe(nil, idsFrom([]byte{1, 5, 9, 1, 8, 8}))
	f.Add([]byte{}, good)
	f.Add([]byte{1, 2, 3, 4}, []byte{2, 1, 1, 1, 1})
	f.Add([]byte{}, []byte{0, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f})          // a run of 2^32
	f.Add([]byte{}, []byte{0, 0, 2, 0, 0x80, 0x80, 0x40, 0, 0x80, 0x80, 0x70}) // two of a million
	f.Add([]byte{}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Add([]byte{1, 6}, []byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, base, recipe []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		list, err := DecodeRecipe(listOf(idsFrom(base)), recipe)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 8*maxSegments*8 {
			t.Errorf("%d bytes of memory for %d bytes", used, len(recipe))
		}
		if err == nil && list.len > maxSegments {
			t.Errorf("%d segments", list.len)
		}
	})
}

func FuzzPack_Damaged(f *testing.F) {
	c, err := NewCodec()
	if err != nil {
		f.Fatal(err)
	}
	row := NewRow(5, []int{3, 4}, []byte("abcdefg"), c.whole)
	f.Add(row.First, row.Count, row.Bytes, row.Lengths, row.Data)
	f.Add(int64(1), int64(2), int64(1<<60), []byte{3, 4}, row.Data)
	f.Add(int64(1), int64(-2), int64(-1), []byte{0xff}, []byte{})
	blocks := NewRow(5, []int{blockBytes, 1, blockBytes - 1, 7, blockBytes}, bytes.Repeat([]byte("0123456"), 3*blockBytes/7+2)[:3*blockBytes+7], c.InBlocks)
	f.Add(blocks.First, blocks.Count, blocks.Bytes, blocks.Lengths, blocks.Data)
	bomb := NewRow(1, []int{maxPack * 4}, make([]byte, maxPack*4), c.whole)
	f.Add(bomb.First, bomb.Count, bomb.Bytes, bomb.Lengths, bomb.Data)
	f.Add(bomb.First, bomb.Count, int64(100), bomb.Lengths, bomb.Data)
	f.Fuzz(func(t *testing.T, first, count, size int64, lengths, data []byte) {
		p, err := c.unpackTo(Parts, Row{first, count, size, lengths, data}, math.MaxInt64)
		if err != nil {
			return
		}
		if len(p.data) > maxPack {
			t.Fatalf("%d bytes", len(p.data))
		}
		var all []byte
		for i := range p.ends {
			segment, ok := p.Segment(IDIn(Parts, first+int64(i)))
			if !ok {
				t.Fatalf("segment %d is missing", i)
			}
			all = append(all, segment...)
			beginning, err := c.unpackTo(Parts, Row{first, count, size, lengths, data}, first+int64(i))
			if err != nil {
				t.Fatalf("as far as segment %d: %v", i, err)
			}
			if got, _ := beginning.Segment(IDIn(Parts, first+int64(i))); !bytes.Equal(got, segment) {
				t.Errorf("segment %d differs when only the beginning is unpacked", i)
			}
		}
		if !bytes.Equal(all, p.data) {
			t.Error("the segments are not the pack")
		}
	})
}
