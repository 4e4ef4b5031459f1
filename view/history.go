package view

import (
	"context"

	"github.com/retake-debugger/retake/transcript"
)

// placed is an item with the body that shows it.
type placed struct {
	transcript.Item
	place transcript.Place
	new   bool // the history before did not hold it
}

// history is the full conversation of one exchange: its input, preceded by what
// only the provider holds, and its output.
type history struct {
	exchange *transcript.Exchange
	turn     *transcript.Turn
	items    []placed
	output   int    // where in items the output begins
	missing  bool   // the request leans on a history that was not recorded
	lost     string // why the history is not whole that the provider holds: Pruned or Damaged
}

// heldDeepest bounds how many answers held by the provider are followed.
const heldDeepest = 10_000

// readTurn is the history of one exchange as far as its own bodies hold it.
func readTurn(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*history, error) {
	turn, err := Decode(ctx, r, e)
	if err != nil {
		return nil, err
	}
	h := &history{exchange: e, turn: turn, missing: turn.PreviousID != "" && e.Link.By != "previous_response_id"}
	h.addOwn()
	return h, nil
}

// readHistory is the whole history, with what only the provider holds.
func readHistory(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*history, error) {
	h, err := readTurn(ctx, r, e)
	if err != nil {
		return nil, err
	}
	held, lost, err := heldBefore(ctx, r, e)
	h.lost = lost
	if err != nil || len(held) == 0 {
		return h, err
	}
	h.items = nil
	for i := len(held) - 1; i >= 0; i-- {
		h.add(held[i].exchange, held[i].turn.Input, "request", false)
		h.add(held[i].exchange, held[i].turn.Output, "response", false)
	}
	h.addOwn()
	return h, nil
}

func (h *history) addOwn() {
	h.add(h.exchange, h.turn.Input, "request", true)
	h.output = len(h.items)
	h.add(h.exchange, h.turn.Output, "response", true)
}

type step struct {
	exchange *transcript.Exchange
	turn     *transcript.Turn
}

// heldBefore gives the steps whose items the request of e leaves out because
// the provider holds them, nearest first. why says that there were more.
func heldBefore(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (steps []step, why string, err error) {
	for e.Link.By == "previous_response_id" && len(steps) < heldDeepest {
		parent, err := r.Exchange(ctx, e.Link.Parent)
		var turn *transcript.Turn
		if err == nil {
			turn, err = Decode(ctx, r, parent)
		}
		if why := lost(err); why != "" {
			return steps, why, nil
		}
		if err != nil {
			return nil, "", err
		}
		steps = append(steps, step{parent, turn})
		e = parent
	}
	return steps, "", nil
}

func (h *history) add(e *transcript.Exchange, items []transcript.Item, body string, own bool) {
	inChain := 0
	for i := range items {
		if k := items[i].Kind; !own && (k == transcript.System || k == transcript.ToolDefinition) {
			continue // neither is inherited: each request brings its own
		}
		place := transcript.Place{Exchange: e.ID, Body: body, At: items[i].At}
		h.items = append(h.items, placed{items[i], place, own && (body == "response" || inChain >= h.exchange.Link.Shared)})
		if items[i].InChain() {
			inChain++
		}
	}
}

func (h *history) plain() []transcript.Item {
	items := make([]transcript.Item, len(h.items))
	for i := range h.items {
		items[i] = h.items[i].Item
	}
	return items
}
