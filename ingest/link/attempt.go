package link

import (
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// retryWithin is how long after a failed first request the same request counts as
// another attempt. Later steps need no such bound, since their history contains
// model output.
const retryWithin = 15 * time.Minute

// failedBefore finds an exchange that asked the same and failed: this one is
// another attempt at its step. After a success the same request is a step of its
// own.
func (k *linker) failedBefore(parent *transcript.Exchange) (*transcript.Exchange, error) {
	l := &k.d.Exchange.Link
	if l.InNode.IsZero() {
		return nil, nil
	}
	same, err := k.tx.ByInNode(l.InNode, candidates)
	if err != nil {
		return nil, err
	}
	done := map[string]bool{} // agents whose step has succeeded
	for _, e := range same {
		switch {
		case e.Link.Side || e.Link.Parent != l.Parent || e.Link.By == transcript.ByRetrieve || !k.before(e):
			continue
		case k.run != "" && e.Link.Run != k.run:
			continue
		case parent == nil && e.Link.Settings != l.Settings: // another agent's
			continue
		case parent == nil && k.d.Exchange.StartedAt.Sub(e.StartedAt).Abs() > retryWithin:
			continue
		}
		if ok, err := k.mayJoin(e); err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		if e.Outcome == transcript.OK || e.Link.Agent == "" {
			done[e.Link.Agent] = true
		} else if !done[e.Link.Agent] {
			return e, nil
		}
	}
	return nil, nil
}

// joinStep makes a poll another attempt at the step of the request that began the
// answer.
func (k *linker) joinStep(began *transcript.Exchange) error {
	l := &k.d.Exchange.Link
	l.Run, l.Agent, l.Step, l.Side = began.Link.Run, began.Link.Agent, began.Link.Step, began.Link.Side
	l.Attempt = began.Link.Attempt + 1
	children, err := k.tx.Children(k.ctx, began.ID)
	if err != nil {
		return err
	}
	for _, e := range children {
		if e.Link.By == transcript.ByRetrieve && k.before(e) && (k.d.Exchange.N == 0 || e.N < k.d.Exchange.N) {
			l.Attempt = max(l.Attempt, e.Link.Attempt+1)
		}
	}
	return nil
}
