package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// candidates bounds how many exchanges with the same history are looked at.
const candidates = 32

// byResponse is the By of a link to an answer that the request names by its id.
const byResponse = "previous_response_id"

// linker finds the exchange that one continues.
type linker struct {
	ctx   context.Context
	tx    transcript.Tx
	d     *decoded
	id    transcript.Identity // what the client says of itself
	run   string              // of the label that the exchange came with, "" for none
	aside []string            // exchanges that turned out to be side calls
	call  *transcript.Place   // the call that started the agent, once it is found
}

// link finds the exchange that this one continues and sets its place in the
// history. Strongest evidence first: an answer named by its id, then the
// longest history that this input begins with, then a call that it repeats.
func link(ctx context.Context, tx transcript.Tx, d *decoded) (*transcript.Exchange, error) {
	k := &linker{ctx: ctx, tx: tx, d: d, id: transcript.Identify(d.capture.RequestHeader)}
	if d.capture.Label != "" {
		run, err := tx.RunByLabel(d.capture.Label, d.exchange.StartedAt)
		if err != nil {
			return nil, err
		}
		k.run = run.ID
	}
	parent, err := k.parent()
	if err != nil {
		return nil, err
	}
	if parent != nil {
		d.exchange.Link.Parent = parent.ID
	}
	return parent, k.join(parent)
}

func (k *linker) parent() (*transcript.Exchange, error) {
	parent, err := k.byResponseID()
	if err != nil {
		return nil, err
	}
	if parent != nil {
		nodes := transcript.Chain(parent.Link.OutNode, k.d.keys)
		place(k.d, parent.Link.OutNode, parent.Link.OutLen, nodes)
		return parent, nil
	}
	nodes := transcript.Chain(transcript.Node{}, k.d.keys)
	place(k.d, transcript.Node{}, 0, nodes)
	if parent, err = k.byHistory(nodes); err != nil {
		return nil, err
	}
	return k.byCall(parent)
}

func (k *linker) byResponseID() (*transcript.Exchange, error) {
	id := k.d.turn.PreviousID
	if id == "" {
		return nil, nil
	}
	parent, err := k.tx.ByResponseID(id)
	if errors.Is(err, transcript.ErrNotFound) {
		k.d.exchange.Warnings = append(k.d.exchange.Warnings, fmt.Sprintf("the history before %s was not recorded", id))
		return nil, nil
	}
	if err == nil {
		k.d.exchange.Link.By, k.d.exchange.Link.Evidence = byResponse, id
	}
	return parent, err
}

// nearest bounds how many prefixes of a history are looked up one by one.
const nearest = 32

// byHistory finds the longest prefix of the input that is some exchange's
// history with its output. The nearest prefixes are all looked up. Of a history
// that goes on for longer without being recorded it is taken that what is
// recorded is its beginning, and the end of that is searched for: a request
// that has nothing to do with anything costs few lookups, however long it is.
func (k *linker) byHistory(nodes []transcript.Node) (*transcript.Exchange, error) {
	ends := answerEnds(k.d)
	for n := 0; n < nearest && len(ends) > 0; n++ {
		last := len(ends) - 1
		if parent, err := k.atNode(nodes, ends[last]); err != nil || parent != nil {
			return parent, err
		}
		ends = ends[:last]
	}
	var longest *transcript.Exchange
	for low, high := 0, len(ends); low < high; {
		middle := (low + high) / 2
		parent, err := k.atNode(nodes, ends[middle])
		if err != nil {
			return nil, err
		}
		if parent == nil {
			high = middle
		} else {
			longest, low = parent, middle+1
		}
	}
	return longest, nil
}

// answerEnds gives the lengths of the prefixes that can end with an answer:
// what a user says, or the result of a client's tool, ends none.
func answerEnds(d *decoded) []int {
	var ends []int
	for i, where := range d.where {
		it := &d.turn.Input[i]
		if where >= 0 && it.Kind != transcript.ToolResult && !(it.Kind == transcript.MessageItem && it.Role == "user") {
			ends = append(ends, where+1)
		}
	}
	return ends
}

// atNode links to the exchange whose history and output are the first n items,
// if there is one.
func (k *linker) atNode(nodes []transcript.Node, n int) (*transcript.Exchange, error) {
	found, err := k.tx.ByOutNode(nodes[n-1], candidates)
	if err != nil {
		return nil, err
	}
	parent, of, err := k.choose(found)
	if err != nil || parent == nil {
		return nil, err
	}
	l := &k.d.exchange.Link
	l.By, l.Shared = "history", n
	l.Evidence = fmt.Sprintf("the first %d items are x%d's history and output", n, parent.N)
	if of > 1 {
		l.Evidence += fmt.Sprintf("; ambiguous: %d exchanges have that history", of)
	}
	return parent, nil
}

