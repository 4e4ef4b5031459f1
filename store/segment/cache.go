package segment

import (
	"slices"
	"sync"
)

// Cache keeps the packs that were read last. Segments never change, so an
// entry stays right even when its pack has been merged into another since.
type Cache struct {
	mu    sync.Mutex
	Limit int
	size  int
	packs []*Pack // the latest used last
}

// Find returns the kept pack that has a segment unpacked, or nil.
func (c *Cache) Find(id ID) *Pack {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.packs) - 1; i >= 0; i-- {
		p := c.packs[i]
		if _, ok := p.Segment(id); ok {
			copy(c.packs[i:], c.packs[i+1:])
			c.packs[len(c.packs)-1] = p
			return p
		}
	}
	return nil
}

// Begun reports whether the beginning of the pack of a segment is kept.
func (c *Cache) Begun(id ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.packs, func(p *Pack) bool { return p.covers(id) })
}

// Keep keeps a pack in place of what it has of others.
func (c *Cache) Keep(p *Pack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.packs {
		if k.has(p) {
			return
		}
	}
	c.packs = slices.DeleteFunc(c.packs, func(k *Pack) bool { // its beginning, and what has been merged into it
		if p.has(k) {
			c.size -= len(k.data)
			return true
		}
		return false
	})
	c.packs = append(c.packs, p)
	c.size += len(p.data)
	for c.size > c.Limit && len(c.packs) > 1 {
		c.size -= len(c.packs[0].data)
		c.packs[0] = nil
		c.packs = c.packs[1:]
	}
}
