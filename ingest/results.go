package ingest

import (
	"context"

	"github.com/retake-debugger/retake/transcript"
)

// putResults joins the results that are new in this request to the recorded
// answers that asked for them.
func putResults(ctx context.Context, tx transcript.Tx, d *decoded, parent *transcript.Exchange) error {
	items := d.turn.Input
	where := chainIndex(items)
	held := d.exchange.Link.InLen - inChain(where) // items that only the provider holds
	owners := &owners{ctx: ctx, tx: tx, last: parent}
	calls := map[int]int{}
	for _, m := range transcript.PairItems(items) {
		if m.Result >= 0 && m.Call >= 0 {
			calls[m.Result] = m.Call
		}
	}
	for i := range items {
		if items[i].Kind != transcript.ToolResult || items[i].ServerSide || where[i] < d.exchange.Link.Shared {
			continue
		}
		row, err := owners.find(items, where, held, i, calls)
		if err != nil {
			return err
		}
		if row == nil {
			continue
		}
		result := transcript.ResultRow{Exchange: d.exchange.ID, At: items[i].At, By: "id", IsError: items[i].IsError}
		if items[i].CallID == "" {
			result.By = "position"
		}
		if asked := owners.ended[row.Exchange]; !asked.IsZero() {
			result.LatencyMS = max(0, float64(d.exchange.StartedAt.Sub(asked).Microseconds())/1000)
		}
		if err := tx.PutResult(row.Exchange, row.At, result); err != nil {
			return err
		}
	}
	return nil
}

// chainIndex numbers the items that are in the chain; -1 for the others.
func chainIndex(items []transcript.Item) []int {
	where := make([]int, len(items))
	n := 0
	for i := range items {
		where[i] = -1
		if items[i].InChain() {
			where[i] = n
			n++
		}
	}
	return where
}

func inChain(where []int) int {
	n := 0
	for _, w := range where {
		n = max(n, w+1)
	}
	return n
}

// newResults counts the tool results that the history before did not hold.
func newResults(d *decoded) int {
	n := 0
	for i, where := range chainIndex(d.turn.Input) {
		if it := &d.turn.Input[i]; it.Kind == transcript.ToolResult && !it.ServerSide && where >= d.exchange.Link.Shared {
			n++
		}
	}
	return n
}
