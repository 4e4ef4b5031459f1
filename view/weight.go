package view

import (
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// Weight estimates the bytes to read for a step: its answer, and what its request
// adds to the one before.
func (r *Run) Weight(s *Step) int64 { return r.weight(s.exchange) }

func (r *Run) weight(e *transcript.Exchange) int64 {
	added := e.Request.Bytes
	if parent := r.exchanges[e.Link.Parent]; parent != nil && e.Link.Shared > 0 && history.MayBeInSegments(e) {
		added = max(0, added-parent.Request.Bytes)
	}
	return added + e.Response.Bytes
}
