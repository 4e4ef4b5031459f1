package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// Exchanges are taken in as they end, and an answer may end after the request
// that goes on from it has: the client need not wait for the end of a stream. So
// a request notes what it wanted and did not find, and whatever comes looks
// whether it was wanted.

// mostWanted bounds how many prompts a request is noted to want.
const mostWanted = 2

// wants notes what the request wanted: the answer that it names, the last answer
// in its history, or a call that passed its first message on.
func (k *linker) wants(parent, caller *transcript.Exchange) {
	d := k.d
	l := &d.exchange.Link
	switch ends := answerEnds(d); {
	case k.alone || k.told != nil || l.Held():
	case d.turn.PreviousID != "":
		k.want("response", d.turn.PreviousID)
	case len(ends) > 0 && ends[len(ends)-1] > l.Shared:
		node := k.nodes[ends[len(ends)-1]-1]
		k.want("node", string(node[:]))
	case parent == nil && caller == nil && len(ends) == 0:
		for i, key := range k.firstTexts() {
			if i < mostWanted {
				k.want("prompt", string(key[:]))
			}
		}
	}
}

func (k *linker) want(kind, value string) {
	k.d.wanted = append(k.d.wanted, clueOf("wanted "+kind, value))
}

// relinkWanted links anew those that wanted an exchange before it came, and what
// hangs at them. It gives their ids.
func relinkWanted(ctx context.Context, tx transcript.Tx, d *decoded) ([]string, error) {
	late, err := latecomers(tx.AsOf(d.exchange.N), d)
	if err != nil || len(late) == 0 {
		return nil, err
	}
	r := relinker{ctx: ctx, tx: tx, asOf: d.exchange.N}
	for _, id := range late {
		if err := r.add(id); err != nil {
			return nil, err
		}
	}
	return r.run()
}

// latecomers gives the exchanges that came before d, began after it, and wanted
// it.
func latecomers(past transcript.Past, d *decoded) ([]string, error) {
	e := d.exchange
	keys := []transcript.Key{clueOf("wanted node", string(e.Link.OutNode[:]))}
	if e.ResponseID != "" {
		keys = append(keys, clueOf("wanted response", e.ResponseID))
	}
	for _, key := range d.prompts {
		keys = append(keys, clueOf("wanted prompt", string(key[:])))
	}
	var ids []string
	for _, key := range keys {
		places, err := past.Clues(key, candidates)
		if err != nil {
			return nil, err
		}
		for _, p := range places {
			ids = append(ids, p.Exchange)
		}
	}
	if e.Outcome != transcript.OK && !e.Link.InNode.IsZero() { // a later attempt may have come first
		same, err := past.ByInNode(e.Link.InNode, candidates)
		if err != nil {
			return nil, err
		}
		for _, s := range same {
			if s.ID != e.ID && s.StartedAt.After(e.StartedAt) {
				ids = append(ids, s.ID)
			}
		}
	}
	return ids, nil
}

// Relink derives an exchange anew after a user said what it continues, or took
// that back, and whatever hangs at it.
func Relink(ctx context.Context, s transcript.Store, exchange string) error {
	err := s.Update(ctx, func(tx transcript.Tx) error {
		r := relinker{ctx: ctx, tx: tx}
		if err := r.add(exchange); err != nil {
			return err
		}
		_, err := r.run()
		return err
	})
	if err != nil {
		return fmt.Errorf("link %s anew: %w", exchange, err)
	}
	return nil
}

// relinker links exchanges anew, and then those whose place depends on theirs.
type relinker struct {
	ctx     context.Context
	tx      transcript.Tx
	asOf    int64 // number of the exchange that is known by now
	decoder Committer
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

func (r *relinker) run() (changed []string, err error) {
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
		changed = append(changed, e.ID)
		if err := r.addDependent(e.ID, &was); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

func (r *relinker) one(e *transcript.Exchange, allow lenience) (bool, error) {
	d, err := r.decoder.reread(r.ctx, r.tx, e.ID)
	if errors.Is(err, transcript.ErrDamaged) || errors.Is(err, errOmitted) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	old := *e
	if r.asOf > e.N {
		old.Link.AsOf = max(old.Link.AsOf, r.asOf)
	}
	dr, err := rederive(r.ctx, r.tx.AsOf(known(&old)+1), &old, d, allow)
	if err != nil {
		return false, err
	}
	dr.old, dr.exchange.Link.AsOf = e, e.Link.AsOf
	if changed, err := dr.differences(r.ctx, r.tx); err != nil || len(changed) == 0 {
		return false, err
	}
	dr.exchange.Link.AsOf = old.Link.AsOf
	return dr.apply(r.ctx, r.tx)
}

// addDependent adds what continues an exchange, and, if it is in another run
// now, whatever is in the run that it was in.
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
	var left []string
	for e, err := range r.tx.Exchanges(r.ctx, transcript.Filter{Run: was.Run, Oldest: true}) {
		if err != nil {
			return err
		}
		left = append(left, e.ID)
	}
	for _, id := range left {
		if err := r.add(id); err != nil {
			return err
		}
	}
	return nil
}

// known is the number of the latest exchange that was known when an exchange
// was linked, itself left out.
func known(e *transcript.Exchange) int64 { return max(e.N-1, e.Link.AsOf) }
