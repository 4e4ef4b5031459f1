package store

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
