package link

import (
	"context"
	"errors"

	"github.com/retake-debugger/retake/transcript"
)

// candidates bounds how many exchanges with the same history are considered.
const candidates = 32

// TurnReader returns the turn of a stored exchange, nil if its bodies cannot be read.
type TurnReader func(ctx context.Context, r transcript.Reader, id string) (*transcript.Turn, error)

// linker finds the exchange that one continues, and its run, agent and step.
type linker struct {
	ctx    context.Context
	tx     transcript.Tx
	d      *Subject
	turn   TurnReader
	id     transcript.Identity  // what the client says about itself
	run    string               // of the exchange's label, or named by a user; "" for none
	stated *transcript.Exchange // what a user said that it continues, or the take that sent it
	alone  bool                 // a user said that it continues nothing, or the take did
	sentBy *transcript.TakePlace
	origin *transcript.Exchange // what that take replays
	nodes  []transcript.Node    // of the input's own items
	aside  []string             // exchanges that turned out to be side calls
	call   *transcript.Place    // the call that started the agent, if found
	about  string               // the run that an id in the request belongs to, "" for none

	asked             bool // whether namedRun and namedBy are set
	namedRun, namedBy string
}

// Find finds the exchange that this one continues and sets its place in the
// history, its run, its agent and its step. It returns nil if the exchange
// continues none.
func Find(ctx context.Context, tx transcript.Tx, d *Subject, turn TurnReader) (*transcript.Exchange, error) {
	k := &linker{ctx: ctx, tx: tx, d: d, turn: turn, id: transcript.Identify(d.Header)}
	l := &d.Exchange.Link
	l.Settings = d.Settings
	if d.Label != "" {
		run, err := tx.RunByLabel(d.Label, d.Exchange.StartedAt)
		if err != nil {
			return nil, err
		}
		k.run = run.ID
	}
	if err := k.override(); err != nil {
		return nil, err
	}
	if k.stated == nil && !k.alone && k.run == "" {
		if err := k.taken(); err != nil {
			return nil, err
		}
	}
	parent, err := k.parent()
	if err != nil {
		return nil, err
	}
	if parent != nil {
		l.Parent = parent.ID
	}
	k.setNodeWithoutIDs(parent)
	if err := k.join(parent); err != nil {
		return nil, err
	}
	return parent, k.changes(parent)
}

// override applies what a user said about the exchange.
func (k *linker) override() error {
	o, err := k.tx.Override(k.d.Exchange.ID)
	if errors.Is(err, transcript.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if k.alone = o.Verb == transcript.Unlink; k.alone {
		return nil
	}
	k.stated, err = k.tx.Exchange(k.ctx, o.To)
	if err == nil || !errors.Is(err, transcript.ErrNotFound) {
		return err
	}
	run, err := k.tx.Run(k.ctx, o.To)
	if errors.Is(err, transcript.ErrNotFound) { // removed since
		return nil
	}
	if err == nil {
		k.run, k.alone = run.ID, true
	}
	return err
}

func (k *linker) parent() (*transcript.Exchange, error) {
	k.nodes = k.d.Nodes
	Place(k.d, transcript.Node{}, 0, k.nodes)
	if k.alone {
		k.d.Exchange.Link.By, k.d.Exchange.Link.Evidence = k.word()
		return nil, nil
	}
	found, err := k.infer()
	if err != nil || k.stated == nil {
		return found, err
	}
	l := &k.d.Exchange.Link
	if found == nil || found.ID != k.stated.ID {
		Place(k.d, transcript.Node{}, 0, k.nodes)
		l.Shared = k.sharedWith(k.stated)
	}
	if !l.ServerHeld() {
		if by, evidence := k.word(); by == transcript.ByUser || found == nil || found.ID != k.stated.ID {
			l.By, l.Evidence = by, evidence
		}
	}
	return k.stated, nil
}

// sharedWith returns how many items of the input belong to an exchange's history,
// as far as that is known without reading it.
func (k *linker) sharedWith(e *transcript.Exchange) int {
	for _, l := range []struct {
		length int
		node   transcript.Node
	}{{e.Link.OutLen, e.Link.OutNode}, {e.Link.InLen, e.Link.InNode}} {
		if l.length > 0 && l.length <= len(k.nodes) && k.nodes[l.length-1] == l.node {
			return l.length
		}
	}
	return 0
}

// infer finds a parent by the traffic alone, in the order of the evidence.
func (k *linker) infer() (*transcript.Exchange, error) {
	for _, look := range []func() (*transcript.Exchange, error){k.byRetrieval, k.byResponseID, k.byConversation, k.byReference} {
		if parent, err := look(); err != nil || parent != nil {
			return parent, err
		}
	}
	parent, err := k.byHistory()
	if err != nil {
		return nil, err
	}
	for _, look := range []func(*transcript.Exchange) (*transcript.Exchange, error){k.byOtherChoice, k.byRepeatedCall, k.byKeysWithoutIDs, k.byCompaction} {
		if parent, err = look(parent); err != nil {
			return nil, err
		}
	}
	if parent == nil {
		return k.byFingerprint()
	}
	return parent, nil
}

// Place sets the nodes before and after the output. There is always one after it,
// so that an answer without visible output has a place of its own. An output that
// replaces the history is a history of its own.
func Place(d *Subject, from transcript.Node, base int, nodes []transcript.Node) {
	l := &d.Exchange.Link
	l.InNode = from
	if len(nodes) > 0 {
		l.InNode = nodes[len(nodes)-1]
	}
	l.InLen = base + len(nodes)
	before, length := l.InNode, l.InLen
	if d.Turn.Replaces {
		before, length = transcript.Node{}, 0
	}
	out := transcript.Chain(before, d.output().keys)
	l.OutLen = length + len(out)
	if len(out) > 0 {
		l.OutNode = out[len(out)-1]
	} else {
		l.OutNode = before.Extend(transcript.Key{})
	}
}

// setNodeWithoutIDs sets the node without call ids. It continues the parent's where
// the history does.
func (k *linker) setNodeWithoutIDs(parent *transcript.Exchange) {
	l := &k.d.Exchange.Link
	from, skip := transcript.Node{}, 0
	if parent != nil && !parent.Link.NodeWithoutIDs.IsZero() {
		switch {
		case l.ServerHeld():
			from, skip = parent.Link.NodeWithoutIDs, l.Shared
		case l.By == transcript.ByHistory && l.Shared == parent.Link.OutLen:
			from, skip = parent.Link.NodeWithoutIDs, l.Shared
		}
	}
	for i, where := range k.d.Where {
		if where >= skip {
			from = from.Extend(k.d.keyWithoutID(i))
		}
	}
	if k.d.Turn.Replaces {
		from = transcript.Node{}
	}
	out := transcript.Chain(from, k.d.output().withoutIDs)
	if len(out) > 0 {
		l.NodeWithoutIDs = out[len(out)-1]
	} else {
		l.NodeWithoutIDs = from.Extend(transcript.Key{})
	}
}
