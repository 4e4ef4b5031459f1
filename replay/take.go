package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/retake-debugger/retake/transcript"
)

// begin notes a take before anything is sent, so that what it sends is known for
// a replay whenever it is taken in.
func begin(ctx context.Context, s transcript.Store, take *transcript.Take, edits []transcript.Edit) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make take id: %w", err)
	}
	text, err := json.Marshal(append([]transcript.Edit{}, edits...))
	if err != nil {
		return fmt.Errorf("encode edits: %w", err)
	}
	take.ID, take.Edits, take.Outcome = id.String(), string(text), transcript.InProgress
	return keep(ctx, s, take)
}

// keep stores what has come to a take.
func keep(ctx context.Context, s transcript.Store, take *transcript.Take) error {
	if err := s.Update(ctx, func(tx transcript.Tx) error { return tx.PutTake(take) }); err != nil {
		return fmt.Errorf("store take: %w", err)
	}
	return nil
}

// result returns what came of the take.
func (l *loop) result() (*Take, error) {
	t := &Take{Ref: fmt.Sprintf("t%d", l.take.N), N: l.take.N, Origin: l.take.Origin, Edits: []transcript.Edit{}, Mode: l.take.Mode, Outcome: l.take.Outcome, StopReason: l.take.StopReason,
		Steps: []string{}, Results: append([]transcript.TakeResult{}, l.base...), OpenCalls: []OpenCall{}, Usage: l.spent.total(), Error: l.failure, Turns: l.turns, Stored: l.take}
	if err := json.Unmarshal([]byte(l.take.Edits), &t.Edits); err != nil {
		return nil, fmt.Errorf("read edits: %w", err)
	}
	for i, s := range l.take.Steps {
		if s.Step > 0 && !slices.ContainsFunc(l.take.Steps[i+1:], func(later transcript.TakeStep) bool { return later.Step == s.Step }) {
			t.Steps = append(t.Steps, s.Exchange)
		}
	}
	for i := range t.Results {
		if t.Results[i].Exchange == "" && len(l.take.Steps) > 0 {
			t.Results[i].Exchange = l.take.Steps[0].Exchange
		}
	}
	t.Results = append(t.Results, l.take.Results[min(l.edited, len(l.take.Results)):]...)
	for _, c := range l.open {
		t.OpenCalls = append(t.OpenCalls, OpenCall{c.CallID, c.Name, c.ArgumentsRaw})
	}
	if len(l.turns) > 0 {
		t.FinalText = l.turns[len(l.turns)-1].Text
	}
	t.CostUSD, t.LowerBound = l.spent.cost()
	return t, nil
}

// SameAnswer reports whether two turns answer the same: equal texts and calls of
// the same tools with the same arguments. Call ids and reasoning do not count.
func SameAnswer(a, b *transcript.Turn) bool {
	x, y := answer(a), answer(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

func answer(t *transcript.Turn) []transcript.Key {
	var keys []transcript.Key
	for i := range t.Output {
		it := t.Output[i]
		if it.Kind == transcript.Reasoning {
			continue
		}
		it.CallID = ""
		keys = append(keys, transcript.KeyOf(&it))
	}
	return keys
}
