package view

import (
	"context"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// placed is an item with its body.
type placed struct {
	transcript.Item
	place transcript.Place
	new   bool // the history before does not contain it
}

// conversation is the full conversation of one exchange: server-side history, its
// input and its output.
type conversation struct {
	exchange *transcript.Exchange
	turn     *transcript.Turn
	items    []placed
	output   int    // where in items the output begins
	missing  bool   // the request continues a history that was not recorded
	lost     string // why the server-side history is incomplete: Pruned or Damaged
}

// readTurn returns the history of one exchange as far as its own bodies contain it.
func readTurn(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*conversation, error) {
	turn, err := history.Decode(ctx, r, e)
	if err != nil {
		return nil, err
	}
	h := &conversation{exchange: e, turn: turn, missing: turn.PreviousID != "" && !e.Link.ServerHeld()}
	h.addOwn()
	return h, nil
}

// readHistory returns the whole history, including server-side history.
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

// add adds items. The step's own items are new after those that it shares with its
// parent, not counting server-side history.
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
