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
// longest history that this input begins with, then a call that it repeats.
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
	if l.By != "previous_response_id" {
		if parent, err = byCall(tx, d, parent); err != nil {
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

// echoes bounds how many calls of a history are looked up one by one.
const echoes = 16

// byCall finds the answer whose call the request repeats, same id, name and
// arguments, beyond what parent's history covers: clients that leave out or
// rewrite texts of their history still send calls as they got them. It gives
// parent if there is none.
func byCall(tx transcript.Tx, d *decoded, parent *transcript.Exchange) (*transcript.Exchange, error) {
	items, where, tried := d.turn.Input, chainIndex(d.turn.Input), 0
	for i := len(items) - 1; i >= 0 && tried < echoes; i-- {
		if items[i].Kind != transcript.ToolCall || items[i].ServerSide || items[i].CallID == "" {
			continue
		}
		if where[i] < d.exchange.Link.Shared {
			break
		}
		tried++
		found, err := tx.Callers(transcript.KeyOf(&items[i]), candidates)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue
		}
		if parent, err = unextended(tx, found); err != nil {
			return nil, err
		}
		l := &d.exchange.Link
		l.By, l.Shared = "call", where[i]+1
		l.Evidence = fmt.Sprintf("call %s is x%d's, though the history before it differs", items[i].CallID, parent.N)
		if len(found) > 1 {
			l.Evidence += fmt.Sprintf("; ambiguous: %d answers hold that call", len(found))
		}
		return parent, nil
	}
	return parent, nil
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
	for i := range d.turn.Output {
		it := &d.turn.Output[i]
		if it.Kind != transcript.ToolCall || it.ServerSide {
			continue
		}
		row := transcript.CallRow{Exchange: d.exchange.ID, Key: transcript.KeyOf(it), At: it.At, CallID: it.CallID, Name: it.Name}
		if err := tx.PutCall(row); err != nil {
			return err
		}
	}
	return putResults(ctx, tx, d, parent)
}
