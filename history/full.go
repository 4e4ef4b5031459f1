package history

import (
	"context"
	"errors"
	"github.com/retake-debugger/retake/transcript"
)

// Gap says why a history is not whole.
type Gap string

// The gaps of histories.
const (
	Whole       Gap = ""
	NotRecorded Gap = "not recorded" // the provider holds what came before, and it was never seen
	Pruned      Gap = "removed"      // it was recorded and removed since
	Unreadable  Gap = "unreadable"   // it is stored and cannot be read
)

// HistoryItem is an item of a history with the exchange whose body shows it.
type HistoryItem struct {
	*transcript.Item
	Exchange *transcript.Exchange
	Body     string // "request" or "response"
}

// Place is where the item is.
func (h *HistoryItem) Place() transcript.Place {
	return transcript.Place{Exchange: h.Exchange.ID, Body: h.Body, At: h.At}
}

// History is everything that a model saw at one step, whoever holds it.
type History struct {
	Items []HistoryItem // oldest first; without the step's own output
	Gap   Gap           // at its beginning
}

// deepest bounds how many answers are followed that the provider holds.
const deepest = 10_000

// FullHistory rebuilds the input of a step: what the request holds, preceded by
// what it leaves out because the provider holds it (Link.Held). A poll, or a
// stream that was resumed, has the input of the request that began the answer.
// Settings are not inherited: each request brings its own. decode reads the turn
// of an exchange.
func FullHistory(ctx context.Context, r transcript.Reader, e *transcript.Exchange, decode func(*transcript.Exchange) (*transcript.Turn, error)) (*History, error) {
	h := &History{}
	var steps []historyStep
	for own := true; ; own = false {
		turn, err := decode(e)
		if gap := gapOf(err); gap != Whole && !own {
			h.Gap = gap
			break
		}
		if err != nil {
			return nil, err
		}
		steps = append(steps, historyStep{e, turn, own})
		before, gap, err := stepBefore(ctx, r, e, turn)
		if err != nil {
			return nil, err
		}
		if h.Gap = gap; before == nil || len(steps) == deepest {
			break
		}
		e = before
	}
	for i := len(steps) - 1; i >= 0; i-- {
		h.add(&steps[i], i > 0 && steps[i-1].exchange.Link.By != transcript.ByRetrieve)
	}
	return h, nil
}

type historyStep struct {
	exchange *transcript.Exchange
	turn     *transcript.Turn
	own      bool // it is the step itself
}

// stepBefore returns the exchange that holds what this one leaves out, nil if it
// leaves out nothing or that is not there.
func stepBefore(ctx context.Context, r transcript.Reader, e *transcript.Exchange, t *transcript.Turn) (*transcript.Exchange, Gap, error) {
	if !e.Link.ServerHeld() && e.Link.By != transcript.ByRetrieve {
		if t.PreviousID != "" || t.RetrievedID != "" || refers(t) {
			return nil, NotRecorded, nil
		}
		return nil, Whole, nil
	}
	before, err := r.Exchange(ctx, e.Link.Parent)
	if gap := gapOf(err); gap != Whole {
		return nil, gap, nil
	}
	return before, Whole, err
}

// refers reports whether a request names items that it does not hold.
func refers(t *transcript.Turn) bool {
	for i := range t.Input {
		if t.Input[i].Kind == transcript.Other && t.Input[i].Name == transcript.Reference {
			return true
		}
	}
	return false
}

func gapOf(err error) Gap {
	switch {
	case errors.Is(err, transcript.ErrDamaged):
		return Unreadable
	case errors.Is(err, transcript.ErrNotFound):
		return Pruned
	}
	return Whole
}

// add adds what a step introduced. Where items of the request belong to the answer
// that it refers to, they are there already.
func (h *History) add(s *historyStep, output bool) {
	where := 0
	for i := range s.turn.Input {
		it := &s.turn.Input[i]
		settings := it.Kind == transcript.System || it.Kind == transcript.ToolDefinition
		known := !settings && s.exchange.Link.ServerHeld() && it.InChain() && where < s.exchange.Link.Shared
		if it.InChain() {
			where++
		}
		if known || settings && !s.own || it.Name == transcript.Reference && it.Kind == transcript.Other {
			continue
		}
		h.Items = append(h.Items, HistoryItem{it, s.exchange, "request"})
	}
	for i := range s.turn.Output {
		if output {
			h.Items = append(h.Items, HistoryItem{&s.turn.Output[i], s.exchange, "response"})
		}
	}
}
