package lint

import (
	"fmt"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/transcript"
)

// thought is a reasoning item that another item must follow.
type thought struct {
	at     spot
	itemID string
}

// reasoning judges a reasoning item.
func (h *history) reasoning(w *walker, it *transcript.Item, at spot) {
	rules := &h.api.Rules
	if at.body != "request" {
		return
	}
	if rules.ReasoningByID && h.thought == nil {
		h.thought = &thought{at, it.ItemID}
	}
	if rules.Signature != nil {
		if signature, needed := rules.Signature(it.Raw); needed && signature == "" {
			w.find("thinking_signature_lost", Error, at, "", "the thinking block has no signature: send it back as it came, or leave the whole block out")
		}
	}
}

// follow reads the item after a reasoning item.
func (h *history) follow(w *walker, it *transcript.Item) {
	if h.thought != nil {
		h.noFollower(w, it)
	}
}

// noFollower reports a reasoning item that no item of the model follows.
func (h *history) noFollower(w *walker, next *transcript.Item) {
	t := h.thought
	h.thought = nil
	if t == nil || next != nil && followsReasoning(next) {
		return
	}
	want := "the item that followed it"
	if id := w.follower(t.itemID); id != "" {
		want = id
	}
	w.find("reasoning_without_following_item", Error, t.at, "", "the reasoning item %s came back without %s: send both, or neither", t.itemID, want)
}

// followsReasoning reports whether an item may follow reasoning: what the model says,
// calls, or a reference to one of these.
func followsReasoning(it *transcript.Item) bool {
	switch it.Kind {
	case transcript.MessageItem:
		return it.Role == "assistant"
	case transcript.ToolResult:
		return it.ServerSide
	case transcript.System:
		return false
	}
	return true
}

// follower returns the id of the item that follows a reasoning item in the recorded
// answer, "" if it is unknown.
func (w *walker) follower(itemID string) string {
	l := w.judge.lines[w.step.Link.Parent]
	if l == nil || itemID == "" {
		return ""
	}
	for i := range l.output {
		if l.output[i].ItemID != itemID {
			continue
		}
		for _, it := range l.output[i+1:] {
			if it.Kind != transcript.Reasoning {
				return it.ItemID
			}
		}
	}
	return ""
}

// returned compares the answer of the step before with what was sent back of it.
func (w *walker) returned(before *line, isNew bool) {
	e := returned{walker: w, before: before, byCall: map[string]*transcript.Item{}, byItem: map[string]*transcript.Item{}}
	e.items = conversation(w.turn.Input)
	if !isNew {
		e.items = e.items[knownItems(e.items, before.step.Link.InLen):]
	}
	for _, it := range e.items {
		if it.Kind == transcript.ToolCall && it.CallID != "" {
			e.byCall[it.CallID] = it
		}
		if it.ItemID != "" {
			e.byItem[it.ItemID] = it
		}
	}
	e.batch()
	if w.api.Rules.ReasoningByID {
		e.reasoningItems()
	}
	if w.api.Rules.Signature != nil {
		e.thinking()
	}
}

// returned is what was sent back of an answer.
type returned struct {
	*walker
	before *line
	items  []*transcript.Item // of this request, after the input of the step before
	byCall map[string]*transcript.Item
	byItem map[string]*transcript.Item
}

// batch judges whether the calls of the answer were sent back as one batch.
func (e *returned) batch() {
	var back []*transcript.Item
	missing := ""
	calls := 0
	for i := range e.before.output {
		it := &e.before.output[i]
		if it.Kind != transcript.ToolCall || it.ServerSide || it.Choice > 0 || it.CallID == "" {
			continue
		}
		calls++
		if now := e.byCall[it.CallID]; now != nil {
			back = append(back, now)
		} else if missing == "" {
			missing = it.CallID
		}
	}
	if len(back) == 0 {
		return
	}
	if len(back) < calls {
		e.find("incomplete_parallel_batch", Warning, e.in(back[0].At), missing, "only %d of the %d calls of the answer came back: send all of them, each with a result", len(back), calls)
	}
	if e.api.Layout == dialect.Items {
		return
	}
	for _, it := range back[1:] {
		if messageOf(e.api, e.in(it.At)) != messageOf(e.api, e.in(back[0].At)) {
			e.find("parallel_batch_split", Warning, e.in(it.At), it.CallID, "the answer made its %d calls at once, and they came back in several messages: send them back in one", calls)
			return
		}
	}
}

// reasoningItems reports an item that was sent back with its id but without its
// reasoning.
func (e *returned) reasoningItems() {
	required := ""
	for i := range e.before.output {
		it := &e.before.output[i]
		if it.Kind == transcript.Reasoning {
			if required == "" {
				required = it.ItemID
			}
			continue
		}
		now := e.byItem[it.ItemID]
		if required != "" && it.ItemID != "" && now != nil && now.Kind != transcript.Other && e.byItem[required] == nil {
			e.find("reasoning_item_missing", Error, e.in(now.At), now.CallID, "%s came back without its reasoning item %s (in the answer of step %d): send it too, or leave the id %s out", it.ItemID, required, e.before.step.Link.Step, it.ItemID)
		}
		required = ""
	}
}

// thinking judges which signed reasoning was sent back.
func (e *returned) thinking() {
	blocks, calls := 0, false
	for i := range e.before.output {
		it := &e.before.output[i]
		if it.Kind == transcript.ToolCall && !it.ServerSide && e.byCall[it.CallID] != nil {
			calls = true
		}
		if it.Kind != transcript.Reasoning {
			continue
		}
		blocks++
		e.sameThinking(it)
	}
	if blocks == 0 || !calls || e.reasons() > 0 {
		return
	}
	severity := Warning
	switch e.need() {
	case dialect.Optional:
		return
	case dialect.Required:
		severity = Error
	}
	at := e.in("")
	if len(e.items) > 0 {
		at = e.in(e.items[0].At)
	}
	e.find("thinking_dropped", severity, at, "", "the answer came back without its thinking: send the thinking blocks back before its calls")
}

func (e *returned) need() dialect.Need {
	if keep := e.api.Rules.KeepReasoning; keep != nil {
		return keep(e.turn.Parameters)
	}
	return dialect.Optional
}

func (e *returned) reasons() int {
	n := 0
	for _, it := range e.items {
		if it.Kind == transcript.Reasoning {
			n++
		}
	}
	return n
}

// sameThinking reports a block with the text or the signature of a recorded one, but
// not both.
func (e *returned) sameThinking(was *transcript.Item) {
	signature, _ := e.api.Rules.Signature(was.Raw)
	if signature == "" {
		return
	}
	for _, it := range e.items {
		if it.Kind != transcript.Reasoning {
			continue
		}
		now, _ := e.api.Rules.Signature(it.Raw)
		sameText, sameSignature := it.Text == was.Text, now == signature
		if sameText && sameSignature {
			return
		}
		if now == "" || !(sameSignature || sameText && it.Text != "") {
			continue
		}
		what := "signature"
		if sameSignature {
			what = "text"
		}
		e.find("thinking_signature_changed", Error, e.in(it.At), "", "%s", fmt.Sprintf("the %s of the thinking block is not what the model sent: send it back byte for byte", what))
		return
	}
}
