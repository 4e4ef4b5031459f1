package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/recorder/spool"
)

// How much memory may be garbage before it is collected, in percent of what is
// not: little while little is held and no traffic waits for the processor.
const (
	garbageCalm = 30
	garbageBusy = 100

	calmHeap     = 20 << 20 // what may be held at most for less than garbageBusy
	calmGarbage  = 4 << 20  // less is not worth collecting
	memoryEvery  = 100 * time.Millisecond
	restedMemory = 5 * time.Second // so long after the last exchange memory goes back to the system
	restedLess   = 1 << 20         // and after so much was allocated without one: by the search index, or the viewer
)

// memory keeps the memory of the process small.
type memory struct {
	spool  *spool.Spool
	pace   *ingest.Pace
	heap   []metrics.Sample // what is live, and what was ever allocated
	share  int              // of garbage, as set
	seen   int64            // bytes in the spool's count
	taken  uint64           // bytes allocated by then
	since  time.Time        // when either changed last
	rested bool             // memory has been given back since

	collected chan struct{} // has a token when garbage was collected
}

func newMemory(s *spool.Spool) *memory {
	return &memory{spool: s, pace: ingest.NewPace(s), heap: []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}, rested: true,
		collected: make(chan struct{}, 1)}
}

func (m *memory) run(ctx context.Context) {
	tick := time.NewTicker(memoryEvery)
	defer tick.Stop()
	m.arm(ctx)
	for {
		m.look(time.Now())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-m.collected: // if that comes often it should be looked at once
		}
	}
}

// arm tells when garbage is collected: an object that nobody holds is as well.
func (m *memory) arm(ctx context.Context) {
	type canary struct{ _ *byte } // a pointer: tiny objects without one share their memory
	runtime.AddCleanup(new(canary), func(m *memory) {
		select {
		case m.collected <- struct{}{}:
		default:
		}
		if ctx.Err() == nil {
			m.arm(ctx)
		}
	}, m)
}

func (m *memory) look(now time.Time) {
	metrics.Read(m.heap)
	if share := m.wanted(m.heap[0].Value.Uint64(), m.pace.Busy()); share != m.share {
		m.share = share
		debug.SetGCPercent(share)
	}
	if m.done(m.spool.Stats(), m.heap[1].Value.Uint64(), now) {
		debug.FreeOSMemory()
	}
}

// wanted is the share of garbage for so many bytes that are none.
func (m *memory) wanted(live uint64, busy bool) int {
	if live >= calmHeap || busy {
		return garbageBusy
	}
	return min(max(garbageCalm, int(100*calmGarbage/max(1, live))), garbageBusy)
}

// done says, once, that nothing has passed for a while and nothing waits or is
// worked on. taken is what was ever allocated.
func (m *memory) done(s spool.Stats, taken uint64, now time.Time) bool {
	if s.Written != m.seen || s.Backlog > 0 || s.InFlight > 0 || taken > m.taken+restedLess {
		m.seen, m.taken, m.since, m.rested = s.Written, taken, now, false
		return false
	}
	if m.rested || now.Sub(m.since) < restedMemory {
		return false
	}
	m.rested = true
	return true
}
