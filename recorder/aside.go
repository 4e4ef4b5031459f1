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

// frames makes a stage for frames that save writes.
func (a *aside) frames() *stage {
	s := &stage{c: a.c, buffers: &a.c.s.buffers, record: true}
	s.grow(0)
	return s
}

func (a *aside) meta(kind byte, p appender) {
	if a != nil && !a.dead.Load() {
		s := a.frames()
		s.meta(kind, p)
		a.save(s)
	}
}

func (a *aside) piece(kind byte, p []byte) {
	if a != nil && len(p) > 0 && !a.dead.Load() {
		s := a.frames()
		s.copy(kind, p)
		a.save(s)
	}
}

// save writes a stage and drops it.
func (a *aside) save(s *stage) {
	if a.write(s.buf) {
		s.drop()
	}
}

// write says false if it stalls: then frames is being read for good.
func (a *aside) write(frames []byte) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dead.Load() {
		return true
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
		return true
	case <-a.stalled:
		return false
	}
}

// end ends the exchange, once.
func (a *aside) end(e *ending) { a.last(0, nil, e) }

// last ends the exchange, once, with a last piece before.
func (a *aside) last(kind byte, p []byte, e *ending) {
	if a == nil {
		return
	}
	a.over.Do(func() {
		if !a.dead.Load() {
			s := a.frames()
			s.copy(kind, p)
			s.meta(frameEnd, e)
			a.save(s)
		}
		a.c.s.dog.remove(&a.watch)
		a.c.close(e)
	})
}
