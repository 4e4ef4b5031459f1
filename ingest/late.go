package ingest

import (
	"context"

	"github.com/retake-debugger/retake/transcript"
)

// Exchanges are taken in as they end, and an answer may end after the request
// that goes on from it has: the client need not wait for the end of a stream. So
// a request notes what it wanted and did not find, and whatever comes looks
// whether it was wanted.

// mostWanted bounds how many prompts a request is noted to want: the last ones, since
// what a client says of itself comes first.
const mostWanted = 3

// wants notes what the request wanted: the answer that it names, the last answer
// in its history, or a call that passed its first message on.
func (k *linker) wants(parent, caller *transcript.Exchange) {
	d := k.d
	l := &d.exchange.Link
	switch end := lastAnswerEnd(d); {
	case k.alone || k.told != nil || l.ServerHeld():
	case d.turn.PreviousID != "":
		k.want("response", d.turn.PreviousID)
	case end > l.Shared:
		node := k.nodes[end-1]
		k.want("node", string(node[:]))
		loose := d.looseNodes()[end-1]
		if loose != node {
			k.want("loose node", string(loose[:]))
		}
	case parent == nil && caller == nil && end == 0:
		k.wantCall()
		return
	}
	if k.id.IsSub() && k.call == nil && l.Parent == "" {
		k.wantCall()
	}
}

// wantCall notes that it wanted the call that passed its first message on.
func (k *linker) wantCall() {
	texts := k.firstTexts()
	for _, key := range texts[max(0, len(texts)-mostWanted):] {
		k.want("prompt", string(key[:]))
	}
}

func (k *linker) want(kind, value string) {
	k.d.wanted = append(k.d.wanted, clueOf("wanted "+kind, value))
}

// relinkWanted links anew those that wanted an exchange before it came, and what
// hangs at them. It gives those that are otherwise now, as they were.
func relinkWanted(ctx context.Context, tx transcript.Tx, d *decoded) ([]*transcript.Exchange, error) {
	late, err := latecomers(tx.Before(d.exchange.N), d)
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
	if e.Link.NodeWithoutIDs != e.Link.OutNode {
		keys = append(keys, clueOf("wanted loose node", string(e.Link.NodeWithoutIDs[:])))
	}
	if e.ResponseID != "" {
		keys = append(keys, clueOf("wanted response", e.ResponseID))
	}
	for _, key := range d.prompts {
		keys = append(keys, clueOf("wanted prompt", string(key[:])))
	}
	var ids []string
	wanted, err := past.AnyByHint(keys)
	if err != nil {
		return nil, err
	}
	if !wanted {
		keys = nil
	}
	for _, key := range keys {
		places, err := past.ByHint(key, candidates)
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
			if s.ID != e.ID && s.BeganAfter(e) {
				ids = append(ids, s.ID)
			}
		}
	}
	return ids, nil
}
