package lint

import (
	"fmt"

	"github.com/retake-debugger/retake/transcript"
)

// result joins a result to its call, as transcript.PairItems does.
func (h *history) result(w *walker, it *transcript.Item, at spot) {
	h.inTurn = false
	if h.round != nil {
		h.round.user = true
	}
	w.content(it, at)
	c := h.find(w, it, at)
	if c == nil {
		return
	}
	c.answered = true
	h.order(w, c, at)
	if c.missing != nil || c.round.closed && !h.api.Rules.ResultsAnywhere {
		h.late(w, c, at)
	}
	h.learn(w, c, it, at)
}

// find returns the open call that a result answers, nil if there is none.
func (h *history) find(w *walker, it *transcript.Item, at spot) *call {
	if it.CallID == "" {
		if rules := &h.api.Rules; rules.ByName == nil || !rules.ByName(it.Raw) {
			w.find("result_without_call_id", Error, at, "", "the result names no call: set %s", rules.ResultID)
		}
		return h.byPlace(it.Name)
	}
	same := h.byID[it.CallID]
	if n := len(same); n > 0 {
		first := n - 1
		for first > 0 && same[first-1].round == same[n-1].round {
			first--
		}
		c := same[first]
		h.byID[it.CallID] = append(same[:first:first], same[first+1:]...)
		h.done[it.CallID] = c
		return c
	}
	switch {
	case h.done[it.CallID] != nil:
		severity := Error
		if h.api.Rules.ResultsAnywhere {
			severity = Warning
		}
		w.find("duplicate_tool_result", severity, at, it.CallID, "this call has its result already: send one result for each call")
	case h.missing: // the provider may hold its call
	default:
		f := w.find("orphan_tool_result", Error, at, it.CallID, "no call in the history has this id: send the call back too, or leave the result out")
		if h.orphans == nil {
			h.orphans = map[string]*Finding{}
		}
		h.orphans[it.CallID] = f
	}
	return nil
}

// byPlace returns the first open call of the latest round, by the name of the result
// if it has one.
func (h *history) byPlace(name string) *call {
	if h.round == nil {
		return nil
	}
	for _, c := range h.round.calls {
		if !c.answered && (name == "" || c.name == name) {
			h.forget(c)
			return c
		}
	}
	return nil
}

func (h *history) forget(c *call) {
	same := h.byID[c.id]
	for i := range same {
		if same[i] == c {
			h.byID[c.id] = append(same[:i:i], same[i+1:]...)
			return
		}
	}
}

// order judges the order of the results of a batch.
func (h *history) order(w *walker, c *call, at spot) {
	r := c.round
	if c.index < r.latest && !r.unsorted {
		r.unsorted = true
		w.find("results_out_of_order", Info, at, c.id, "the results of this batch are not in the order of its calls: join them by id, never by position")
	}
	r.latest = max(r.latest, c.index)
	if !h.api.Rules.ResultsTogether || r.closed {
		return
	}
	message := messageOf(h.api, at)
	if r.results != "" && r.results != message && !r.split {
		r.split = true
		w.find("parallel_results_split", Warning, at, c.id, "the results of one batch are in several messages: put them all into one user message")
	}
	r.results = message
}

// late reports a result that does not directly follow its call.
func (h *history) late(w *walker, c *call, at spot) {
	if c.missing != nil {
		c.missing.Code = "missing_adjacent_tool_result"
		c.missing.Message = fmt.Sprintf("%s has its result only at %s: put it directly after the calls", callName(c), at.at)
	}
	w.find("tool_result_without_preceding_tool_use", Error, at, c.id, "its call is at %s, not in the message before: put the result directly after it", c.at.at)
}
