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

// foundCounts counts what is found in the runs of a list. To judge a run takes
// longer than a list may: it is done behind the page, one run after the other while
// somebody looks and nothing is being recorded, and remembered.
type foundCounts struct {
	judge func(context.Context, *transcript.Run) ([]lint.Finding, error)
	run   func(id string) (*transcript.Run, error)

	mu      sync.Mutex
	known   map[string]foundCount
	waiting []waitingCount // the last one is judged next
	busy    bool
}

type waitingCount struct{ id, state string }

// foundCount is how much is found in a run that was so.
type foundCount struct {
	Errors, Warnings int
	state            string
	left             bool // it cannot be told, or would take too long
}

// All is how much is found.
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

// of returns what is known of these runs by their ids, and has the others counted if
// nothing is being recorded.
func (f *foundCounts) of(rows []view.RunRow, quiet bool) map[string]*foundCount {
	f.mu.Lock()
	defer f.mu.Unlock()
	counts := map[string]*foundCount{}
	f.waiting = f.waiting[:0] // what another page wanted
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

// work counts until nothing waits. It rests as long as it worked.
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
		if recover() != nil { // as a panic in a page: never the end of recording
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
