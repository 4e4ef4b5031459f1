package link

import (
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// taken looks for a take that sent the exchange. A take knows where it left the
// original, whatever its edits made of the history. If its origin was removed or is
// in no run, the exchange is linked like any other.
func (k *linker) taken() error {
	at, err := k.tx.TakePlace(k.d.Exchange.ID)
	if errors.Is(err, transcript.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	origin, err := k.ifStored(at.Origin)
	if err != nil || origin == nil || origin.Link.Run == "" {
		return err
	}
	before := at.Before
	if at.Step == 1 && before == "" {
		before = origin.Link.Parent
	}
	if k.stated, err = k.ifStored(before); err != nil {
		return err
	}
	k.alone = k.stated == nil
	k.sentBy, k.origin = at, origin
	return nil
}

// ifStored returns an exchange, nil if it is not stored.
func (k *linker) ifStored(id string) (*transcript.Exchange, error) {
	if id == "" {
		return nil, nil
	}
	e, err := k.tx.Exchange(k.ctx, id)
	if errors.Is(err, transcript.ErrNotFound) {
		return nil, nil
	}
	return e, err
}

// word returns the evidence of a user or a take.
func (k *linker) word() (by, evidence string) {
	switch {
	case k.sentBy != nil && k.sentBy.Step == 0:
		return transcript.ByTake, fmt.Sprintf("a side call of take t%d", k.sentBy.N)
	case k.sentBy != nil:
		return transcript.ByTake, fmt.Sprintf("step %d of take t%d, which replays x%d", k.sentBy.Step, k.sentBy.N, k.origin.N)
	case k.stated != nil:
		return transcript.ByUser, fmt.Sprintf("a user said that it continues x%d", k.stated.N)
	}
	return transcript.ByUser, "a user said so"
}

// joinTake puts a step of a take into the run and the agent of what it replays,
// after the step that it continues.
func (k *linker) joinTake(parent *transcript.Exchange) {
	l, o := &k.d.Exchange.Link, &k.origin.Link
	l.Run = o.Run
	if l.Side = o.Side || k.sentBy.Step == 0 || o.Agent == ""; l.Side {
		return
	}
	l.Agent, l.Step, l.Attempt = o.Agent, o.Step, k.sentBy.Attempt
	if parent != nil && parent.Link.Agent == o.Agent {
		l.Step = parent.Link.Step + 1
	} else if k.sentBy.Step > 1 {
		l.Step += k.sentBy.Step - 1
	}
}
