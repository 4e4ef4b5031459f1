package recorder

import "sync"

// cutter stops something that other goroutines wait in: a call, a connection.
type cutter struct {
	mu    sync.Mutex
	how   func()
	isCut bool
}

// cut stops it, now or as soon as it is known how.
func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isCut = true
	if c.how != nil {
		c.how()
	}
}

// by says how to stop it from now on; how must not block.
func (c *cutter) by(how func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.how = how
	if c.isCut {
		how()
	}
}
