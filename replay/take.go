package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

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

// Begin notes a take of the request's origin that sends one exchange.
func Begin(ctx context.Context, s transcript.Store, r *Request, exchange string, now time.Time) (*transcript.Take, error) {
	take := &transcript.Take{Origin: r.Origin.ID, Mode: transcript.Once, CreatedAt: now, Steps: []transcript.TakeStep{{Exchange: exchange, Step: 1, Attempt: 1}}}
	return take, begin(ctx, s, take, r.Edits)
}

// End notes how it ended.
func End(ctx context.Context, s transcript.Store, take *transcript.Take, e *transcript.Exchange) error {
	take.EndedAt, take.Outcome, take.StopReason = e.EndedAt, e.Outcome, transcript.StopOnce
	return keep(ctx, s, take)
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