// choose takes one of several exchanges, newest first, that fit as well: of the
// same label if the exchange has one, of the agent that the client names, rather no replay, rather one that nothing
// continues yet, rather the latest. of says how many there were to choose from.
func (k *linker) choose(found []*transcript.Exchange) (best *transcript.Exchange, of int, err error) {
	if k.run != "" {
		found = slices.DeleteFunc(found, func(e *transcript.Exchange) bool { return e.Link.Run != k.run })
	}
	var fits []*transcript.Exchange
	for _, e := range found {
		ok, err := k.mayJoin(e)
		if err != nil {
			return nil, 0, err
		}
		if ok {
			fits = append(fits, e)
		}
	}
	if found = fits; len(found) < 2 {
		return first(found), len(found), nil
	}
	bestScore := -1
	for _, e := range found {
		score, err := k.score(e)
		if err != nil {
			return nil, 0, err
		}
		if score > bestScore {
			best, bestScore = e, score
		}
	}
	return best, len(found), nil
}

func first(found []*transcript.Exchange) *transcript.Exchange {
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

func (k *linker) score(e *transcript.Exchange) (int, error) {
	takes, err := k.tx.Takes(k.ctx, e.ID)
	if err != nil {
		return 0, err
	}
	extended, err := k.tx.Extended(e.ID)
	score := 0
	if !slices.ContainsFunc(takes, func(t transcript.Take) bool { return t.Exchange == e.ID }) {
		score += 2
	}
	if !extended {
		score++
	}
	return score, err
}

// echoes bounds how many calls of a history are looked up one by one.
const echoes = 16

// byCall finds the answer whose call the request repeats, same id, name and
// arguments, beyond what parent's history covers: clients that leave out or
// rewrite texts of their history still send calls as they got them. Ids that
// count (call_0, functions.x:0) come back in strangers' conversations, so
// without a parent only an id that looks minted is evidence, and with one only
// an answer of its run. It gives parent if there is none.
func (k *linker) byCall(parent *transcript.Exchange) (*transcript.Exchange, error) {
	l := &k.d.exchange.Link
	items, where, tried := k.d.turn.Input, k.d.where, 0
	for i := len(items) - 1; i >= 0 && tried < echoes; i-- {
		if items[i].Kind != transcript.ToolCall || items[i].ServerSide || items[i].CallID == "" {
			continue
		}
		if where[i] < l.Shared {
			break
		}
		if parent == nil && !minted(items[i].CallID) {
			continue
		}
		tried++
		found, err := k.tx.Callers(k.d.key(i), candidates)
		if err != nil {
			return nil, err
		}
		if parent != nil {
			found = slices.DeleteFunc(found, func(e *transcript.Exchange) bool { return e.Link.Run != parent.Link.Run })
		}
		caller, of, err := k.choose(found)
		if err != nil {
			return nil, err
		}
		if caller == nil {
			continue
		}
		l.By, l.Shared = "call", where[i]+1
		l.Evidence = fmt.Sprintf("call %s is x%d's, though the history before it differs", items[i].CallID, caller.N)
		if of > 1 {
			l.Evidence += fmt.Sprintf("; ambiguous: %d answers hold that call", of)
		}
		return caller, nil
	}
	return parent, nil
}

// mintedRun is how many letters and digits in a row make an id look random.
const mintedRun = 8

// minted tells whether a call id looks random rather than counted: it holds a
// long run of letters and digits with both among them.
func minted(id string) bool {
	run, letters, digits := 0, false, false
	for i := range len(id) {
		switch c := id[i]; {
		case c >= '0' && c <= '9':
			digits = true
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			letters = true
		default:
			run, letters, digits = 0, false, false
			continue
		}
		if run++; run >= mintedRun && letters && digits {
			return true
		}
	}
	return false
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
	out := transcript.Chain(l.InNode, transcript.Keys(d.turn.Output))
	l.OutLen = l.InLen + len(out)
	if len(out) > 0 {
		l.OutNode = out[len(out)-1]
	} else {
		l.OutNode = l.InNode.Extend(transcript.Key{})
	}
}
