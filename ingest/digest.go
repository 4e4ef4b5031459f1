package ingest

import (
	"crypto/sha256"
	"errors"
	"hash"
	"hash/maphash"
	"slices"
	"sync"
)

const (
	digestBlock = 16 << 10 // bodies are told apart, and hashed, in blocks
	digestLeast = 64 << 10 // smaller bodies are hashed at once
	digestMost  = 4 << 20  // and so are larger ones
	digestKnown = 64       // how many beginnings are remembered
)

// digests takes the SHA-256 of bodies. An agent's request begins like the one
// before: to recognise its blocks and to go on hashing behind them costs a
// fraction of hashing it again. Blocks are recognised by a faster hash, whose
// secret seed nobody outside knows. The zero digests is ready; it may be used by
// several goroutines.
type digests struct {
	mu    sync.Mutex
	seed  maphash.Seed
	known []*beginning // used last at the end
}

// beginning is the whole blocks of a body.
type beginning struct {
	blocks []uint64      // hash of each
	states []hash.Cloner // of the SHA-256 behind each
}

func (d *digests) sum(body []byte) [sha256.Size]byte {
	if len(body) < digestLeast || len(body) > digestMost {
		return sha256.Sum256(body)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil {
		d.seed = maphash.MakeSeed()
	}
	blocks := make([]uint64, len(body)/digestBlock)
	for i := range blocks {
		blocks[i] = maphash.Bytes(d.seed, body[i*digestBlock:(i+1)*digestBlock])
	}
	like, shared := d.longest(blocks)
	b := &beginning{blocks: blocks, states: slices.Grow(slices.Clone(like.states[:shared]), len(blocks)-shared)}
	sum, err := b.extend(body)
	if err != nil {
		return sha256.Sum256(body)
	}
	if 2*shared >= len(like.blocks) { // else others may go on with it
		d.drop(like)
	}
	d.keep(b)
	return sum
}

// longest finds the beginning that has the most blocks in common; an empty one
// if none has any.
func (d *digests) longest(blocks []uint64) (best *beginning, shared int) {
	best = &beginning{}
	for _, b := range slices.Backward(d.known) {
		n := 0
		for n < min(len(blocks), len(b.blocks)) && blocks[n] == b.blocks[n] {
			n++
		}
		if n > shared {
			best, shared = b, n
		}
	}
	return best, shared
}

// extend hashes body from behind the states that are there on.
func (b *beginning) extend(body []byte) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	if n := len(b.states); n > 0 {
		if h, err = b.states[n-1].Clone(); err != nil {
			return sum, err
		}
	}
	for i := len(b.states); i < len(b.blocks); i++ {
		h.Write(body[i*digestBlock : (i+1)*digestBlock])
		state, err := clone(h)
		if err != nil {
			return sum, err
		}
		b.states = append(b.states, state)
	}
	h.Write(body[len(b.blocks)*digestBlock:])
	return [sha256.Size]byte(h.Sum(nil)), nil
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
	}
}

func (d *digests) keep(b *beginning) {
	d.known = append(d.known, b)
	if len(d.known) > digestKnown {
		d.drop(d.known[0])
	}
}
