package recorder

import (
	"sync"
	"sync/atomic"
	"time"
)

// A watch guards the calls of one goroutine that may block: a write to a
// stalled disk cannot be aborted, but somebody else can go on. The goroutine
// enters a region, blocks or not, and leaves it; leave says false if the
// watchdog has meanwhile started taken in its place. Exactly one of the two
// goes on. A region costs two atomic operations and no clock.
type watch struct {
	seq   atomic.Uint32 // odd inside a region
	limit atomic.Int32  // ticks that a region may last
	taken func()

	seen  uint32 // the watchdog's: seq at its last look, and for how many looks
	ticks int32
	at    int // index in the watchdog's list
}

// enter begins a region that may last for that many ticks.
func (w *watch) enter(limit int32) {
	w.limit.Store(limit)
	w.seq.Add(1)
}

// leave ends the region. It says false if somebody else goes on.
func (w *watch) leave() bool {
	s := w.seq.Load()
	return s&1 == 1 && w.seq.CompareAndSwap(s, s+1)
}

// watchdog looks at all watches every tick while there are any.
type watchdog struct {
	tick time.Duration

	mu      sync.Mutex
	list    []*watch
	running bool
}

// stallTicks is how many ticks a spool write may take, holdTicks how many a
// small body is waited for before its head goes on alone.
const (
	stallTicks = 5
	holdTicks  = 1
	restTicks  = 100 // after so many ticks with nothing to watch the goroutine ends
)

func newWatchdog(stall time.Duration) *watchdog {
	return &watchdog{tick: max(stall/stallTicks, time.Millisecond)}
}

func (d *watchdog) add(w *watch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w.at = len(d.list)
	d.list = append(d.list, w)
	if !d.running {
		d.running = true
		go d.run()
	}
}

func (d *watchdog) remove(w *watch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := len(d.list) - 1
	if w.at < 0 {
		return
	}
	d.list[w.at] = d.list[last]
	d.list[w.at].at = w.at
	d.list[last] = nil
	d.list = d.list[:last]
	w.at = -1
}

func (d *watchdog) run() {
	for idle := 0; ; {
		time.Sleep(d.tick)
		d.mu.Lock()
		idle++
		if len(d.list) > 0 {
			idle = 0
		}
		if idle > restTicks {
			d.running = false
			d.mu.Unlock()
			return
		}
		for _, w := range d.list {
			w.look()
		}
		d.mu.Unlock()
	}
}

// look counts looks, not time: a process that was stopped or starved has not
// stalled.
func (w *watch) look() {
	s := w.seq.Load()
	if s != w.seen || s&1 == 0 {
		w.seen, w.ticks = s, 0
		return
	}
	w.ticks++
	if w.ticks >= w.limit.Load() && w.seq.CompareAndSwap(s, s+1) {
		go w.taken()
	}
}
