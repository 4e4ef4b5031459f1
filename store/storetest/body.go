package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/retake-debugger/retake/transcript"
)

// noise makes bytes that do not compress, the same for the same seed.
func noise(seed uint64, n int) []byte {
	var key [32]byte
	key[0], key[1], key[2] = byte(seed), byte(seed>>8), byte(seed>>16)
	b := make([]byte, n)
	r := rand.NewChaCha8(key)
	_, _ = io.ReadFull(r, b)
	return b
}

func bodyComesBack(t *testing.T, s transcript.Store) {
	text := []byte(strings.Repeat("The quick brown fox. ", 400))
	big := noise(1, 3<<20)
	for name, parts := range map[string][][]byte{
		"nothing":              {},
		"empty pieces":         {{}, {}},
		"one byte":             {{'x'}},
		"nul":                  {{0, 0, 0}, {0}},
		"one piece":            {text},
		"equal pieces":         {text, text, text},
		"empty ones between":   {{}, text, {}, {'a'}, {}},
		"large piece":          {big},
		"large and small":      {{'['}, big[:1<<20], {','}, big[1<<20:], {']'}},
		"around 64 KB":         {noise(2, 64<<10-1), noise(3, 64<<10), noise(4, 64<<10+1)},
		"more than one pack":   split(noise(5, 700<<10), 5000),
		"many tiny pieces":     split(noise(6, 30_000), 1),
		"not JSON, not UTF-8":  {[]byte("{\"a\":"), {0xff, 0xfe, 0x80}, []byte("\xed\xa0\x80")},
		"a line of 3 MB":       split(bytes.Repeat([]byte("abcdefgh"), 3<<17), 1<<20),
		"pieces known already": {text, big[:1<<20]},
	} {
		var id transcript.BodyID
		update(t, s, func(tx transcript.Tx) error {
			var err error
			id, err = tx.PutBody(pieces(parts...))
			return err
		})
		want := bytes.Join(parts, nil)
		if got, err := readBody(t.Context(), s, id); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes instead of %d, %v", name, len(got), len(want), err)
		}
		if (id == 0) != (len(want) == 0) {
			t.Errorf("%s: body %d of %d bytes", name, id, len(want))
		}
		if len(want) > 0 && len(want) < 100_000 {
			body, err := s.Body(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if err := iotest.TestReader(onlyReader{body}, want); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			body.Close()
		}
	}
}

type onlyReader struct{ io.Reader }

func split(b []byte, size int) (parts [][]byte) {
	for len(b) > 0 {
		n := min(size, len(b))
		parts = append(parts, b[:n])
		b = b[n:]
	}
	return parts
}

// bodyHistories stores conversations that grow, branch, lose their middle and
// have old elements changed, in random order, and reads every body again.
func bodyHistories(t *testing.T, s transcript.Store) {
	r := rand.New(rand.NewPCG(1, 2))
	histories := make([][][]byte, 5)
	stored := map[transcript.BodyID][]byte{}
	for round := range 60 {
		update(t, s, func(tx transcript.Tx) error {
			for range 1 + r.IntN(5) {
				i := r.IntN(len(histories))
				histories[i] = change(r, histories, i, round)
				body := append([][]byte{[]byte(`{"messages":[`)}, histories[i]...)
				body = append(body, []byte(`],"stream":true}`))
				id, err := tx.PutBody(pieces(body...))
				if err != nil {
					return err
				}
				want := bytes.Join(body, nil)
				if old, ok := stored[id]; ok && !bytes.Equal(old, want) {
					t.Errorf("body %d was given out for two bodies", id)
				}
				stored[id] = want
				if r.IntN(4) == 0 {
					if got, err := readBody(t.Context(), tx, id); err != nil || !bytes.Equal(got, want) {
						t.Errorf("round %d: body %d within its transaction: %d bytes instead of %d, %v", round, id, len(got), len(want), err)
					}
				}
			}
			return nil
		})
	}
	if len(stored) < 60 {
		t.Fatalf("only %d bodies", len(stored))
	}
	for id, want := range stored {
		if got, err := readBody(t.Context(), s, id); err != nil || !bytes.Equal(got, want) {
			t.Errorf("body %d: %d bytes instead of %d, %v", id, len(got), len(want), err)
		}
	}
}

