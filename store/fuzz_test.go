package store

import (
	"bytes"
	"context"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// idsFrom makes segment ids of both lanes from bytes: some follow each other,
// some do not.
func idsFrom(b []byte) []segmentID {
	ids := []segmentID{}
	for i := 0; i+1 < len(b); i += 2 {
		id := segmentID(b[i])
		for range b[i+1]%7 + 1 {
			ids = append(ids, id)
			id += 2
		}
	}
	return ids
}

func listOf(ids []segmentID) *segmentList {
	list := &segmentList{}
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
		list, err := decodeRecipe(listOf(from), recipe)
		if err != nil || !slices.Equal(list.all(), want) {
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
		list, err := decodeRecipe(listOf(idsFrom(base)), recipe)
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
	c, err := newCodec()
	if err != nil {
		f.Fatal(err)
	}
	row := packRow(5, []int{3, 4}, []byte("abcdefg"), c.whole)
	f.Add(row.first, row.count, row.bytes, row.lengths, row.data)
	f.Add(int64(1), int64(2), int64(1<<60), []byte{3, 4}, row.data)
	f.Add(int64(1), int64(-2), int64(-1), []byte{0xff}, []byte{})
	blocks := packRow(5, []int{blockBytes, 1, blockBytes - 1, 7, blockBytes}, bytes.Repeat([]byte("0123456"), 3*blockBytes/7+2)[:3*blockBytes+7], c.inBlocks)
	f.Add(blocks.first, blocks.count, blocks.bytes, blocks.lengths, blocks.data)
	bomb := packRow(1, []int{maxPack * 4}, make([]byte, maxPack*4), c.whole)
	f.Add(bomb.first, bomb.count, bomb.bytes, bomb.lengths, bomb.data)
	f.Add(bomb.first, bomb.count, int64(100), bomb.lengths, bomb.data)
	f.Fuzz(func(t *testing.T, first, count, size int64, lengths, data []byte) {
		p, err := c.unpackTo(pieces, packedRow{first, count, size, lengths, data}, math.MaxInt64)
		if err != nil {
			return
		}
		if len(p.data) > maxPack {
			t.Fatalf("%d bytes", len(p.data))
		}
		var all []byte
		for i := range p.ends {
			segment, ok := p.segment(idIn(pieces, first+int64(i)))
			if !ok {
				t.Fatalf("segment %d is missing", i)
			}
			all = append(all, segment...)
			beginning, err := c.unpackTo(pieces, packedRow{first, count, size, lengths, data}, first+int64(i))
			if err != nil {
				t.Fatalf("as far as segment %d: %v", i, err)
			}
			if got, _ := beginning.segment(idIn(pieces, first+int64(i))); !bytes.Equal(got, segment) {
				t.Errorf("segment %d differs when only the beginning is unpacked", i)
			}
		}
		if !bytes.Equal(all, p.data) {
			t.Error("the segments are not the pack")
		}
	})
}

func FuzzChunks(f *testing.F) {
	f.Add([]byte{2, 2, 4, 4})
	f.Add([]byte{0x80})
	f.Add([]byte{2})
	f.Fuzz(func(t *testing.T, packed []byte) {
		chunks, err := unpackChunks(packed)
		if err != nil || len(chunks) == 0 {
			return
		}
		again, _ := packChunks(chunks).([]byte)
		if got, err := unpackChunks(again); err != nil || !slices.Equal(got, chunks) {
			// Times beyond what a time.Duration holds in microseconds overflow.
			for _, c := range chunks {
				if c.At < 0 || c.At > 1<<50 {
					return
				}
			}
			t.Errorf("got %v, want %v, %v", got, chunks, err)
		}
	})
}

func FuzzHeaders_Damaged(f *testing.F) {
	set := &headerSet{id: 1, names: []string{"A", "B"}, values: [][]string{{"x"}, {"y", "z"}}}
	f.Add([]byte{1, 1, 1, 1, 'q'})
	f.Add([]byte{1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Add([]byte{1, 0, 2, 1, 'a', 0xff})
	f.Fuzz(func(t *testing.T, packed []byte) {
		h := newHeaderSets()
		h.keep(set)
		if len(packed) > 0 && packed[0] == 1 {
			headers, err := h.unpack(context.Background(), nil, packed)
			if err == nil && len(headers) != len(set.names) {
				t.Errorf("%d headers", len(headers))
			}
		}
	})
}

// FuzzID: an id comes back as it was, whatever it looks like.
func FuzzID(f *testing.F) {
	f.Add("0196b0aa-0001-7000-8000-000000000001")
	f.Add("0196B0AA-0001-7000-8000-000000000001")
	f.Add("0196b0aa-0001-7000-8000-00000000000g")
	f.Add("")
	f.Fuzz(func(t *testing.T, id string) {
		if got := unpackID(packID(id)); got != id {
			t.Errorf("got %q, want %q", got, id)
		}
		if got := unpackHash(packHash(id)); got != id {
			t.Errorf("hash: got %q, want %q", got, id)
		}
	})
}

// FuzzHeaderSet: names and values of any bytes come back.
func FuzzHeaderSet(f *testing.F) {
	f.Add("Content-Type", "a\xff", "b\x00")
	f.Fuzz(func(t *testing.T, name, a, b string) {
		set := &headerSet{names: []string{name}, values: [][]string{{a, b}}}
		data, err := set.marshal()
		if err != nil {
			t.Fatal(err)
		}
		got, err := readHeaderSet(0, data)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(set.names, got.names) + cmp.Diff(set.values, got.values); d != "" {
			t.Error(d)
		}
	})
}
