package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// load is what a case puts on a recorder at once.
type load struct {
	Streams  int
	Events   int `json:"events_per_stream"`
	Interval int `json:"event_interval_ms"`
	Reader   int `json:"reader_loop_ms"`
}

// rounds is how often each client of the load asks: about 12 s.
const rounds = 3

func TestCase_ManyStreamsWhileOthersRead(t *testing.T) { // D-STO-01
	var l load
	if err := json.Unmarshal(caseFile(t, "D-STO-01", "load.json"), &l); err != nil || l.Streams == 0 {
		t.Fatalf("load %+v: %v", l, err)
	}
	upstream := httptest.NewServer(slow(l.Events, time.Duration(l.Interval)*time.Millisecond))
	defer upstream.Close()
	for name, stall := range map[string]time.Duration{"": 0, "each commit waits for 500 ms": 500 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			n := rounds
			if stall > 0 {
				n = 1
			}
			r := record(t, upstream.URL)
			stop := make(chan struct{})
			var others sync.WaitGroup
			others.Go(func() { readAll(t, r.db, time.Duration(l.Reader)*time.Millisecond, 20, stop) })
			others.Go(func() { readAll(t, r.db, time.Second, 0, stop) }) // as an export does
			if stall > 0 {
				others.Go(func() { holdDatabase(t, r.db, stall, stop) })
			}
			took := askAll(t, r, l.Streams, n)
			close(stop)
			others.Wait()
			lost, lossy := stalled(t, r)
			shown := r.exchanges(l.Streams*n - lost)
			for _, e := range shown {
				if e.Lossy {
					lossy--
				} else if !e.Complete {
					t.Errorf("%s is not complete", e.Ref())
				}
			}
			if len(shown) != l.Streams*n-lost || lossy < 0 {
				t.Errorf("%d exchanges stored, want %d; %d more are lossy than met a write that stalled", len(shown), l.Streams*n-lost, max(0, -lossy))
			}
			if problems, err := r.s.db.Store().Verify(context.Background(), nil); err != nil || len(problems) > 0 {
				t.Errorf("verify finds %v (%v)", problems, err)
			}
			r.stop()
			if log := r.log.String(); strings.Contains(log, "locked") {
				t.Errorf("the log speaks of locks:\n%s", log)
			}
			t.Logf("%d streams of %d events: %v the median, %v the slowest", len(took), l.Events, took[len(took)/2], took[len(took)-1])
		})
	}
}

// mostStalled is how many exchanges may meet a disk that answers too late for them: on
// a machine that is busy with other tests one does now and then.
const mostStalled = 2

// stalled tells how many exchanges were given up, or recorded in part, because a write
// to the spool stalled.
func stalled(t *testing.T, r *running) (lost, lossy int) {
	t.Helper()
	spool := r.s.db.Recording().Spool
	s := spool.Stats()
	for began := time.Now(); s.InFlight > 0 && time.Since(began) < 10*time.Second; s = spool.Stats() {
		time.Sleep(5 * time.Millisecond)
	}
	if n := s.Lost + s.Lossy; n == 0 {
		return 0, 0
	} else if n > mostStalled || !strings.Contains(r.log.String(), "write stalled") {
		t.Fatalf("%d exchanges are lost and %d lossy:\n%s", s.Lost, s.Lossy, r.log)
	}
	t.Logf("writes to the spool stalled on this machine: %d exchanges lost, %d lossy", s.Lost, s.Lossy)
	return int(s.Lost), int(s.Lossy)
}

// askAll lets so many clients ask at once, one time after the other, and tells
// how long each answer took, the shortest first.
func askAll(t *testing.T, r *running, clients, times int) []time.Duration {
	took := make([]time.Duration, clients*times)
	var group sync.WaitGroup
	for c := range clients {
		group.Go(func() {
			for i := range times {
				began := time.Now()
				resp, err := post("http://" + r.s.proxyAt.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				data, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != 200 || !strings.HasSuffix(string(data), "[DONE]\n\n") {
					t.Errorf("status %d, stream of %d bytes: %v", resp.StatusCode, len(data), err)
				}
				took[c*times+i] = time.Since(began)
			}
		})
	}
	group.Wait()
	slices.Sort(took)
	return took
}

// readAll reads the newest exchanges, or all, again and again.
func readAll(t *testing.T, path string, pause time.Duration, limit int, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(pause):
		}
		db, err := store.OpenReader(path)
		if err != nil {
			t.Errorf("open for reading: %v", err)
			return
		}
		for e, err := range db.Exchanges(context.Background(), transcript.Filter{Limit: limit}) {
			if err == nil {
				_, err = view.NewExchange(context.Background(), db, e)
			}
			if err != nil {
				t.Errorf("read: %v", err)
			}
		}
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

// holdDatabase keeps others from committing, as a slow disk would.
func holdDatabase(t *testing.T, path string, pause time.Duration, stop <-chan struct{}) {
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Errorf("open for writing: %v", err)
		return
	}
	defer db.Close()
	for {
		err := db.Update(context.Background(), func(tx transcript.Tx) error {
			select {
			case <-stop:
			case <-time.After(pause):
			}
			return tx.SetNote("held", time.Now().String())
		})
		if err != nil {
			t.Errorf("hold: %v", err)
			return
		}
		select {
		case <-stop:
			return
		case <-time.After(100 * time.Millisecond): // for a few commits
		}
	}
}
