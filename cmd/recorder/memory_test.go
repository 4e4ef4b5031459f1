package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/retake-debugger/retake/recorder/spool"
)

func TestMemory_CollectsMoreOftenWhileItIsCalm(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	spool, err := spool.Open(t.TempDir(), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer spool.Close()
	m := newMemory(spool)
	if got := m.wanted(calmHeap-1, false); got != garbageCalm {
		t.Errorf("%d%% garbage while it is calm, want %d", got, garbageCalm)
	}
	for name, got := range map[string]int{
		"while traffic is busy":   m.wanted(calmHeap-1, true),
		"while much is held":      m.wanted(calmHeap, false),
		"while it is hardly any":  m.wanted(calmGarbage/2, false),
		"before anything is held": m.wanted(0, false),
	} {
		if got != garbageBusy {
			t.Errorf("%d%% garbage %s, want %d", got, name, garbageBusy)
		}
	}
	m.look(time.Now())
	if m.share != garbageCalm && m.share != garbageBusy {
		t.Errorf("%d%% garbage is set", m.share)
	}
}

func TestMemory_HearsOfEachCollection(t *testing.T) {
	m := &memory{collected: make(chan struct{}, 1)}
	m.arm(t.Context())
	for range 3 {
		runtime.GC()
		<-m.collected
	}
}

func TestMemory_GivesBackOnceWhenAllIsDone(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	m := &memory{rested: true}
	now := time.Unix(0, 0)
	for _, step := range []struct {
		after time.Duration
		stats spool.Stats
		taken uint64
		want  bool
	}{
		{0, spool.Stats{}, 0, false}, // nothing has passed yet
		{time.Second, spool.Stats{Written: 10, Backlog: 1}, 0, false},
		{time.Minute, spool.Stats{Written: 10, Backlog: 1}, 0, false},
		{time.Second, spool.Stats{Written: 10}, 0, false},
		{restedMemory, spool.Stats{Written: 10}, 0, true},
		{time.Minute, spool.Stats{Written: 10}, restedLess, false}, // hardly anything was done
		{time.Minute, spool.Stats{Written: 20, InFlight: 1}, restedLess, false},
		{restedMemory, spool.Stats{Written: 20}, restedLess, true},
		{time.Minute, spool.Stats{Written: 20}, 3 * restedLess, false}, // the index still works
		{restedMemory, spool.Stats{Written: 20}, 5 * restedLess, false},
		{restedMemory, spool.Stats{Written: 20}, 5 * restedLess, true},
		{time.Minute, spool.Stats{Written: 20}, 5 * restedLess, false},
	} {
		now = now.Add(step.after)
		if got := m.done(step.stats, step.taken, now); got != step.want {
			t.Errorf("at %s: gives back %v, want %v", now.UTC().Format(time.TimeOnly), got, step.want)
		}
	}
}
