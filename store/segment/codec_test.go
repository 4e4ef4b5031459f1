package segment

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Whatever is read of a pack first, and however it was compressed, each segment
// comes back, and what lies behind it is not decoded.
func TestCodec_UnpacksAsFarAsItTakes(t *testing.T) {
	c, err := NewCodec()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := rand.New(rand.NewPCG(3, 4))
	var data []byte
	var lengths []int
	var want [][]byte
	for len(data) < 5*blockBytes {
		segment := []byte(fmt.Sprintf("segment %d ", len(lengths)))
		for range r.IntN(2000) {
			segment = append(segment, "abcdefgh"[r.IntN(8)])
		}
		lengths, data, want = append(lengths, len(segment)), append(data, segment...), append(want, segment)
	}
	for name, compress := range map[string]func([]byte) []byte{"whole": c.whole, "in blocks": c.InBlocks, "stored": stored} {
		row := NewRow(7, lengths, data, compress)
		if p, err := c.unpackTo(Wholes, row, math.MaxInt64); err != nil || !bytes.Equal(p.data, data) {
			t.Fatalf("%s: all of it: %v", name, err)
		}
		for _, i := range r.Perm(len(want)) {
			p, err := c.unpackTo(Wholes, row, 7+int64(i))
			if err != nil {
				t.Fatalf("%s: segment %d: %v", name, i, err)
			}
			if got, ok := p.Segment(IDIn(Wholes, 7+int64(i))); !ok || !bytes.Equal(got, want[i]) {
				t.Fatalf("%s: segment %d is %q", name, i, got)
			}
			if _, ok := p.Segment(IDIn(Wholes, 8+int64(i))); ok && name != "stored" {
				t.Fatalf("%s: more than segment %d is unpacked", name, i)
			}
		}
		damaged := row
		damaged.Data = row.Data[:len(row.Data)/2]
		if _, err := c.unpackTo(Wholes, damaged, 7+int64(len(want))-2); err == nil {
			t.Errorf("%s: a pack that was cut is read", name)
		}
		if p, err := c.unpackTo(Wholes, NewRow(7, []int{0, 0}, nil, compress), math.MaxInt64); err != nil || len(p.ends) != 2 {
			t.Errorf("%s: a pack of empty segments: %v", name, err)
		}
	}
}

func TestPackCache_KeepsTheLongerBeginning(t *testing.T) {
	cache := Cache{Limit: 1 << 20}
	short := &Pack{stream: Parts, First: 4, ends: []int{3, 6}, data: []byte("abc")}
	long := &Pack{stream: Parts, First: 4, ends: []int{3, 6}, data: []byte("abcdef")}
	last := IDIn(Parts, 5)
	cache.Keep(short)
	if cache.Find(last) != nil || !cache.Begun(last) {
		t.Error("of a beginning, what lies behind is found, or it is not known to be one")
	}
	cache.Keep(long)
	cache.Keep(short)
	if cache.Find(last) != long || len(cache.packs) != 1 || cache.size != len(long.data) {
		t.Errorf("%d packs of %d bytes are kept, want the longer one alone", len(cache.packs), cache.size)
	}
}

func TestPackCache_DropsWhatHasBeenMerged(t *testing.T) {
	cache := Cache{Limit: 1 << 20}
	other := &Pack{stream: Wholes, First: 4, ends: []int{3}, data: []byte("abc")}
	one := &Pack{stream: Parts, First: 4, ends: []int{3, 6}, data: []byte("abcdef")}
	two := &Pack{stream: Parts, First: 6, ends: []int{3}, data: []byte("ghi")}
	begun := &Pack{stream: Parts, First: 4, ends: []int{3, 6, 9}, data: []byte("abcdef")}
	merged := &Pack{stream: Parts, First: 4, ends: []int{3, 6, 9}, data: []byte("abcdefghi")}
	for _, p := range []*Pack{other, one, two, begun} {
		cache.Keep(p)
	}
	if len(cache.packs) != 3 {
		t.Errorf("%d packs are kept before the merged one is whole, want 3", len(cache.packs))
	}
	cache.Keep(merged)
	cache.Keep(two)
	if cache.Find(IDIn(Parts, 6)) != merged || cache.Find(IDIn(Wholes, 4)) != other || len(cache.packs) != 2 || cache.size != len(other.data)+len(merged.data) {
		t.Errorf("%d packs of %d bytes are kept, want the merged one and that of the other stream", len(cache.packs), cache.size)
	}
}
