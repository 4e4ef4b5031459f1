package minimise

import (
	"context"
	"fmt"
	"math/big"
	"net/http"
	"sync"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// takesSum adds up what takes used.
type takesSum struct {
	takes   int
	usage   transcript.Usage
	told    int // takes that told their usage
	usd     big.Rat
	priced  int
	unknown bool // a take told no cost, or only a lower bound
}

func (s *takesSum) add(t *replay.Take) {
	s.takes++
	if t.Usage != nil {
		s.usage = replay.AddUsage(s.usage, t.Usage, s.told == 0)
		s.told++
	}
	if cost, ok := t.Cost(); ok {
		s.usd.Add(&s.usd, cost)
		s.priced++
	}
	s.unknown = s.unknown || t.CostUSD == nil || t.LowerBound
}

func (s *takesSum) cost() *string {
	if s.priced == 0 {
		return nil
	}
	d := pricing.Dollars(&s.usd)
	return &d
}

// ask sends the request of a candidate until it is known whether it shows the
// behaviour.
func (w *minimising) ask(ctx context.Context, req *replay.Request, whole *candidate) (Tried, error) {
	t := Tried{Part: w.part, Takes: []string{}}
	t.Items, t.Lines, t.Tools = w.count(whole)
	reason := fmt.Sprintf("minimising x%d: %d of %d items, %d of %d tools", req.Origin.N, t.Items, len(w.parts.units), t.Tools, len(w.parts.tools))
	for t.Refused == "" && t.Yes < w.AtLeast && t.Yes+w.Samples-t.Asked >= w.AtLeast {
		n := min(w.AtLeast-t.Yes, w.Parallel)
		if err := w.affords(n); err != nil {
			return t, err
		}
		if err := w.sample(ctx, req, n, &t, transcript.CandidateArm, reason); err != nil {
			return t, err
		}
	}
	t.Shows = t.Yes >= w.AtLeast
	t.Requests = w.spent.takes
	w.list = append(w.list, t)
	if w.Progress != nil {
		w.Progress(t)
	}
	return t, nil
}

// noRequests says that no further candidate could be asked.
const noRequests = "the limit on requests is reached"

// affords reports whether n more requests may be sent: as many are kept back as it takes
// to ask the smallest one again. ErrBudget if not.
func (w *minimising) affords(n int) error {
	kept := w.Samples
	if w.best == nil { // the whole request
		kept = 0
	}
	switch {
	case w.Requests > 0 && w.spent.takes+n+kept > w.Requests:
		w.stopped = noRequests
	case w.Cost != nil && w.spent.takes > 0 && w.spent.unknown:
		w.stopped = "the cost of a request is not known"
	case w.Cost != nil && w.spent.usd.Cmp(w.Cost) >= 0:
		w.stopped = "the limit on cost is reached"
	default:
		return nil
	}
	return ErrBudget
}

// again asks the smallest request once more, as often as one is asked at most. nil if
// the search was interrupted or broke down.
func (w *minimising) again(ctx context.Context) (*Tried, error) {
	if w.stopped != "" && w.stopped != noRequests || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	req, whole, err := w.request(w.best)
	if err != nil {
		return nil, err
	}
	t := &Tried{Takes: []string{}}
	t.Items, t.Lines, t.Tools = w.count(whole)
	reason := w.Reason
	if reason == "" {
		reason = fmt.Sprintf("the smallest request of which %s", w.Predicate.Name)
	}
	for left := w.Samples; left > 0 && t.Refused == ""; {
		n := min(left, w.Parallel)
		if err := w.sample(ctx, req, n, t, transcript.SmallestArm, reason); err != nil {
			return t, err
		}
		left -= n
	}
	t.Shows = t.Yes >= w.AtLeast
	if len(t.Takes) > 0 {
		w.bestTake = t.Takes[0]
	}
	return t, nil
}

// sample sends a request n times at once and looks at the answers. The takes of those
// that show the behaviour come first.
func (w *minimising) sample(ctx context.Context, req *replay.Request, n int, t *Tried, arm, reason string) error {
	takes, refused, errs := make([]*replay.Take, n), make([]string, n), make([]error, n)
	shows := make([]bool, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			takes[i], refused[i], errs[i] = w.play(ctx, req, arm, reason)
			if errs[i] == nil && refused[i] == "" {
				shows[i], errs[i] = w.looks(ctx, takes[i])
			}
		})
	}
	all.Wait()
	var failed error
	for i, take := range takes {
		if take != nil {
			w.spent.add(take)
			if shows[i] {
				t.Takes = append([]string{take.Ref}, t.Takes...)
			} else {
				t.Takes = append(t.Takes, take.Ref)
			}
		}
		switch {
		case errs[i] != nil:
			failed = errs[i]
		case refused[i] != "":
			t.Refused = refused[i]
		default:
			t.Asked++
			if shows[i] {
				t.Yes++
			}
		}
	}
	return failed
}

func (w *minimising) looks(ctx context.Context, take *replay.Take) (bool, error) {
	shows, err := w.Predicate.Holds(context.WithoutCancel(ctx), take)
	if err != nil {
		return false, fmt.Errorf("look at %s: %w", take.Ref, err)
	}
	return shows, nil
}

// play sends a request once. refused says that the provider does not take such a
// request; ErrFailed, that it answers none.
func (w *minimising) play(ctx context.Context, req *replay.Request, arm, reason string) (take *replay.Take, refused string, err error) {
	status := 0
	take, err = w.Player.Play(ctx, req, replay.Options{Mode: transcript.Once, Retries: w.Retries, Reason: reason, Group: w.Group, Arm: arm,
		Progress: func(e replay.Event) {
			if e.Kind == replay.Answered {
				status = e.Status
			}
		}})
	if err != nil {
		return nil, "", err
	}
	if take.Outcome == transcript.OK {
		return take, "", nil
	}
	if err := ctx.Err(); err != nil {
		return take, "", err
	}
	why := string(take.Outcome)
	if take.Error != nil && take.Error.Message != "" {
		why = take.Error.Message
	}
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		return take, why, nil
	}
	if status >= http.StatusBadRequest {
		why = fmt.Sprintf("status %d: %s", status, why)
	}
	return take, "", fmt.Errorf("%w: %s", ErrFailed, why)
}
