package link

import (
	"github.com/retake-debugger/retake/transcript"
)

// Exchanges are stored as they end, and an answer may end after the request that
// continues it: the client need not wait for the end of a stream. So a request that
// does not find what it continues leaves hints, its pending links. Each exchange that
// comes later looks for pending links to it.

// maxPendingPrompts bounds the pending links by prompt. The last prompts count, since
// what a client says about itself comes first.
const maxPendingPrompts = 3

// leavePending leaves pending links to what the request continues and was not found:
// the answer that it names, the last answer in its history, or a call whose prompt is
// its first message.
func (k *linker) leavePending(parent, caller *transcript.Exchange) {
	d := k.d
	l := &d.Exchange.Link
	switch end := lastAnswerEnd(d); {
	case k.alone || k.stated != nil || l.ServerHeld():
	case d.Turn.PreviousID != "":
		k.pend("response", d.Turn.PreviousID)
	case end > l.Shared:
		node := k.nodes[end-1]
		k.pend("node", string(node[:]))
		if without := d.nodesWithoutIDs()[end-1]; without != node {
			k.pend("loose node", string(without[:]))
		}
	case parent == nil && caller == nil && end == 0:
		k.pendCall()
		return
	}
	if k.id.IsSub() && k.call == nil && l.Parent == "" {
		k.pendCall()
	}
}

// pendCall leaves pending links to the call whose prompt is the first message.
func (k *linker) pendCall() {
	texts := k.firstTexts()
	for _, key := range texts[max(0, len(texts)-maxPendingPrompts):] {
		k.pend("prompt", string(key[:]))
	}
}

func (k *linker) pend(kind, value string) {
	k.d.Pending = append(k.d.Pending, HintOf("wanted "+kind, value))
}

// PendingOn returns the exchanges that came before d, began after it, and left a
// pending link to it.
func PendingOn(past transcript.Past, d *Subject) ([]string, error) {
	e := d.Exchange
	keys := []transcript.Key{HintOf("wanted node", string(e.Link.OutNode[:]))}
	if e.Link.NodeWithoutIDs != e.Link.OutNode {
		keys = append(keys, HintOf("wanted loose node", string(e.Link.NodeWithoutIDs[:])))
	}
	if e.ResponseID != "" {
		keys = append(keys, HintOf("wanted response", e.ResponseID))
	}
	for _, key := range d.prompts {
		keys = append(keys, HintOf("wanted prompt", string(key[:])))
	}
	var ids []string
	any, err := past.AnyByHint(keys)
	if err != nil {
		return nil, err
	}
	if !any {
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
