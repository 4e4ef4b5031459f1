package link

import (
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// byRetrieval links a poll, a resumed stream or a cancellation to the request that
// began the answer. It is one more attempt at the same step.
func (k *linker) byRetrieval() (*transcript.Exchange, error) {
	id := k.d.Turn.RetrievedID
	if id == "" {
		return nil, nil
	}
	e, err := k.tx.ByResponseID(id)
	if err == nil && e.Link.By == transcript.ByRetrieve {
		e, err = k.tx.Exchange(k.ctx, e.Link.Parent)
	}
	if errors.Is(err, transcript.ErrNotFound) {
		k.warn("the request that began %s was not recorded", id)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if k.d.Exchange.Dialect == transcript.Unknown { // about the answer, but not the answer
		k.about = e.Link.Run
		return nil, nil
	}
	l := &k.d.Exchange.Link
	l.By, l.Evidence = transcript.ByRetrieve, fmt.Sprintf("the answer %s that x%d began", id, e.N)
	l.Settings = e.Link.Settings
	Place(k.d, e.Link.InNode, e.Link.InLen, nil)
	return e, nil
}

// byResponseID links to the answer that the request names.
func (k *linker) byResponseID() (*transcript.Exchange, error) {
	id := k.d.Turn.PreviousID
	if id == "" {
		return nil, nil
	}
	parent, err := k.tx.ByResponseID(id)
	if errors.Is(err, transcript.ErrNotFound) || err == nil && parent.ID == k.d.Exchange.ID {
		k.warn("the history before %s was not recorded", id)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	k.goesOn(parent, 0, transcript.ByResponse, id)
	return parent, nil
}

// goesOn places an exchange after an answer that the provider holds; shared items of
// the input belong to that answer.
func (k *linker) goesOn(parent *transcript.Exchange, shared int, by, evidence string) {
	l := &k.d.Exchange.Link
	l.By, l.Evidence, l.Shared = by, evidence, shared
	Place(k.d, parent.Link.OutNode, parent.Link.OutLen, transcript.Chain(parent.Link.OutNode, k.d.Keys[shared:]))
}

// byConversation links to the last answer of the conversation that the request
// names.
func (k *linker) byConversation() (*transcript.Exchange, error) {
	id := k.d.Turn.Conversation
	if id == "" {
		return nil, nil
	}
	places, err := k.tx.ByHint(HintOf("conversation", id), candidates)
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		e, err := k.tx.Exchange(k.ctx, p.Exchange)
		if err != nil {
			return nil, err
		}
		if !k.before(e) {
			continue
		}
		k.about = e.Link.Run
		if e.Dialect == transcript.Unknown || k.d.Exchange.Dialect == transcript.Unknown {
			continue
		}
		if e.Outcome != transcript.OK { // what fails is not added to it
			continue
		}
		k.goesOn(e, 0, transcript.ByConversation, id)
		return e, nil
	}
	if k.about == "" && k.d.Exchange.Dialect != transcript.Unknown {
		k.warn("what conversation %s held before was not recorded", id)
	}
	return nil, nil
}

// mostReferences bounds how many references of one request are looked up.
const mostReferences = 8

// byReference links to the answer whose item the request names by its id. Items of
// that answer that the request contains in full follow it.
func (k *linker) byReference() (*transcript.Exchange, error) {
	items, tried := k.d.Turn.Input, 0
	for i := len(items) - 1; i >= 0 && tried < mostReferences; i-- {
		if items[i].Name != transcript.Reference || items[i].Kind != transcript.Other {
			continue
		}
		tried++
		parent, err := k.holder(items[i].ItemID)
		if err != nil {
			return nil, err
		}
		if parent == nil {
			continue
		}
		k.goesOn(parent, k.afterAnswer(i), transcript.ByReference, items[i].ItemID)
		return parent, nil
	}
	if tried > 0 {
		k.warn("items that the request refers to were not recorded")
	}
	return nil, nil
}

// holder returns the exchange whose answer contains the item with that id, nil if
// there is none.
func (k *linker) holder(id string) (*transcript.Exchange, error) {
	if id == "" {
		return nil, nil
	}
	found, err := k.byHint("item", id)
	if err != nil {
		return nil, err
	}
	best, _, err := k.choose(found)
	return best, err
}

// byHint returns the exchanges that left that hint, latest first.
func (k *linker) byHint(kind, value string) ([]*transcript.Exchange, error) {
	places, err := k.tx.ByHint(HintOf(kind, value), candidates)
	if err != nil {
		return nil, err
	}
	var found []*transcript.Exchange
	for _, p := range places {
		e, err := k.tx.Exchange(k.ctx, p.Exchange)
		if err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	return found, nil
}

// afterAnswer is the place in the chain of the first item after i that an answer
// cannot contain.
func (k *linker) afterAnswer(i int) int {
	items := k.d.Turn.Input
	for i++; i < len(items); i++ {
		if it := &items[i]; k.d.Where[i] >= 0 && (it.Kind == transcript.ToolResult || it.Kind == transcript.MessageItem && it.Role != "assistant") {
			return k.d.Where[i]
		}
	}
	return len(k.d.Keys)
}

func (k *linker) warn(format string, args ...any) {
	k.d.Exchange.Warnings = append(k.d.Exchange.Warnings, fmt.Sprintf(format, args...))
}
