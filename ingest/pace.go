package ingest

import (
	"context"
	"runtime"
	"time"

	"github.com/retake-debugger/retake/recorder"
)

// Storing an exchange takes more of the processor than relaying it, and no
// agent waits for it. While many exchanges pass, those in the spool therefore
// wait until there are fewer, unless it holds too much.
const (
	busyPerCore = 100                   // exchanges a second for each processor from which on traffic goes first
	lookEvery   = 10 * time.Millisecond // how long they are counted for
	pauseMost   = 2 * time.Second       // the longest pause before the next group; the fuller the spool the shorter
	fullAt      = 512 << 20             // bytes in the spool at which there are no more pauses
)

// pace tells when ingest should wait for traffic.
type pace struct {
	stats func() recorder.Stats
	now   func() time.Time
	at    time.Time // of the last count
	ended int64     // exchanges by then
	busy  bool
}

// wait waits while traffic is busy, for a bounded time.
func (p *pace) wait(ctx context.Context) {
	for paused := time.Duration(0); ; paused += lookEvery {
		waiting := p.look()
		most := time.Duration(float64(pauseMost) * (1 - float64(waiting)/fullAt))
		if !p.busy || paused >= most {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookEvery):
		}
	}
}

// look counts what has ended since the last look, unless that was just now. It
// tells how many bytes wait in the spool.
func (p *pace) look() (waiting int64) {
	s := p.stats()
	now := p.now()
	if took := now.Sub(p.at); took >= lookEvery {
		ended := s.Recorded + s.Lossy + s.Lost
		p.busy = float64(ended-p.ended) > busyPerCore*float64(runtime.GOMAXPROCS(0))*took.Seconds()
		p.at, p.ended = now, ended
	}
	return s.BacklogBytes
}
