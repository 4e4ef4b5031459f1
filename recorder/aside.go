package recorder

import (
	"sync"
	"sync/atomic"
)

// aside records for code whose goroutine is not ours to replace: each write is
// made by another goroutine, and the caller waits for it only until it stalls.
// A nil aside records nothing.
type aside struct {
	c       *capture
	watch   watch
	mu      sync.Mutex // one write at a time; given up once recording is dead
	dead    atomic.Bool
	done    chan struct{}
	stalled chan struct{}
	over    sync.Once
}

func newAside(c *capture) *aside {
	a := &aside{c: c, done: make(chan struct{}, 1), stalled: make(chan struct{})}
	a.watch.taken = func() {
		a.c.abandon()
		a.dead.Store(true)
		close(a.stalled)
	}
	c.s.dog.add(&a.watch)
	return a
}

func (a *aside) meta(kind byte, p appender) {
	if a != nil && !a.dead.Load() {
		a.write(a.c.meta(nil, kind, p))
	}
}

func (a *aside) piece(kind byte, p []byte) {
	if a != nil && len(p) > 0 && !a.dead.Load() {
		frame := make([]byte, frameHeaderBytes, frameHeaderBytes+len(p)+tailBytes)
		a.write(a.c.piece(append(frame, p...), 0, kind))
	}
}

func (a *aside) write(frames []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dead.Load() {
		return
	}
	region := a.watch.enter(a.c.s.dog.stall)
	go func() {
		if !a.c.flush(frames) {
			a.dead.Store(true)
		}
		if a.watch.leave(region) {
			a.done <- struct{}{}
		}
	}()
	select {
	case <-a.done:
	case <-a.stalled:
	}
}

// end ends the exchange, once.
func (a *aside) end(e *ending) {
	if a == nil {
		return
	}
	a.over.Do(func() {
		a.meta(frameEnd, e)
		a.c.s.dog.remove(&a.watch)
		a.c.close(e)
	})
}
