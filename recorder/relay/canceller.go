package relay

import "sync"

// canceller stops something that other goroutines wait in: a call, a connection.
type canceller struct {
	mu        sync.Mutex
	stop      func()
	cancelled bool
}

// cancel stops it, now or as soon as with says how.
func (c *canceller) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancelled = true
	if c.stop != nil {
		c.stop()
	}
}

// with sets the function that stops it. stop must not block.
func (c *canceller) with(how func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop = how
	if c.cancelled {
		how()
	}
}
