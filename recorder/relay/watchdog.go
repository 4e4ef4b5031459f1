package relay

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
	seq      atomic.Uint32 // odd inside a region
	limit    atomic.Int32  // ticks that a region may last
	takeOver func()
	stall    int32 // the watchdog's: ticks that a write may take

	seen  uint32 // the watchdog's: seq at its last look, and for how many looks
	ticks int32
	index int // index in the watchdog's list
}

// enter begins a region that may last for that many ticks, and gives the word to
// leave it with. Whoever goes on in place of its goroutine may enter the next.
func (w *watch) enter(limit int32) uint32 {
	w.limit.Store(limit)
	return w.seq.Add(1)
}

// leave ends the region. It says false if somebody else goes on.
func (w *watch) leave(region uint32) bool {
	return w.seq.CompareAndSwap(region, region+1)
}

// watchdog looks at all watches every tick while there are any.
type watchdog struct {
	tick  time.Duration
	stall int32 // ticks that a write to the spool may take

	mu      sync.Mutex
	list    []*watch
	running bool
}

const (
	holdTicks = 1   // how long a small body is waited for before its head goes on alone
	restTicks = 100 // after so many ticks with nothing to watch the goroutine ends
)

func newWatchdog(stall time.Duration) *watchdog {
	const tick = 10 * time.Millisecond
	if stall < tick {
		return &watchdog{tick: max(stall, time.Millisecond), stall: 1}
	}
	return &watchdog{tick: tick, stall: int32(min(stall/tick, 1<<30))}
}

func (d *watchdog) add(w *watch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w.index, w.stall = len(d.list), d.stall
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
	if w.index < 0 {
		return
	}
	d.list[w.index] = d.list[last]
	d.list[w.index].index = w.index
	d.list[last] = nil
	d.list = d.list[:last]
	w.index = -1
}

func (d *watchdog) run() {
	last := time.Now()
	for idle := 0; ; {
		time.Sleep(d.tick)
		now := time.Now()
		late := now.Sub(last) > 2*d.tick
		last = now
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
			w.look(late)
		}
		d.mu.Unlock()
	}
}

// look counts looks, not time, and of these only what came at its time: a
// process that was stopped, or that gets no processor, has not stalled.
func (w *watch) look(late bool) {
	s := w.seq.Load()
	if s != w.seen || s&1 == 0 {
		w.seen, w.ticks = s, 0
		return
	}
	if !late {
		w.ticks++
	}
	if w.ticks >= w.limit.Load() && w.seq.CompareAndSwap(s, s+1) {
		go w.takeOver()
	}
}
