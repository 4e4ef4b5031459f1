package web

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"github.com/retake-debugger/retake/replay"
)

const mostTakes = 4 // replays that are under way at once; a sample is one, and so is a search for the smallest request

// errBusy says that too many replays are under way.
var errBusy = errors.New("four replays are under way; one more goes out when one of them has ended")

// Playing are the replays that a program's viewer plays. A program that opens its
// database anew, and with it the viewer, gives each the same, so that what is under way
// then is not lost from view.
type Playing struct {
	mu       sync.Mutex
	cancel   map[playedTake]context.CancelCauseFunc
	samples  map[string]*sampleRun // by their group
	searches map[string]*minimiseRun
	count    int
}

// playedTake is a take of the database that a viewer reads: another one has takes of the
// same number.
type playedTake struct {
	of *server
	n  int64
}

// NewPlaying begins with none.
func NewPlaying() *Playing {
	return &Playing{cancel: map[playedTake]context.CancelCauseFunc{}, samples: map[string]*sampleRun{}, searches: map[string]*minimiseRun{}}
}

// begin takes a place among those under way. It gives an id for what its takes have in
// common.
func (t *Playing) begin() (group string, err error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make group id: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count >= mostTakes {
		return "", errBusy
	}
	t.count++
	return id.String(), nil
}

func (t *Playing) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count--
}

// start begins a take and gives its number. It goes on behind the request; done is
// called at its end.
func (t *Playing) start(ctx context.Context, s *server, req *replay.Request, o replay.Options, done func()) (int64, error) {
	if _, err := t.begin(); err != nil {
		done()
		return 0, err
	}
	play, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	began, failed := make(chan int64, 1), make(chan error, 1)
	o.Progress = func(e replay.Event) {
		if e.Kind == replay.Began {
			t.mu.Lock()
			t.cancel[playedTake{s, e.Take}] = cancel
			t.mu.Unlock()
			began <- e.Take
		}
	}
	go func() {
		take, err := s.replaying.Player().Play(play, req, o)
		cancel(nil)
		done()
		t.end()
		if take != nil {
			t.mu.Lock()
			delete(t.cancel, playedTake{s, take.N})
			t.mu.Unlock()
		}
		if err != nil {
			s.log.Error("replay", "error", err)
			failed <- err
		}
	}()
	select {
	case n := <-began:
		return n, nil
	case err := <-failed:
		return 0, err
	}
}

// errStopped is why a take ends that a reader stopped.
var errStopped = errors.New("stopped in the viewer")

// stop ends a take that this viewer plays; false if it plays none of that number.
func (t *Playing) stop(s *server, n int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	cancel := t.cancel[playedTake{s, n}]
	if cancel != nil {
		cancel(errStopped)
	}
	return cancel != nil
}

// plays reports whether this viewer plays the take of that number.
func (t *Playing) plays(s *server, n int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cancel[playedTake{s, n}] != nil
}
