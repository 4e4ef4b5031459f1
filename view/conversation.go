package view

import (
	"context"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// placed is an item with the body that shows it.
type placed struct {
	transcript.Item
	place transcript.Place
	new   bool // the history before did not hold it
}

// conversation is the full conversation of one exchange: its input, preceded by what
// only the provider holds, and its output.
type conversation struct {
	exchange *transcript.Exchange
	turn     *transcript.Turn
	items    []placed
	output   int    // where in items the output begins
	missing  bool   // the request leans on a history that was not recorded
	lost     string // why the history is not whole that the provider holds: Pruned or Damaged
}

// readTurn is the history of one exchange as far as its own bodies hold it.
func readTurn(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*conversation, error) {
	turn, err := history.Decode(ctx, r, e)
	if err != nil {
		return nil, err
	}
	h := &conversation{exchange: e, turn: turn, missing: turn.PreviousID != "" && !e.Link.ServerHeld()}
	h.addOwn()
	return h, nil
}

// readHistory is the whole history, with what only the provider holds.
func readHistory(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*conversation, error) {
	turn, err := history.Decode(ctx, r, e)
	if err != nil {
		return nil, err
	}
	full, err := history.FullHistory(ctx, r, e, func(of *transcript.Exchange) (*transcript.Turn, error) {
		if of.ID == e.ID {
			return turn, nil
		}
		return history.Decode(ctx, r, of)
	})
	if err != nil {
		return nil, err
	}
	h := &conversation{exchange: e, turn: turn, missing: full.Gap == history.NotRecorded}
	switch full.Gap {
	case history.Pruned:
		h.lost = Pruned
	case history.Unreadable:
		h.lost = Damaged
	}
	var inherited, own []history.HistoryItem
	for _, it := range full.Items {
		if it.Exchange.ID == e.ID {
			own = append(own, it)
		} else {
			inherited = append(inherited, it)
		}
	}
	h.add(inherited, false)
	h.add(own, true)
	h.addOutput()
	return h, nil
}

func (h *conversation) addOwn() {
	own := make([]history.HistoryItem, len(h.turn.Input))
	for i := range own {
		own[i] = history.HistoryItem{Item: &h.turn.Input[i], Exchange: h.exchange, Body: "request"}
	}
	h.add(own, true)
	h.addOutput()
}

// add adds items. What the step itself sends is new behind what its parent
// shares with it; what the provider holds of that is not among its items.
func (h *conversation) add(items []history.HistoryItem, own bool) {
	shared := h.exchange.Link.Shared
	if h.exchange.Link.ServerHeld() {
		shared = 0
	}
	inChain := 0
	for i := range items {
		h.items = append(h.items, placed{*items[i].Item, items[i].Place(), own && inChain >= shared})
		if items[i].InChain() {
			inChain++
		}
	}
}

func (h *conversation) addOutput() {
	h.output = len(h.items)
	for i := range h.turn.Output {
		it := &h.turn.Output[i]
		h.items = append(h.items, placed{*it, transcript.Place{Exchange: h.exchange.ID, Body: "response", At: it.At}, true})
	}
}

func (h *conversation) plain() []transcript.Item {
	items := make([]transcript.Item, len(h.items))
	for i := range h.items {
		items[i] = h.items[i].Item
	}
	return items
}
