package ingest

import (
	"context"
	"testing"
	"time"

	"github.com/retake-debugger/retake/recorder/spool"
)

// traffic counts exchanges on a clock that goes on by lookEvery at each look.
type traffic struct {
	looks   int
	perLook int64
	bytes   int64 // at each look
	until   int   // looks
	every   int   // of which one in so many sees something; 0: each
	stats   spool.Stats
}

func (f *traffic) pace() *Pace {
	begun := time.Unix(0, 0)
	return &Pace{
		at:   begun,
		rush: begun.Add(-time.Hour),
		stats: func() spool.Stats {
			if f.looks++; f.looks <= f.until && f.looks%max(1, f.every) == 0 {
				f.stats.Recorded += f.perLook
				f.stats.Written += f.bytes
			}
			return f.stats
		},
		now: func() time.Time { return begun.Add(time.Duration(f.looks) * lookEvery) },
	}
}

// calmLooks is how many looks without traffic there are until it is calm.
const calmLooks = int(calmAfter / lookEvery)

func TestPace_WaitsThroughGaps(t *testing.T) {
	f := &traffic{perLook: 1000, until: 30, every: calmLooks - 1}
	p := f.pace()
	p.rush = p.at
	p.wait(t.Context())
	if f.looks < 30 {
		t.Errorf("went on after %d looks, between two that saw much", f.looks)
	}
}

func TestPace_WaitsUntilTrafficGetsLess(t *testing.T) {
	for name, f := range map[string]*traffic{
		"many exchanges": {perLook: 1000, until: 10},
		"a large stream": {bytes: 1 << 30, until: 10},
	} {
		f.pace().wait(t.Context())
		if f.looks != 10+calmLooks {
			t.Errorf("%s: went on after %d looks, want %d, when nothing has passed for a while", name, f.looks, 10+calmLooks)
		}
	}
}

func TestPace_TellsManyWhetherTrafficIsBusy(t *testing.T) {
	f := &traffic{bytes: 1 << 30, until: 1}
	p := f.pace()
	if !p.Busy() {
		t.Error("not busy while a large stream passes")
	}
	for range calmLooks {
		if !p.Busy() {
			return
		}
	}
	t.Error("busy though nothing has passed for a while")
}

func TestPace_DoesNotWait(t *testing.T) {
	for name, f := range map[string]*traffic{
		"for little traffic":     {perLook: 1, bytes: 1000, until: 1000},
		"when the spool is full": {perLook: 1000, until: 1000, stats: spool.Stats{BacklogBytes: fullAt}},
	} {
		t.Run(name, func(t *testing.T) {
			f.pace().wait(t.Context())
			if f.looks != 1 {
				t.Errorf("went on after %d looks, want 1", f.looks)
			}
		})
	}
}

func TestPace_WaitsShorterTheMoreThereIs(t *testing.T) {
	looks := func(waiting int64) int {
		f := &traffic{perLook: 1000, until: 1000, stats: spool.Stats{BacklogBytes: waiting}}
		f.pace().wait(t.Context())
		return f.looks
	}
	much, nearlyFull := looks(fullAt*9/10), looks(fullAt*99/100)
	if much <= nearlyFull || nearlyFull < 1 {
		t.Errorf("%d looks at nine tenths, %d when nearly full", much, nearlyFull)
	}
}

func TestPace_EndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := &traffic{perLook: 1000, until: 1000}
	f.pace().wait(ctx)
	if f.looks != 1 {
		t.Errorf("went on looking %d times", f.looks)
	}
}

func TestPace_DoesNotGoByTrafficOfLongAgo(t *testing.T) {
	f := &traffic{perLook: 1000, until: 10}
	p := f.pace()
	p.at = p.at.Add(-time.Hour) // in which, on average, next to nothing passed
	p.wait(t.Context())
	if f.looks != 10+calmLooks {
		t.Errorf("went on after %d looks, want %d, when nothing has passed for a while", f.looks, 10+calmLooks)
	}
}

func TestPace_LooksAgainAfterALongTime(t *testing.T) {
	f := &traffic{perLook: 1, until: 1000}
	p := f.pace()
	p.at = p.at.Add(-time.Hour)
	p.wait(t.Context())
	if f.looks != 1+calmLooks {
		t.Errorf("went on after %d looks at little traffic, want %d", f.looks, 1+calmLooks)
	}
}
