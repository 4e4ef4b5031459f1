package replay

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/retake-debugger/retake/transcript"
)

// Keep notes that e is a take of the request's origin.
func Keep(ctx context.Context, s transcript.Store, r *Request, e *transcript.Exchange) (*transcript.Take, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make take id: %w", err)
	}
	edits, err := json.Marshal(append([]transcript.Edit{}, r.Edits...))
	if err != nil {
		return nil, fmt.Errorf("encode edits: %w", err)
	}
	take := &transcript.Take{ID: id.String(), Origin: r.Origin.ID, Exchange: e.ID, Edits: string(edits), CreatedAt: e.StartedAt}
	err = s.Update(ctx, func(tx transcript.Tx) error { return tx.PutTake(take) })
	if err != nil {
		return nil, fmt.Errorf("store take: %w", err)
	}
	return take, nil
}

// SameAnswer tells whether two turns answer the same: equal texts and calls of
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
