package reindex

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/ingest/decode"
	"github.com/retake-debugger/retake/ingest/link"
	"github.com/retake-debugger/retake/transcript"
)

// Relink links exchanges anew after a user said what they continue, or took that
// back, and whatever hangs at them, all in one transaction. It tells how many
// are otherwise now.
func Relink(ctx context.Context, s transcript.Store, exchanges ...string) (changed int64, err error) {
	err = s.Update(ctx, func(tx transcript.Tx) error {
		r := relinker{ctx: ctx, tx: tx}
		for _, id := range exchanges {
			if err := r.add(id); err != nil {
				return err
			}
		}
		did, err := r.run()
		changed = int64(len(did))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("link again: %w", err)
	}
	return changed, nil
}

// RelinkPending links again the exchanges with pending links to d, and those that
// continue them. It returns those that changed, as they were before.
func RelinkPending(ctx context.Context, tx transcript.Tx, d *decode.Decoded) ([]*transcript.Exchange, error) {
	late, err := link.PendingOn(tx.Before(d.Exchange.N), &d.Subject)
	if err != nil || len(late) == 0 {
		return nil, err
	}
	r := relinker{ctx: ctx, tx: tx, asOf: d.Exchange.N}
	for _, id := range late {
		if err := r.add(id); err != nil {
			return nil, err
		}
	}
	return r.run()
}

// relinker links exchanges anew, and then those whose place depends on theirs.
type relinker struct {
	ctx     context.Context
	tx      transcript.Tx
	asOf    int64 // number of the exchange that is known by now
	decoder decode.Decoder
	queue   []*transcript.Exchange
	queued  map[string]bool
	rounds  map[string]int
}

// mostRounds bounds how often one exchange is linked anew.
const mostRounds = 4

func (r *relinker) add(id string) error {
	if r.queued[id] {
		return nil
	}
	e, err := r.tx.Exchange(r.ctx, id)
	if errors.Is(err, transcript.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if r.queued == nil {
		r.queued, r.rounds = map[string]bool{}, map[string]int{}
	}
	r.queued[id] = true
	r.queue = append(r.queue, e)
	return nil
}

// run gives those that are otherwise now, as they were.
func (r *relinker) run() (changed []*transcript.Exchange, err error) {
	allow, err := allowed(r.ctx, r.tx)
	if err != nil {
		return nil, err
	}
	for len(r.queue) > 0 {
		e := r.queue[0]
		r.queue = r.queue[1:]
		r.queued[e.ID] = false
		if r.rounds[e.ID]++; r.rounds[e.ID] > mostRounds {
			continue
		}
		was := e.Link
		did, err := r.one(e, allow)
		if err != nil {
			return changed, fmt.Errorf("x%d: %w", e.N, err)
		}
		if !did {
			continue
		}
		if !slices.ContainsFunc(changed, func(c *transcript.Exchange) bool { return c.ID == e.ID }) {
			changed = append(changed, e)
		}
		if err := r.addDependent(e.ID, &was); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

func (r *relinker) one(e *transcript.Exchange, allow lenience) (bool, error) {
	d, err := r.decoder.Reread(r.ctx, r.tx, e.ID)
	if errors.Is(err, transcript.ErrDamaged) || errors.Is(err, decode.ErrOmitted) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	dr, err := rederiveAsOf(r.ctx, r.tx, e, d, r.asOf, allow)
	if err != nil {
		return false, err
	}
	if changed, err := dr.differences(r.ctx, r.tx); err != nil || len(changed) == 0 {
		return false, err
	}
	if r.asOf > e.N {
		dr.exchange.Link.AsOf = max(e.Link.AsOf, r.asOf)
	}
	return dr.apply(r.ctx, r.tx)
}

// addDependent adds what continues an exchange, and, if it is in another run
// now, whatever is in either: it may have gone on from this exchange, or may now.
func (r *relinker) addDependent(id string, was *transcript.Link) error {
	now, err := r.tx.Exchange(r.ctx, id)
	if err != nil {
		return err
	}
	children, err := r.tx.Children(r.ctx, id)
	if err != nil {
		return err
	}
	for _, c := range children {
		if err := r.add(c.ID); err != nil {
			return err
		}
	}
	if was.Run == "" || now.Link.Run == was.Run {
		return nil
	}
	return errors.Join(r.addRun(was.Run), r.addRun(now.Link.Run))
}

func (r *relinker) addRun(run string) error {
	var ids []string
	for e, err := range r.tx.Exchanges(r.ctx, transcript.Filter{Run: run, Oldest: true}) {
		if err != nil {
			return err
		}
		ids = append(ids, e.ID)
	}
	for _, id := range ids {
		if err := r.add(id); err != nil {
			return err
		}
	}
	return nil
}

// known is the number of the latest exchange that was known when an exchange
// was linked, itself left out.
func known(e *transcript.Exchange) int64 { return max(e.N-1, e.Link.AsOf) }
