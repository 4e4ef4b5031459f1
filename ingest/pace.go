package ingest

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/retake-debugger/retake/recorder/spool"
)

// Storing an exchange takes more of the processor than relaying it, and no
// agent waits for it. While much passes, what is in the spool therefore waits
// until there is less, unless it holds too much.
const (
	busyPerCore  = 100                   // exchanges a second for each processor from which on traffic goes first
	bytesPerCore = 16 << 20              // or so many bytes a second
	lookEvery    = 10 * time.Millisecond // how long they are counted for
	lookMost     = 25 * lookEvery        // a longer count would hide traffic that has just begun
	calmAfter    = 5 * lookEvery         // streams end in clumps: so long nothing much must have passed
	pauseMost    = 2 * time.Second       // the longest pause before the next group; the fuller the spool the shorter
	fullAt       = 512 << 20             // bytes in the spool at which there are no more pauses
)

// Pace tells from what a spool counts whether traffic is busy. It may be used by
// several goroutines.
type Pace struct {
	stats func() spool.Stats
	now   func() time.Time

	mu    sync.Mutex
	at    time.Time // of the last count
	ended int64     // exchanges by then
	bytes int64     // written by then
	rush  time.Time // when it was busy last
}

// NewPace watches a spool.
func NewPace(s *spool.Spool) *Pace { return &Pace{stats: s.Stats, now: time.Now} }

// Busy tells whether so much passes that all else should wait.
func (p *Pace) Busy() bool {
	busy, _ := p.look()
	return busy
}

// wait waits while traffic is busy, for a bounded time.
func (p *Pace) wait(ctx context.Context) {
	for paused := time.Duration(0); ; paused += lookEvery {
		busy, waiting := p.look()
		most := time.Duration(float64(pauseMost) * (1 - float64(waiting)/fullAt))
		if !busy || paused >= most {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookEvery):
		}
	}
}

// look counts what has passed since the last look, unless that was just now. If
// it was long ago, traffic counts as busy until the next looks know. It tells how
// many bytes wait in the spool.
func (p *Pace) look() (busy bool, waiting int64) {
	s := p.stats()
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if took := now.Sub(p.at); took >= lookEvery {
		ended := s.Recorded + s.Lossy + s.Lost
		cores := float64(runtime.GOMAXPROCS(0)) * took.Seconds()
		if took > lookMost || float64(ended-p.ended) > busyPerCore*cores || float64(s.Written-p.bytes) > bytesPerCore*cores {
			p.rush = now
		}
		p.at, p.ended, p.bytes = now, ended, s.Written
	}
	return now.Sub(p.rush) < calmAfter, s.BacklogBytes
}
