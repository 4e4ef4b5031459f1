package mock

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// Recordings holds recordings, to be found by request. It may be used by several
// goroutines.
type Recordings struct {
	reader   transcript.Reader
	outliner *outliner
	mu       sync.Mutex
	all      []*recording
	byKey    map[hash][]*recording
	near     map[hash][]*recording // by beginning of the history: the first few
	byPath   map[string][]*recording
}

// recording is an exchange that can be served.
type recording struct {
	*transcript.Exchange
	exact  hash
	path   string
	length int // elements of its history
	served int
}

// nearLimit is how many recordings are kept for one beginning of a history.
const nearLimit = 4

// NewRecordings makes an empty store of recordings. Its masks are only those given.
func NewRecordings(r transcript.Reader, masks []Mask) *Recordings {
	return &Recordings{reader: r, outliner: newOutliner(masks), byKey: map[hash][]*recording{}, near: map[hash][]*recording{}, byPath: map[string][]*recording{}}
}

// Len returns how many recordings there are.
func (t *Recordings) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.all)
}

// ErrUnservable means that of an exchange too much is missing to serve it.
var ErrUnservable = errors.New("cannot be served")

// Add adds a recording. Those of equal requests are served in the order in which
// they were added.
func (t *Recordings) Add(ctx context.Context, e *transcript.Exchange) error {
	if e.Lossy || e.Request.Omitted != "" || e.Response.Omitted != "" || e.Outcome == transcript.InProgress {
		return fmt.Errorf("x%d %w: it was not recorded in full", e.N, ErrUnservable)
	}
	body, err := history.Body(ctx, t.reader, &e.Request)
	if err != nil {
		return fmt.Errorf("read request of x%d: %w", e.N, err)
	}
	o := t.outliner.of(e.Dialect, e.Method, e.URL, body)
	r := &recording{Exchange: e, exact: o.exact, path: o.path, length: len(o.prefixes)}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, r)
	t.byKey[o.key] = append(t.byKey[o.key], r)
	t.byPath[o.path] = append(t.byPath[o.path], r)
	for _, p := range o.prefixes {
		if list := t.near[p]; len(list) < nearLimit {
			t.near[p] = append(list, r)
		}
	}
	return nil
}

// take returns the recording whose turn it is. matched is the last one that was
// served, if all are used up; nil if none matches.
func (t *Recordings) take(o *outline) (next, matched *recording) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var like *recording // the first one left that is equal only with masks
	exact := false
	for _, r := range t.byKey[o.key] {
		if !samePath(r.path, o.path) {
			continue
		}
		same := r.exact == o.exact
		if same && !exact {
			exact, like = true, nil
		}
		if same != exact {
			continue
		}
		if matched = r; r.served == 0 && like == nil {
			like = r
		}
	}
	if like != nil {
		like.served++
	}
	return like, matched
}

// nearest returns the recording that has the longest beginning of its history in
// common with a request, nil if there is none of that API.
func (t *Recordings) nearest(o *outline) *recording {
	t.mu.Lock()
	defer t.mu.Unlock()
	var best *recording
	better := func(r *recording) bool {
		return best == nil || abs(r.length-len(o.prefixes)) < abs(best.length-len(o.prefixes))
	}
	for i := len(o.prefixes) - 1; i >= 0 && best == nil; i-- {
		for _, r := range t.near[o.prefixes[i]] {
			if samePath(r.path, o.path) && better(r) {
				best = r
			}
		}
	}
	if best != nil {
		return best
	}
	for p, list := range t.byPath {
		if !samePath(p, o.path) {
			continue
		}
		for _, r := range list {
			if best == nil || better(r) || r.length == best.length && r.N < best.N && !better(best) {
				best = r
			}
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

// Rewind makes every recording unserved.
func (t *Recordings) Rewind() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.all {
		r.served = 0
	}
}

// left returns the recordings that were not served, at most limit, and how many there are.
func (t *Recordings) left(limit int) (refs []string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	refs = []string{}
	for _, r := range t.all {
		if r.served > 0 {
			continue
		}
		if n++; len(refs) < limit {
			refs = append(refs, ref(r))
		}
	}
	return refs, n
}

func ref(r *recording) string { return fmt.Sprintf("x%d", r.N) }
