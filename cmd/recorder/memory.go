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

// How much garbage may collect before the collector runs, in percent of what is live:
// little while little is live and no traffic waits for the processor.
const (
	garbageCalm = 30
	garbageBusy = 100

	calmHeap     = 20 << 20 // with more live bytes garbageBusy holds
	calmGarbage  = 4 << 20  // less garbage is not worth collecting
	memoryEvery  = 100 * time.Millisecond
	restedMemory = 5 * time.Second // memory goes back to the system so long after the last exchange
	restedLess   = 1 << 20         // or after so much was allocated without one, by the search index or the viewer
)

// memory keeps the memory of the process small.
type memory struct {
	spool     *spool.Spool
	pace      *ingest.Pace
	heap      []metrics.Sample // live bytes, and bytes ever allocated
	share     int              // of garbage, as set
	seen      int64            // bytes that the spool had written
	allocated uint64           // bytes allocated by then
	since     time.Time        // when either last changed
	rested    bool             // memory has been given back since

	collected chan struct{} // gets a token after each collection
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
		case <-m.collected: // collections come often: look at once
		}
	}
}

// arm makes the next collection send a token: it collects an object that nothing
// refers to, and runs its cleanup.
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

// wanted returns the share of garbage for so many live bytes.
func (m *memory) wanted(live uint64, busy bool) int {
	if live >= calmHeap || busy {
		return garbageBusy
	}
	return min(max(garbageCalm, int(100*calmGarbage/max(1, live))), garbageBusy)
}

// done reports, once, that nothing has passed for a while and nothing waits or is
// worked on. allocated is the number of bytes ever allocated.
func (m *memory) done(s spool.Stats, allocated uint64, now time.Time) bool {
	if s.Written != m.seen || s.Backlog > 0 || s.InFlight > 0 || allocated > m.allocated+restedLess {
		m.seen, m.allocated, m.since, m.rested = s.Written, allocated, now, false
		return false
	}
	if m.rested || now.Sub(m.since) < restedMemory {
		return false
	}
	m.rested = true
	return true
}
