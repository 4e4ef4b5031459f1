package relay

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-debugger/retake/recorder/spool"
)

// AsyncWriters makes async writers. They share their buffers and a watchdog.
type AsyncWriters struct {
	watchdog *watchdog
	buffers  *bufferPool
}

// NewAsyncWriters returns AsyncWriters. stall is how long a write may hold its caller.
func NewAsyncWriters(stall time.Duration) *AsyncWriters {
	return &AsyncWriters{watchdog: newWatchdog(stall), buffers: &bufferPool{}}
}

// AsyncWriter records for code whose goroutine cannot be replaced: another goroutine
// makes each write, and the caller waits for it only until it stalls. A nil
// AsyncWriter records nothing.
type AsyncWriter struct {
	recording *spool.Recording
	writers   *AsyncWriters
	watch     watch
	mu        sync.Mutex // one write at a time; not held once recording is dead
	dead      atomic.Bool
	done      chan struct{}
	stalled   chan struct{}
	end       sync.Once
}

// New returns a writer for a recording.
func (f *AsyncWriters) New(c *spool.Recording) *AsyncWriter {
	a := &AsyncWriter{recording: c, writers: f, done: make(chan struct{}, 1), stalled: make(chan struct{})}
	a.watch.takeOver = func() {
		a.recording.Abandon()
		a.dead.Store(true)
		close(a.stalled)
	}
	f.watchdog.add(&a.watch)
	return a
}

// frames returns a buffer for frames that save writes.
func (a *AsyncWriter) frames() *frameBuffer {
	b := &frameBuffer{recording: a.recording, buffers: a.writers.buffers, recorded: true}
	b.reserve(0)
	return b
}

// Meta records a frame with this payload.
func (a *AsyncWriter) Meta(kind byte, p spool.Payload) {
	if a != nil && !a.dead.Load() {
		b := a.frames()
		b.appendMeta(kind, p)
		a.save(b)
	}
}

// Body records bytes of a body.
func (a *AsyncWriter) Body(kind byte, p []byte) {
	if a != nil && len(p) > 0 && !a.dead.Load() {
		b := a.frames()
		b.copyBody(kind, p)
		a.save(b)
	}
}

// save writes a buffer and releases it.
func (a *AsyncWriter) save(b *frameBuffer) {
	if a.write(b.buf) {
		b.release()
	}
}

// write writes frames. It returns false if the write stalls: then the frames must
// stay as they are.
func (a *AsyncWriter) write(frames []byte) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dead.Load() {
		return true
	}
	region := a.watch.enter(a.watch.stall)
	go func() {
		if !a.recording.Write(frames) {
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

// End ends the recording. Only the first call of End or EndAfter counts.
func (a *AsyncWriter) End(e *spool.Ending) { a.EndAfter(0, nil, e) }

// EndAfter records the last bytes of a body and ends the recording.
func (a *AsyncWriter) EndAfter(kind byte, p []byte, e *spool.Ending) {
	if a == nil {
		return
	}
	a.end.Do(func() {
		if !a.dead.Load() {
			b := a.frames()
			b.copyBody(kind, p)
			b.appendMeta(spool.FrameEnd, e)
			a.save(b)
		}
		a.writers.watchdog.remove(&a.watch)
		a.recording.Close(e)
	})
}
