package web

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"github.com/retake-debugger/retake/replay"
)

const mostTakes = 4 // replays in progress at once; a sample counts as one, and so does a search for the smallest request

var errBusy = errors.New("four replays are under way; one more goes out when one of them has ended")

// Playing are the replays that a program's viewer runs. A program that reopens its
// database, and with it the viewer, passes the same Playing to each viewer, so that
// running replays stay visible.
type Playing struct {
	mu       sync.Mutex
	cancel   map[playedTake]context.CancelCauseFunc
	samples  map[string]*sampleRun // by their group
	searches map[string]*minimiseRun
	count    int
}

// playedTake identifies a take together with its database, because another database
// has takes with the same number.
type playedTake struct {
	of *server
	n  int64
}

func NewPlaying() *Playing {
	return &Playing{cancel: map[playedTake]context.CancelCauseFunc{}, samples: map[string]*sampleRun{}, searches: map[string]*minimiseRun{}}
}

// begin reserves a place for a replay. It returns an id that its takes share.
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

// start begins a take and returns its number. The take continues after the HTTP
// request ends; done is called at its end.
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

// errStopped is the cause of a take that the user stopped.
var errStopped = errors.New("stopped in the viewer")

// stop ends a take; false if this viewer does not run it.
func (t *Playing) stop(s *server, n int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	cancel := t.cancel[playedTake{s, n}]
	if cancel != nil {
		cancel(errStopped)
	}
	return cancel != nil
}

// plays reports whether this viewer runs the take with that number.
func (t *Playing) plays(s *server, n int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cancel[playedTake{s, n}] != nil
}
