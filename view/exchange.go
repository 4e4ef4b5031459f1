package view

import (
	"context"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// NewExchange shows a stored exchange in full. Its pairs are those with at least
// one half in its own bodies.
func NewExchange(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*Exchange, error) {
	v, turn, err := newExchange(ctx, r, e)
	if err != nil {
		return nil, err
	}
	if v.Examples, err = examplesIn(ctx, r, e, turn.Input); err != nil {
		return nil, err
	}
	v.Lint, err = findings(ctx, r, e, turn)
	return v, err
}

// newExchange is NewExchange without findings.
func newExchange(ctx context.Context, r transcript.Reader, e *transcript.Exchange) (*Exchange, *transcript.Turn, error) {
	h, err := readTurn(ctx, r, e)
	if err != nil {
		return nil, nil, err
	}
	j, err := join(ctx, r, h)
	if err != nil {
		return nil, nil, err
	}
	return j.exchange(e), h.turn, nil
}

func (j *joined) exchange(e *transcript.Exchange) *Exchange {
	v := &Exchange{
		Row: NewRow(e), Request: newMessage(e.Request), Response: newMessage(e.Response),
		UsageRaw: j.turn.UsageRaw, Input: j.turn.Input, Output: j.turn.Output, Text: j.turn.Text,
		Pairs: j.pairs, Lint: []lint.Finding{},
	}
	if v.Input == nil {
		v.Input = []transcript.Item{}
	}
	if v.Output == nil {
		v.Output = []transcript.Item{}
	}
	if v.Pairs == nil {
		v.Pairs = []transcript.Pair{}
	}
	return v
}

// AddChunks adds the arrival times of the response's chunks.
func (v *Exchange) AddChunks(e *transcript.Exchange) {
	for _, c := range e.Response.Chunks {
		v.Timing.Chunks = append(v.Timing.Chunks, [2]float64{float64(c.Offset), float64(c.At.Microseconds()) / 1000})
	}
}
