package view

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// Ends are the last exchanges of conversations: the last step of each agent and
// branch, without replays and side calls. Each contains its whole conversation.
type Ends struct {
	List    []*transcript.Exchange // in the order in which their runs and agents began
	Failed  int                    // failed branches, left out because the conversation continued without them
	Damaged []error                // about exchanges that cannot be read
}

// NewEnds finds the ends of a run, or of all runs if run is "". With a filter, only
// of runs with an exchange that passes.
func NewEnds(ctx context.Context, r transcript.Reader, run string, passes func(*transcript.Exchange) bool) (*Ends, error) {
	replayed, err := takenBy(ctx, r)
	if err != nil {
		return nil, err
	}
	ends := &Ends{}
	var steps []*transcript.Exchange
	continued, runs := map[string]int{}, map[string]bool{}
	for e, err := range r.Exchanges(ctx, transcript.Filter{Run: run, Oldest: true}) {
		if errors.Is(err, transcript.ErrDamaged) {
			ends.Damaged = append(ends.Damaged, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		if passes == nil || passes(e) {
			runs[e.Link.Run] = true
		}
		if e.Link.Side || e.Dialect == transcript.Unknown || replayed[e.ID] {
			continue
		}
		steps = append(steps, e)
		if goesOn(&e.Link) {
			continued[e.Link.Parent]++
		}
	}
	for _, e := range steps {
		switch failed := e.Outcome != transcript.OK || !e.Complete; {
		case continued[e.ID] > 0 || !runs[e.Link.Run]:
		case failed && goesOn(&e.Link) && continued[e.Link.Parent] > 1: // the conversation continued without it
			ends.Failed++
		default:
			ends.List = append(ends.List, e)
		}
	}
	byBeginning(ends.List, steps)
	return ends, nil
}

// byBeginning sorts conversations by the start of their runs and, within a run, of
// their agents: an agent comes before those that it started. steps are the steps of
// all of them, oldest first.
func byBeginning(conversations, steps []*transcript.Exchange) {
	began := map[string]int{}
	for n, e := range steps {
		for _, id := range []string{"run " + e.Link.Run, "agent " + e.Link.Agent} {
			if _, ok := began[id]; !ok {
				began[id] = n
			}
		}
	}
	slices.SortStableFunc(conversations, func(a, b *transcript.Exchange) int {
		return cmp.Or(cmp.Compare(began["run "+a.Link.Run], began["run "+b.Link.Run]),
			cmp.Compare(began["agent "+a.Link.Agent], began["agent "+b.Link.Agent]))
	})
}

// goesOn reports whether an exchange contains the history of its parent, so that
// the parent is not the end of a conversation.
func goesOn(l *transcript.Link) bool {
	switch l.By {
	case transcript.ByCompaction, transcript.ByHandoff, transcript.BySession, transcript.ByPrompt, transcript.ByTime, transcript.ByLabel:
		return false
	}
	return l.Parent != ""
}
