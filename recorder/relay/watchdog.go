package relay

import (
	"sync"
	"sync/atomic"
	"time"
)

// A watch guards the calls of one goroutine that may block: a write to a stalled
// disk cannot be aborted, but another goroutine can go on. The goroutine enters a
// region and leaves it. If it is too long inside, the watchdog starts takeOver in
// its place, and leave returns false. Exactly one of the two goes on. A region
// costs two atomic operations and no clock.
type watch struct {
	seq      atomic.Uint32 // odd inside a region
	limit    atomic.Int32  // ticks that a region may last
	takeOver func()
	stall    int32 // the watchdog's: ticks that a write may take

	seen  uint32 // the watchdog's: seq at its last look, and for how many ticks it has been that
	ticks int32
	index int // index in the watchdog's list
}

// enter begins a region that may last for limit ticks, and returns what leave
// needs. After a takeover the other goroutine may enter the next region.
func (w *watch) enter(limit int32) uint32 {
	w.limit.Store(limit)
	return w.seq.Add(1)
}

// leave ends the region. It returns false if another goroutine took over.
func (w *watch) leave(region uint32) bool {
	return w.seq.CompareAndSwap(region, region+1)
}

// watchdog looks at all watches at each tick, while there are any.
type watchdog struct {
	tick  time.Duration
	stall int32 // ticks that a write to the spool may take

	mu      sync.Mutex
	list    []*watch
	running bool
}

const (
	holdTicks = 1   // how long a head waits for a small body or for the first chunk
	restTicks = 100 // the goroutine ends after so many ticks without a watch
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

// look counts ticks and not time, and only those that came on time: a process that
// was stopped, or that gets no processor, has not stalled.
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
