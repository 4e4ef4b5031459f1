package view

import (
	"context"

	"github.com/retake-debugger/retake/transcript"
)

// pair joins the calls of the run's answers with the results in its requests, as
// they were joined when they were recorded.
func (r *Run) pair(ctx context.Context, reader transcript.Reader, list []*transcript.Exchange, rows []transcript.CallRow) error {
	brought := map[string]int{} // exchange → results that answer a call
	again := triedAgain(list, r.takes)
	for i := range rows {
		row := &rows[i]
		if again[row.Exchange] && len(row.Results) == 0 {
			continue
		}
		r.calls[transcript.Place{Exchange: row.Exchange, Body: "response", At: row.At}] = row
		r.tools[row.Exchange] = append(r.tools[row.Exchange], row.Name)
		r.addPairs(row)
		for _, res := range row.Results {
			brought[res.Exchange]++
		}
	}
	for _, e := range list {
		r.continued[e.Link.Parent] = true
		if e.Results > brought[e.ID] && r.takes[e.ID] == nil {
			if err := r.orphans(ctx, reader, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// addPairs adds the pair of a call, and one for each further result in the same
// request. Results in replays and branches are other answers to the call, not
// duplicates.
func (r *Run) addPairs(row *transcript.CallRow) {
	call := &transcript.Place{Exchange: row.Exchange, Body: "response", At: row.At}
	p := transcript.Pair{CallID: row.CallID, Name: row.Name, State: transcript.Unanswered, Call: call}
	first := r.firstResult(row)
	if first == nil {
		r.Pairs = append(r.Pairs, p)
		r.byExchange[row.Exchange] = append(r.byExchange[row.Exchange], p)
		return
	}
	for i := range row.Results {
		res := &row.Results[i]
		if res.Exchange != first.Exchange {
			continue
		}
		p.State, p.By, p.LatencyMS, p.IsError = transcript.Paired, res.By, res.LatencyMS, res.IsError
		if res != first {
			p.State, p.LatencyMS = transcript.Duplicate, nil
		}
		p.Result = &transcript.Place{Exchange: res.Exchange, Body: "request", At: res.At}
		r.Pairs = append(r.Pairs, p)
		if res == first {
			r.byExchange[row.Exchange] = append(r.byExchange[row.Exchange], p)
		}
	}
}

// firstResult returns the result that counts: the first one, and that of a replay
// only if there is no other.
func (r *Run) firstResult(row *transcript.CallRow) *transcript.ResultRow {
	for i := range row.Results {
		if r.takes[row.Results[i].Exchange] == nil || r.takes[row.Exchange] != nil {
			return &row.Results[i]
		}
	}
	if len(row.Results) > 0 {
		return &row.Results[0]
	}
	return nil
}

// orphans adds the results in a request that answer no call.
func (r *Run) orphans(ctx context.Context, reader transcript.Reader, e *transcript.Exchange) error {
	x, _, err := newExchange(ctx, reader, e)
	if lost(err) != "" {
		return nil
	}
	if err != nil {
		return err
	}
	for _, p := range x.Pairs {
		if p.State == transcript.OrphanResult && p.Result != nil && r.isNew(e, x.Input, p.Result.At) {
			r.Pairs = append(r.Pairs, p)
		}
	}
	return nil
}

// isNew reports whether the item at that place is missing from the history before.
func (r *Run) isNew(e *transcript.Exchange, input []transcript.Item, at string) bool {
	inChain := 0
	for i := range input {
		if input[i].At == at {
			return inChain >= e.Link.Shared
		}
		if input[i].InChain() {
			inChain++
		}
	}
	return false
}

// IsWaiting reports whether a call may still get its result: nothing continues the
// answer that made it.
func (r *Run) IsWaiting(p *transcript.Pair) bool {
	return p.State == transcript.Unanswered && p.Call != nil && !r.continued[p.Call.Exchange]
}

// StatesOf returns the states of the calls of an answer, up to a limit: "ok",
// "error", "unanswered" or "waiting".
func (r *Run) StatesOf(exchange string, most int) []string {
	var list []string
	for _, p := range r.byExchange[exchange] {
		switch {
		case len(list) == most:
			return list
		case r.IsWaiting(&p):
			list = append(list, "waiting")
		case p.State == transcript.Unanswered:
			list = append(list, "unanswered")
		case p.IsError:
			list = append(list, "error")
		default:
			list = append(list, "ok")
		}
	}
	return list
}

// HasError reports whether a call of an answer failed or was left without a result.
func (r *Run) HasError(exchange string) bool {
	for _, p := range r.byExchange[exchange] {
		if p.IsError || p.State == transcript.Unanswered && !r.IsWaiting(&p) {
			return true
		}
	}
	return false
}
