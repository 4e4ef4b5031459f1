package link

import (
	"fmt"
	"iter"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// nearest bounds how many prefixes of a history are looked up one by one.
const nearest = 32

// byHistory finds the longest prefix of the input that is an exchange's history
// with its output. The nearest prefixes are all looked up. Of a history with a
// longer part that was not recorded, it assumes that the recorded part is the
// beginning, and searches for the end of that. So an unrelated request costs few
// lookups, however long it is.
func (k *linker) byHistory() (*transcript.Exchange, error) {
	tried := 0
	for end := range answerEndsBack(k.d) {
		if tried++; tried > nearest {
			break
		}
		if parent, err := k.atNode(end); err != nil || parent != nil {
			return parent, err
		}
	}
	if tried <= nearest {
		return nil, nil
	}
	ends := slices.Collect(answerEndsBack(k.d))[nearest:]
	slices.Reverse(ends)
	var longest *transcript.Exchange
	for low, high := 0, len(ends); low < high; {
		middle := (low + high) / 2
		parent, err := k.atNode(ends[middle])
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

// answerEndsBack yields the lengths of the prefixes that can end with an answer,
// the longest first: an answer does not end with what a user says or the result of
// a client's tool.
func answerEndsBack(d *Subject) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, where := range slices.Backward(d.Where) {
			it := &d.Turn.Input[i]
			if where >= 0 && it.Kind != transcript.ToolResult && !(it.Kind == transcript.MessageItem && it.Role == "user") && !yield(where+1) {
				return
			}
		}
	}
}

// lastAnswerEnd returns the longest of them, 0 if there is none.
func lastAnswerEnd(d *Subject) int {
	for end := range answerEndsBack(d) {
		return end
	}
	return 0
}

// atNode links to the exchange whose history and output are the first n items, if
// there is one.
func (k *linker) atNode(n int) (*transcript.Exchange, error) {
	found, err := k.tx.ByOutNode(k.nodes[n-1], candidates)
	if err != nil {
		return nil, err
	}
	return k.take(found, n, transcript.ByHistory, "history and output")
}

// take links to one of the exchanges found, to whose history the first n items
// belong.
func (k *linker) take(found []*transcript.Exchange, n int, by, what string) (*transcript.Exchange, error) {
	parent, of, err := k.choose(found)
	if err != nil || parent == nil {
		return nil, err
	}
	l := &k.d.Exchange.Link
	l.By, l.Shared = by, n
	l.Evidence = fmt.Sprintf("the first %d items are x%d's %s", n, parent.N, what)
	if of > 1 {
		l.Evidence += fmt.Sprintf("; ambiguous: %d exchanges have that history", of)
	}
	return parent, nil
}

// beyond bounds how many answers after the history that fits are looked up by other
// evidence.
const beyond = 4

// endsBeyond returns the last ends of answers after the history that fits, longest
// first.
func (k *linker) endsBeyond() []int {
	l := &k.d.Exchange.Link
	if l.ServerHeld() || l.By == transcript.ByRetrieve {
		return nil
	}
	var ends []int
	for end := range answerEndsBack(k.d) {
		if end <= l.Shared || len(ends) == beyond {
			break
		}
		ends = append(ends, end)
	}
	return ends
}

// byOtherChoice looks for an answer of which the client took another choice than
// the first.
func (k *linker) byOtherChoice(parent *transcript.Exchange) (*transcript.Exchange, error) {
	for _, n := range k.endsBeyond() {
		found, err := k.byChoice(n)
		if err != nil || found != nil {
			return found, err
		}
	}
	return parent, nil
}

// byKeysWithoutIDs looks for an answer whose call ids were replaced. It comes after
// repeated calls: without ids, unrelated histories are alike.
func (k *linker) byKeysWithoutIDs(parent *transcript.Exchange) (*transcript.Exchange, error) {
	ends := k.endsBeyond()
	if len(ends) == 0 {
		return parent, nil
	}
	nodes := k.d.nodesWithoutIDs()
	for _, n := range ends {
		list, err := k.tx.ByNodeWithoutIDs(nodes[n-1], candidates)
		if err != nil {
			return nil, err
		}
		found, err := k.take(k.near(list, parent), n, transcript.ByKeysWithoutIDs, "history and output but for call ids")
		if err != nil || found != nil {
			return found, err
		}
	}
	return parent, nil
}

// near keeps exchanges of the run of the history that fits.
func (k *linker) near(list []*transcript.Exchange, parent *transcript.Exchange) []*transcript.Exchange {
	if parent == nil {
		return list
	}
	return slices.DeleteFunc(list, func(e *transcript.Exchange) bool { return e.Link.Run != parent.Link.Run })
}

// byChoice finds the answer one of whose further choices ends the first n items.
func (k *linker) byChoice(n int) (*transcript.Exchange, error) {
	node := k.nodes[n-1]
	found, err := k.byHint("choice", string(node[:]))
	if err != nil {
		return nil, err
	}
	return k.take(found, n, transcript.ByChoice, "history and another of its choices")
}
