package web

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	countsKept   = 4000             // runs whose findings are remembered
	countsWithin = 10 * time.Second // of one run
)

// foundCounts counts the findings of the runs in a list. Judging a run takes longer
// than a list may, so it happens in the background: one run at a time, while a list
// is being viewed and nothing is being recorded. The counts are cached.
type foundCounts struct {
	judge func(context.Context, *transcript.Run) ([]lint.Finding, error)
	run   func(id string) (*transcript.Run, error)

	mu      sync.Mutex
	known   map[string]foundCount
	waiting []waitingCount // the last one is judged next
	busy    bool
}

type waitingCount struct{ id, state string }

// foundCount is the number of findings of a run, by severity.
type foundCount struct {
	Errors, Warnings int
	state            string
	left             bool // it failed, or would take too long
}

// All returns the number of findings.
func (f foundCount) All() int { return f.Errors + f.Warnings }

func newFoundCounts(s *server) *foundCounts {
	return &foundCounts{
		known: map[string]foundCount{},
		run:   func(id string) (*transcript.Run, error) { return s.reader.Run(context.Background(), id) },
		judge: func(ctx context.Context, run *transcript.Run) ([]lint.Finding, error) {
			v, err := view.NewRun(ctx, s.reader, run, s.now())
			if err != nil {
				return nil, err
			}
			if weightOf(v) > judgedWeight {
				return nil, errTooHeavy
			}
			err = v.Judge(ctx, s.reader, view.InputCost(s.prices))
			return worth(v.Lint), err
		},
	}
}

var errTooHeavy = errors.New("the run is judged on its own pages alone")

// of returns the known counts of these runs by id. If nothing is being recorded, it
// has the others counted.
func (f *foundCounts) of(rows []view.RunRow, quiet bool) map[string]*foundCount {
	f.mu.Lock()
	defer f.mu.Unlock()
	counts := map[string]*foundCount{}
	f.waiting = f.waiting[:0] // runs of another page
	for i := len(rows) - 1; i >= 0; i-- {
		r := &rows[i]
		if r.Status == view.Running || r.Counts.Steps == 0 || r.Counts.Exchanges > judgedWhole {
			continue
		}
		state := fmt.Sprint(r.Counts, r.EndedAt)
		if known, ok := f.known[r.ID]; ok && known.state == state {
			if !known.left {
				counts[r.ID] = &known
			}
			continue
		}
		if quiet {
			f.waiting = append(f.waiting, waitingCount{r.ID, state})
		}
	}
	if len(f.waiting) > 0 && !f.busy {
		f.busy = true
		go f.work()
	}
	return counts
}

// work counts until nothing waits. After each run it sleeps as long as it worked.
func (f *foundCounts) work() {
	for {
		f.mu.Lock()
		n := len(f.waiting)
		if n == 0 {
			f.busy = false
			f.mu.Unlock()
			return
		}
		next := f.waiting[n-1]
		f.waiting = f.waiting[:n-1]
		f.mu.Unlock()
		began := time.Now()
		f.keep(next, f.count(next.id))
		time.Sleep(min(time.Since(began), time.Second))
	}
}

func (f *foundCounts) count(id string) (c foundCount) {
	defer func() {
		if recover() != nil { // as with a panic in a page, recording must not end
			c = foundCount{left: true}
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), countsWithin)
	defer cancel()
	run, err := f.run(id)
	if err != nil {
		return foundCount{left: true}
	}
	list, err := f.judge(ctx, run)
	if err != nil {
		return foundCount{left: true}
	}
	for i := range list {
		if list[i].Severity == lint.Error {
			c.Errors++
		} else {
			c.Warnings++
		}
	}
	return c
}

func (f *foundCounts) keep(w waitingCount, c foundCount) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.known) >= countsKept {
		clear(f.known)
	}
	c.state = w.state
	f.known[w.id] = c
}
