package decode

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

const (
	digestEvery = 16 << 10 // bytes after which it is remembered how far a body was hashed
	digestLeast = 64 << 10 // smaller bodies are hashed at once
	digestMost  = 4 << 20  // and so are larger ones
	digestKnown = 64       // how many bodies are remembered
)

// digests takes the SHA-256 of bodies. An agent's request begins like the one
// before, and which of its pieces are the same its decoder has found out: it is
// enough to go on hashing behind them. What the decoder says nothing of is
// recognised by a faster hash, whose secret seed nobody outside knows. The zero
// digests is ready; it may be used by several goroutines.
type digests struct {
	mu    sync.Mutex
	seed  maphash.Seed
	known []*hashed // used last at the end
	spare []part    // memory that nobody uses
}

// hashed is a body that was hashed.
type hashed struct {
	parts  []part
	states []state
}

// part is a piece of a body: parts that are equal have equal bytes.
type part struct {
	end  int
	mark dialect.Mark
	hash uint64 // of what has no mark
}

// state is the SHA-256 of so many parts.
type state struct {
	parts int
	sum   hash.Cloner
}

// measure sets length and SHA-256 of a side.
func (d *digests) measure(m *transcript.Message, p *pieces) {
	if p.source == nil {
		sum := d.sum(p)
		m.SHA256, m.Bytes = hex.EncodeToString(sum[:]), int64(len(p.body))
	}
}

func (d *digests) sum(p *pieces) [sha256.Size]byte {
	if len(p.marks) == 0 || len(p.body) < digestLeast || len(p.body) > digestMost {
		return sha256.Sum256(p.body)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil {
		d.seed = maphash.MakeSeed()
	}
	parts := d.parts(p)
	like, shared := d.longest(parts)
	b := &hashed{parts: parts, states: like.beginning(shared)}
	if 2*shared < len(like.parts) { // others may go on with it
		b.states = slices.Clone(b.states)
	} else {
		d.drop(like)
		d.spare = like.parts
	}
	sum, err := b.extend(p.body)
	if err != nil {
		return sha256.Sum256(p.body)
	}
	d.keep(b)
	return sum
}

func (d *digests) parts(p *pieces) []part {
	parts, start := slices.Grow(d.spare[:0], len(p.cuts)), 0
	d.spare = nil
	for i, end := range p.cuts {
		is := part{end: end}
		if i < len(p.marks) {
			is.mark = p.marks[i]
		}
		if is.mark == (dialect.Mark{}) {
			is.hash = maphash.Bytes(d.seed, p.body[start:end])
		}
		parts, start = append(parts, is), end
	}
	return parts
}

// longest finds the body that begins with the most of these parts; an empty one if
// none has the first.
func (d *digests) longest(parts []part) (best *hashed, shared int) {
	best = &hashed{}
	for _, b := range slices.Backward(d.known) {
		n := 0
		for n < min(len(b.parts), len(parts)) && b.parts[n] == parts[n] {
			n++
		}
		if n > shared {
			best, shared = b, n
		}
	}
	return best, shared
}

// beginning gives the states of the first parts.
func (b *hashed) beginning(parts int) []state {
	n := len(b.states)
	for n > 0 && b.states[n-1].parts > parts {
		n--
	}
	return b.states[:n]
}

// extend hashes body from behind the last state on.
func (b *hashed) extend(body []byte) (sum [sha256.Size]byte, err error) {
	h, from, done := sha256.New(), 0, 0
	if n := len(b.states); n > 0 {
		last := b.states[n-1]
		if h, err = last.sum.Clone(); err != nil {
			return sum, err
		}
		from, done = last.parts, b.parts[last.parts-1].end
	}
	for i := from; i < len(b.parts)-1; i++ {
		// What goes on from this body has all of its parts but the last.
		if end := b.parts[i].end; end-done >= digestEvery || i == len(b.parts)-2 {
			h.Write(body[done:end])
			sum, err := clone(h)
			if err != nil {
				return [sha256.Size]byte{}, err
			}
			b.states, done = append(b.states, state{i + 1, sum}), end
		}
	}
	h.Write(body[done:])
	return [sha256.Size]byte(h.Sum(nil)), nil
}

func clone(h hash.Hash) (hash.Cloner, error) {
	c, ok := h.(hash.Cloner)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return c.Clone()
}

func (d *digests) drop(b *hashed) {
	if i := slices.Index(d.known, b); i >= 0 {
		d.known = slices.Delete(d.known, i, i+1)
	}
}

func (d *digests) keep(b *hashed) {
	d.known = append(d.known, b)
	if len(d.known) > digestKnown {
		d.drop(d.known[0])
	}
}
