package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// candidates bounds how many exchanges with the same history are looked at.
const candidates = 32

// link finds the exchange that this one continues and sets its place in the
// history. Strongest evidence first: an answer named by its id, then the
// longest history that this input begins with.
func link(tx transcript.Tx, d *decoded) (*transcript.Exchange, error) {
	l := &d.exchange.Link
	parent, err := byResponseID(tx, d)
	if err != nil {
		return nil, err
	}
	from, base := transcript.Node{}, 0
	if parent != nil {
		from, base = parent.Link.OutNode, parent.Link.OutLen
		l.By, l.Evidence = "previous_response_id", d.turn.PreviousID
	}
	nodes := transcript.Chain(from, d.turn.Input)
	if parent == nil {
		if parent, err = byHistory(tx, d, nodes); err != nil {
			return nil, err
		}
	}
	place(d, from, base, nodes)
	if parent != nil {
		l.Parent = parent.ID
	}
	return parent, setRun(tx, d, parent)
}

func byResponseID(tx transcript.Tx, d *decoded) (*transcript.Exchange, error) {
	if d.turn.PreviousID == "" {
		return nil, nil
	}
	parent, err := tx.ByResponseID(d.turn.PreviousID)
	if errors.Is(err, transcript.ErrNotFound) {
		d.exchange.Warnings = append(d.exchange.Warnings, fmt.Sprintf("the history before %s was not recorded", d.turn.PreviousID))
		return nil, nil
	}
	return parent, err
}

// byHistory finds the longest prefix of the input that is some exchange's
// history with its output. Of equals it takes the latest that nothing extends
// yet, and says that it was a choice.
func byHistory(tx transcript.Tx, d *decoded, nodes []transcript.Node) (*transcript.Exchange, error) {
	l := &d.exchange.Link
	for n := len(nodes); n > 0; n-- {
		found, err := tx.ByOutNode(nodes[n-1], candidates)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue
		}
		parent, err := unextended(tx, found)
		if err != nil {
			return nil, err
		}
		l.By, l.Shared = "history", n
		l.Evidence = fmt.Sprintf("the first %d items are x%d's history and output", n, parent.N)
		if len(found) > 1 {
			l.Evidence += fmt.Sprintf("; ambiguous: %d exchanges have that history", len(found))
		}
		return parent, nil
	}
	return nil, nil
}

func unextended(tx transcript.Tx, found []*transcript.Exchange) (*transcript.Exchange, error) {
	for _, e := range found {
		extended, err := tx.Extended(e.ID)
		if err != nil {
			return nil, err
		}
		if !extended {
			return e, nil
		}
	}
	return found[0], nil
}

// place sets the nodes before and after the output. There is always one after
// it, so that an answer without visible output still has a place of its own.
func place(d *decoded, from transcript.Node, base int, nodes []transcript.Node) {
	l := &d.exchange.Link
	l.InNode = from
	if len(nodes) > 0 {
		l.InNode = nodes[len(nodes)-1]
	}
	l.InLen = base + len(nodes)
	out := transcript.Chain(l.InNode, d.turn.Output)
	l.OutLen = l.InLen + len(out)
	if len(out) > 0 {
		l.OutNode = out[len(out)-1]
	} else {
		l.OutNode = l.InNode.Extend(transcript.Key{})
	}
}

func setRun(tx transcript.Tx, d *decoded, parent *transcript.Exchange) error {
	l := &d.exchange.Link
	if d.capture.Label != "" {
		run, err := tx.RunByLabel(d.capture.Label, d.exchange.StartedAt)
		if err != nil {
			return err
		}
		l.Run = run.ID
		if parent == nil {
			l.By = "label"
		}
		return nil
	}
	if parent != nil {
		l.Run = parent.Link.Run
		return nil
	}
	run, err := tx.NewRun(d.exchange.StartedAt)
	if err != nil {
		return err
	}
	l.Run = run.ID
	return nil
}

// putCalls stores the calls of the answer, and the results that the request
// brought for calls of earlier answers.
func putCalls(ctx context.Context, tx transcript.Tx, d *decoded, parent *transcript.Exchange) error {
	index := d.exchange.Link.InLen
	for i := range d.turn.Output {
		it := &d.turn.Output[i]
		row := transcript.CallRow{Exchange: d.exchange.ID, Index: -1, At: it.At, CallID: it.CallID, Name: it.Name}
		if it.InChain() {
			row.Index = index
			index++
		}
		if it.Kind == transcript.ToolCall && !it.ServerSide {
			if err := tx.PutCall(row); err != nil {
				return err
			}
		}
	}
	return putResults(ctx, tx, d, parent)
}
