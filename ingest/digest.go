package ingest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"slices"
	"sync"
)

const (
	digestBlock = 16 << 10 // bodies are compared and hashed in blocks
	digestLeast = 64 << 10 // smaller bodies are hashed at once
	digestMost  = 4 << 20  // and so are larger ones
	digestKnown = 32       // how many beginnings are remembered
	digestBytes = 32 << 20 // and of how many bytes together
)

// digests takes the SHA-256 of bodies. An agent's request begins like the one
// before: to compare the beginning with a copy and to go on hashing behind it
// costs a fraction of hashing it again. The zero digests is ready; it may be
// used by several goroutines.
type digests struct {
	mu    sync.Mutex
	known []*beginning // used last at the end
	bytes int
}

// beginning is the whole blocks of a body, with the state of the hash behind
// each of them.
type beginning struct {
	blocks []byte
	states []hash.Cloner
}

func (d *digests) sum(body []byte) [sha256.Size]byte {
	if len(body) < digestLeast || len(body) > digestMost {
		return sha256.Sum256(body)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	b, shared := d.longest(body)
	if 2*shared >= len(b.states) {
		d.drop(b)
	} else { // the body goes another way, and others may go on with b
		b = &beginning{blocks: bytes.Clone(b.blocks[:shared*digestBlock]), states: slices.Clone(b.states)}
	}
	h, err := b.extend(body, shared)
	if err != nil {
		return sha256.Sum256(body)
	}
	d.keep(b)
	return [sha256.Size]byte(h.Sum(nil))
}

// longest finds the beginning that has the most blocks in common with body; an
// empty one if none has any.
func (d *digests) longest(body []byte) (best *beginning, shared int) {
	best = &beginning{}
	for _, b := range slices.Backward(d.known) {
		if n := b.shared(body); n > shared {
			best, shared = b, n
		}
		if shared > 0 && shared == len(best.states) {
			break
		}
	}
	return best, shared
}

// shared counts the blocks that body begins with.
func (b *beginning) shared(body []byte) int {
	n := 0
	for end := digestBlock; end <= min(len(b.blocks), len(body)); end += digestBlock {
		if !bytes.Equal(b.blocks[end-digestBlock:end], body[end-digestBlock:end]) {
			break
		}
		n++
	}
	return n
}

// extend makes b the beginning of body, with which it shares so many blocks,
// and gives the hash of the whole body.
func (b *beginning) extend(body []byte, shared int) (hash.Hash, error) {
	h := sha256.New()
	if shared > 0 {
		state, err := b.states[shared-1].Clone()
		if err != nil {
			return nil, err
		}
		h = state
	}
	whole := len(body) - len(body)%digestBlock
	b.blocks = append(b.blocks[:shared*digestBlock], body[shared*digestBlock:whole]...)
	b.states = b.states[:shared]
	for i := shared * digestBlock; i < whole; i += digestBlock {
		h.Write(body[i : i+digestBlock])
		state, err := clone(h)
		if err != nil {
			return nil, err
		}
		b.states = append(b.states, state)
	}
	h.Write(body[whole:])
	return h, nil
}

func clone(h hash.Hash) (hash.Cloner, error) {
	c, ok := h.(hash.Cloner)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return c.Clone()
}

func (d *digests) drop(b *beginning) {
	if i := slices.Index(d.known, b); i >= 0 {
		d.known = slices.Delete(d.known, i, i+1)
		d.bytes -= cap(b.blocks)
	}
}

func (d *digests) keep(b *beginning) {
	d.known = append(d.known, b)
	d.bytes += cap(b.blocks)
	for len(d.known) > digestKnown || d.bytes > digestBytes {
		d.drop(d.known[0])
	}
}
