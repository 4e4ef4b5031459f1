package decode

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

func randomBytes(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

// agentBody makes a body of elements, of which a memory remembers those that it
// has seen.
type agentBody struct{ elements []string }

func (a agentBody) pieces(memory *dialect.Memory) *pieces {
	body := []byte(`{"model":"m","messages":[` + strings.Join(a.elements, ",") + "]}")
	r := dialect.Read(memory, transcript.Chat, &dialect.Wire{Method: "POST", URL: "/v1/chat/completions", Request: body})
	return &pieces{body: body, cuts: r.Cuts, marks: r.Marks}
}

func element(random *rand.Rand, most int) string {
	return fmt.Sprintf(`{"role":"user","content":"%x"}`, randomBytes(random, 1+random.IntN(most)))
}

func TestDigests_AreTheSHA256OfTheBody(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	memory := dialect.Memory{Limit: 1 << 20} // so that it forgets
	var d digests
	long := agentBody{}
	for len(long.elements) < 40 {
		long.elements = append(long.elements, element(random, 10_000))
	}
	bodies := []agentBody{{}, long}
	shared := 0
	for range 400 {
		is := agentBody{slices.Clone(bodies[random.IntN(len(bodies))].elements)}
		n := len(is.elements)
		switch random.IntN(6) {
		case 0, 1, 2:
			is.elements = append(is.elements, element(random, 20_000))
		case 3:
			is.elements = is.elements[:random.IntN(n+1)]
		case 4:
			is.elements = append([]string{element(random, 50)}, is.elements...)
		case 5:
			if n > 0 {
				i := random.IntN(n)
				is.elements[i] = " " + is.elements[i]
			}
		}
		p := is.pieces(&memory)
		if got, want := d.sum(p), sha256.Sum256(p.body); got != want {
			t.Fatalf("digest of %d bytes is %x, want %x", len(p.body), got, want)
		}
		if len(p.body) < 400_000 {
			bodies = append(bodies, is)
		}
		if len(d.known) > digestKnown {
			t.Fatalf("%d bodies are kept", len(d.known))
		}
		if len(d.known) > 0 {
			_, n := d.longest(d.parts(is.pieces(&memory)))
			shared += n
		}
	}
	if len(d.known) < 2 || shared == 0 {
		t.Fatalf("%d bodies are remembered, %d parts known again", len(d.known), shared)
	}
}

func TestDigests_GoOnFromWhatTheyKnow(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var memory dialect.Memory
	var d digests
	var body agentBody
	for range 40 {
		body.elements = append(body.elements, element(random, 10_000))
	}
	take := func(a agentBody) {
		d.sum(a.pieces(&memory))
	}
	take(body)
	fork := agentBody{append(body.elements[:10:10], body.elements[20:]...)}
	take(fork)
	for _, b := range []agentBody{body, fork} {
		take(agentBody{append(b.elements[:len(b.elements):len(b.elements)], element(random, 10))})
	}
	if len(d.known) != 2 {
		t.Errorf("%d bodies are kept, want one for each conversation", len(d.known))
	}
}

func BenchmarkDigests(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 3))
	var memory dialect.Memory
	var body agentBody
	for range 150 {
		body.elements = append(body.elements, element(random, 1500))
	}
	whole := body.pieces(&memory)
	grown := make([]*pieces, 100)
	for i := range grown {
		grown[i] = agentBody{append(body.elements[:149:149], element(random, 1500))}.pieces(&memory)
	}
	b.Run("whole", func(b *testing.B) {
		b.SetBytes(int64(len(whole.body)))
		for b.Loop() {
			sha256.Sum256(whole.body)
		}
	})
	b.Run("grown", func(b *testing.B) {
		b.SetBytes(int64(len(whole.body)))
		var d digests
		for n := 0; b.Loop(); n++ {
			d.sum(grown[n%len(grown)])
		}
	})
}
