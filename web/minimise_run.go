package web

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/retake-debugger/retake/replay/minimise"
	"github.com/retake-debugger/retake/transcript"
)

// minimiseRun is a search for the smallest request that this viewer runs.
type minimiseRun struct {
	ID     string
	Origin *transcript.Exchange
	Look   string
	Most   int     // requests
	of     *server // that began it
	cancel context.CancelFunc

	mu    sync.Mutex
	tried []minimise.Tried
	done  bool
	wrong string             // why there is no report
	found *minimise.Smallest // the report, if it could not be stored
}

// searched is the progress of a search.
type searched struct {
	Tried    []minimise.Tried
	Left     *minimise.Tried // the smallest candidate that shows it so far; nil for none
	Requests int
	Ended    bool
	Wrong    string
	Found    *minimise.Smallest
}

// beginMinimise begins a search and returns the group of its takes.
func (s *server) beginMinimise(ctx context.Context, p *minimisePage) (string, error) {
	t := s.takes
	id, err := t.begin()
	if err != nil {
		return "", err
	}
	search, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m := p.search
	run := &minimiseRun{ID: id, Origin: m.Request.Origin, Look: m.Predicate.Name, Most: m.Requests, of: s, cancel: cancel}
	m.Player, m.Group, m.Progress = s.replaying.Player(), id, run.tell
	t.mu.Lock()
	t.searches[id] = run
	t.mu.Unlock()
	go func() {
		defer t.end()
		defer cancel()
		found, err := m.Run(search)
		if errors.Is(err, minimise.ErrNotShown) {
			err = nil // the report says so
		}
		if err == nil {
			err = minimise.Keep(context.WithoutCancel(search), s.store(), found)
		}
		if run.end(found, err); err != nil {
			s.log.Error("minimise", "group", id, "error", err)
			return
		}
		t.mu.Lock()
		delete(t.searches, id)
		t.mu.Unlock()
	}()
	return id, nil
}

// searchOf returns the search of that group, nil if this viewer runs none.
func (t *Playing) searchOf(group string) *minimiseRun {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.searches[group]
}

// tell records a candidate that was sent.
func (r *minimiseRun) tell(t minimise.Tried) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tried = append(r.tried, t)
}

func (r *minimiseRun) end(found *minimise.Smallest, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done, r.found = true, found
	switch {
	case errors.Is(err, context.Canceled):
		r.wrong = "It was stopped before the whole request was known to show it."
	case err != nil:
		r.wrong = sentence(err)
	}
}

// stand returns the progress.
func (r *minimiseRun) stand() *searched {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &searched{Tried: slices.Clone(r.tried), Ended: r.done, Wrong: r.wrong, Found: r.found}
	for i := range s.Tried {
		t := &s.Tried[i]
		s.Requests = max(s.Requests, t.Requests)
		if t.Shows && (s.Left == nil || t.Items+t.Lines+t.Tools <= s.Left.Items+s.Left.Lines+s.Left.Tools) {
			s.Left = t
		}
	}
	return s
}
