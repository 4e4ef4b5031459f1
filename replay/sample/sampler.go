package sample

import (
	"context"
	"fmt"
	"math/big"
	"net/http"
	"sync"
	"time"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// Sampler plays many takes of each arm, one of each in turn, so that what changes
// with time meets all arms alike.
type Sampler struct {
	Player    *replay.Player
	Arms      []replay.Arm // that of the control last
	N         int          // takes of each arm
	Parallel  int          // takes at once; at least 1
	Predicate replay.Predicate
	Cost      *big.Rat // USD for all takes; no further take begins beyond it; nil for no limit
	Group     string   // what the takes have in common, in the store
	// Progress, if set, is called for each take that ended, one at a time.
	Progress func(Played)
}

// Played is a take that ended.
type Played struct {
	Arm         int
	Take        *replay.Take
	Yes         bool
	Failed      bool // it counts for nothing
	Done, Total int
}

// refused reports whether a request would get that status each time.
func refused(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return false
	}
	return status >= http.StatusBadRequest && status < http.StatusInternalServerError
}

// sampling is a Sampler at work.
type sampling struct {
	*Sampler
	ctx     context.Context
	cancel  context.CancelFunc
	mu      sync.Mutex
	played  []Played
	spent   big.Rat
	unknown bool      // a take told no cost
	quiet   time.Time // no take begins before: a server wants to be left alone
	stopped string
	err     error
}

// Run plays the takes and compares the arms. A take that fails counts for nothing;
// one that is refused for good ends all of it, and so do ctx and the limit on cost:
// then what was played is compared. An error says that nothing could be kept, or
// that a take could not be looked at.
func (s *Sampler) Run(ctx context.Context) (*Report, error) {
	run := &sampling{Sampler: s}
	run.ctx, run.cancel = context.WithCancel(ctx)
	defer run.cancel()
	next := make(chan int)
	var all sync.WaitGroup
	for range max(1, s.Parallel) {
		all.Go(func() {
			for arm := range next {
				run.one(arm)
			}
		})
	}
	run.feed(next)
	close(next)
	all.Wait()
	if run.err != nil {
		return nil, run.err
	}
	if ctx.Err() != nil {
		run.stopped = "interrupted"
	}
	return run.compare(), nil
}

// feed hands out the takes, one of each arm in turn.
func (s *sampling) feed(next chan<- int) {
	for range s.N {
		for arm := range s.Arms {
			if s.over() || s.rest() != nil {
				return
			}
			select {
			case next <- arm:
			case <-s.ctx.Done():
				return
			}
		}
	}
}

// over reports whether no further take may begin.
func (s *sampling) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopped != "" || s.err != nil:
		return true
	case s.Cost != nil && s.unknown:
		s.stopped = "the cost of a take is not known"
	case s.Cost != nil && s.spent.Cmp(s.Cost) >= 0:
		s.stopped = "the limit on cost is reached"
	}
	return s.stopped != ""
}

// rest waits until the server is to be asked again.
func (s *sampling) rest() error {
	for {
		s.mu.Lock()
		left := s.quiet.Sub(s.Player.Time())
		s.mu.Unlock()
		if left <= 0 {
			return s.ctx.Err()
		}
		if err := s.Player.Sleep(s.ctx, left); err != nil {
			return err
		}
	}
}

// one plays a take of an arm and looks at it.
func (s *sampling) one(arm int) {
	take, status, err := s.play(arm)
	if err != nil {
		if s.ctx.Err() == nil { // else it was to begin when all was over
			s.fail(err)
		}
		return
	}
	p := Played{Arm: arm, Take: take, Failed: take.Outcome != transcript.OK || take.StopReason == transcript.StopInterrupt || take.StopReason == transcript.StopSource}
	if !p.Failed {
		if p.Yes, err = s.Predicate.Holds(context.WithoutCancel(s.ctx), take); err != nil {
			s.fail(fmt.Errorf("look at %s: %w", take.Ref, err))
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.played = append(s.played, p)
	if take.CostUSD == nil {
		s.unknown = true
	} else if cost, ok := take.Cost(); ok {
		s.spent.Add(&s.spent, cost)
	}
	if take.Outcome == transcript.HTTPError && refused(status) && s.stopped == "" {
		s.stopped = fmt.Sprintf("%s was refused with status %d", s.Arms[arm].Name, status)
		if take.Error != nil && take.Error.Message != "" {
			s.stopped += ": " + take.Error.Message
		}
	}
	if s.Progress != nil {
		p.Done, p.Total = len(s.played), s.N*len(s.Arms)
		s.Progress(p)
	}
}

func (s *sampling) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	s.cancel()
}

// play plays a take, and returns the status of its last answer.
func (s *sampling) play(arm int) (t *replay.Take, status int, err error) {
	a := &s.Arms[arm]
	o, done, err := a.Options(s.ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("make sources: %w", err)
	}
	defer done()
	o.Group, o.Arm = s.Group, a.Name
	o.Progress = func(e replay.Event) {
		switch e.Kind {
		case replay.Answered:
			status = e.Status
		case replay.Waits:
			s.hush(e.Wait)
		}
	}
	t, err = s.Player.Play(s.ctx, a.Request, o)
	return t, status, err
}

// hush delays the next take: a server wants to be left alone.
func (s *sampling) hush(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until := s.Player.Time().Add(d); until.After(s.quiet) {
		s.quiet = until
	}
}
