package ingest

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"
)

func randomBytes(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

func TestDigests_AreTheSHA256OfTheBody(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var d digests
	bodies := [][]byte{nil, randomBytes(random, 100), randomBytes(random, digestLeast), randomBytes(random, digestMost+1)}
	for range 400 {
		body := bodies[random.IntN(len(bodies))]
		switch random.IntN(5) {
		case 0, 1:
			body = append(body[:len(body):len(body)], randomBytes(random, random.IntN(40_000))...)
		case 2:
			body = body[:random.IntN(len(body)+1)]
		case 3:
			body = append(randomBytes(random, random.IntN(50)), body...)
		case 4:
			body = append([]byte(nil), body...)
			if len(body) > 0 {
				body[random.IntN(len(body))] ^= 1
			}
		}
		if got, want := d.sum(body), sha256.Sum256(body); got != want {
			t.Fatalf("digest of %d bytes is %x, want %x", len(body), got, want)
		}
		if len(body) < 400_000 {
			bodies = append(bodies, body)
		}
		if len(d.known) > digestKnown {
			t.Fatalf("%d beginnings are kept", len(d.known))
		}
	}
	if len(d.known) < 2 {
		t.Fatal("nothing is remembered")
	}
}

func TestDigests_GoOnFromWhatTheyKnow(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var d digests
	body := randomBytes(random, 200_000)
	d.sum(body)
	fork := append(body[:20_000:20_000], randomBytes(random, 200_000)...)
	d.sum(fork)
	for _, b := range [][]byte{body, fork} {
		grown := append(b[:len(b):len(b)], "more"...)
		d.sum(grown)
	}
	if len(d.known) != 2 {
		t.Errorf("%d beginnings are kept, want one for each conversation", len(d.known))
	}
}

func BenchmarkDigests(b *testing.B) {
	body := randomBytes(rand.New(rand.NewPCG(1, 3)), 220_000)
	b.Run("whole", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			sha256.Sum256(body)
		}
	})
	b.Run("grown", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		var d digests
		for n := 0; b.Loop(); n++ {
			copy(body[len(body)-2000:], fmt.Sprint(n))
			d.sum(body)
		}
	})
}