// change returns the next state of a history.
func change(r *rand.Rand, all [][][]byte, i, round int) [][]byte {
	h := append([][]byte(nil), all[i]...)
	element := func() []byte {
		return fmt.Appendf(nil, `,{"round":%d,"text":"%s"}`, round, strings.Repeat(fmt.Sprint(r.IntN(1000)), 1+r.IntN(200)))
	}
	switch at := r.IntN(10); {
	case at == 0 && len(h) > 3: // compaction
		h = append(h[:1:1], element())
	case at == 1 && len(h) > 2: // an old element changes
		h[r.IntN(len(h))] = element()
	case at == 2 && len(h) > 2: // one is left out
		k := r.IntN(len(h))
		h = append(h[:k:k], h[k+1:]...)
	case at == 3 && len(h) > 2: // one comes between
		k := r.IntN(len(h))
		h = append(h[:k:k], append([][]byte{element()}, h[k:]...)...)
	case at == 4: // a branch of another
		h = append([][]byte(nil), all[r.IntN(len(all))]...)
	}
	for range r.IntN(4) {
		h = append(h, element())
	}
	return h
}

// Pieces that are known to be the same are stored like others.
func bodyOfKnownPieces(t *testing.T, s transcript.Store) {
	type mark struct{ name string }
	a, b, c := &mark{"a"}, &mark{"b"}, &mark{"c"}
	put := func(list ...transcript.Segment) (id transcript.BodyID) {
		t.Helper()
		var want []byte
		update(t, s, func(tx transcript.Tx) (err error) {
			id, err = tx.PutSegments(func(yield func(transcript.Segment, error) bool) {
				for _, p := range list {
					if !yield(p, nil) {
						return
					}
				}
			})
			return err
		})
		for _, p := range list {
			want = append(want, p.Bytes...)
		}
		if got, err := readBody(t.Context(), s, id); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q instead of %q, %v", got, want, err)
		}
		return id
	}
	piece := func(text string, same any) transcript.Segment {
		return transcript.Segment{Bytes: []byte(text), Same: same}
	}
	unknown := put(piece("[", nil), piece("one", nil), piece(",two", nil), piece("]", nil))
	for range 3 {
		if id := put(piece("[", nil), piece("one", a), piece(",two", b), piece("]", nil)); id != unknown {
			t.Errorf("body %d is stored as %d when its pieces are known", unknown, id)
		}
	}
	put(piece("[", nil), piece("one", a), piece(",one", a), piece(",two", b), piece("]", nil))
	put(piece("[", nil), piece("two", b), piece(",one", a), piece("]", nil))
	put(piece("[", nil), piece("one", a), piece(",six", c), piece("]", nil))
	put(piece("[", nil), piece("one", nil), piece(",ten", nil), piece("]", nil))
}

func bodyNotFound(t *testing.T, s transcript.Store) {
	for _, id := range []transcript.BodyID{-1, 1, 1 << 40} {
		if _, err := s.Body(t.Context(), id); !errors.Is(err, transcript.ErrNotFound) {
			t.Errorf("body %d: %v", id, err)
		}
	}
}

func bodyReadWhileWriting(t *testing.T, s transcript.Store) {
	want := noise(1, 400<<10)
	var id transcript.BodyID
	write := func(parts [][]byte) {
		update(t, s, func(tx transcript.Tx) error {
			var err error
			id, err = tx.PutBody(pieces(parts...))
			return err
		})
	}
	write(split(want, 3000))
	body, err := s.Body(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	got := make([]byte, len(want))
	for i := 0; i < len(got); i += 40 << 10 {
		if _, err := io.ReadFull(body, got[i:i+40<<10]); err != nil {
			t.Fatal(err)
		}
		write(split(noise(uint64(i+2), 5000), 1000))
	}
	if !bytes.Equal(got, want) {
		t.Error("the body changed")
	}
}

func bodySourceFails(t *testing.T, s transcript.Store) {
	broken := errors.New("source is broken")
	source := func(yield func([]byte, error) bool) {
		_ = yield([]byte("first"), nil) && yield([]byte("second"), nil) && yield(nil, broken)
	}
	err := s.Update(t.Context(), func(tx transcript.Tx) error {
		_, err := tx.PutBody(source)
		return err
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	bodyComesBack(t, s)
}
