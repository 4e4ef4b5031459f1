package view

import (
	"context"

	"github.com/retake-debugger/retake/transcript"
)

// joined is a history with its pairs, and the pair of each call and result.
type joined struct {
	*conversation
	pairs    []transcript.Pair
	ofCall   map[int]int // item → pair
	ofResult map[int]int
	more     map[int][]transcript.Place // pair → further results in other exchanges
	fresh    map[int]bool               // pair → its result is new in this request
}

// join pairs a history. A call from a recorded answer gets its place there and not
// where it is resent. The calls of this answer are joined to the results in later
// requests.
func join(ctx context.Context, r transcript.Reader, h *conversation) (*joined, error) {
	rows, err := recordedCalls(ctx, r, h.exchange)
	if err != nil {
		return nil, err
	}
	j := &joined{conversation: h, ofCall: map[int]int{}, ofResult: map[int]int{}, more: map[int][]transcript.Place{}, fresh: map[int]bool{}}
	items := h.plain()
	recorded := transcript.MatchCalls(items, rows)
	brought := introducedBy(h.exchange.ID, rows)
	for _, m := range transcript.PairItems(items) {
		var row *transcript.CallRow
		if r, ok := recorded[m.Call]; ok {
			row = &rows[r]
		}
		if m.State == transcript.OrphanResult {
			row = brought[j.items[m.Result].place.At]
		}
		j.add(m, row)
	}
	return j, nil
}

// introducedBy returns the calls whose results the request of an exchange introduced,
// by the place of the result in it.
func introducedBy(exchange string, rows []transcript.CallRow) map[string]*transcript.CallRow {
	found := map[string]*transcript.CallRow{}
	for i := range rows {
		for _, r := range rows[i].Results {
			if r.Exchange == exchange {
				found[r.At] = &rows[i]
			}
		}
	}
	return found
}

// add makes the pair of a match. row is the recorded call, nil if no known answer
// made it.
func (j *joined) add(m transcript.Match, row *transcript.CallRow) {
	p := transcript.Pair{State: m.State, By: m.By}
	n := len(j.pairs)
	if m.Call < 0 && row != nil { // the call is in the server-side history
		p.State, p.By, p.CallID, p.Name, p.LatencyMS = transcript.Paired, "id", row.CallID, row.Name, latency(row)
		p.Call = &transcript.Place{Exchange: row.Exchange, Body: "response", At: row.At}
	}
	if m.Call >= 0 {
		it := &j.items[m.Call]
		place := it.place
		p.CallID, p.Name, p.Call = it.CallID, it.Name, &place
		if row != nil {
			place.Exchange, place.Body, place.At = row.Exchange, "response", row.At
		}
		if row != nil && m.State == transcript.Unanswered && len(row.Results) > 0 && m.Call >= j.output {
			j.answer(&p, row, n)
		}
		if m.State != transcript.Duplicate {
			j.ofCall[m.Call] = n
		}
		if row != nil && m.Result >= 0 {
			p.LatencyMS = latency(row)
		}
	}
	if m.Result >= 0 {
		it := &j.items[m.Result]
		place := it.place
		p.Result, p.IsError = &place, it.IsError
		if p.CallID == "" {
			p.CallID = it.CallID
		}
		if p.Name == "" {
			p.Name = it.Name
		}
		j.ofResult[m.Result], j.fresh[n] = n, it.new
	}
	j.pairs = append(j.pairs, p)
}

// answer fills a pair from the first result in a later request.
func (j *joined) answer(p *transcript.Pair, row *transcript.CallRow, n int) {
	first := row.Results[0]
	p.State, p.By, p.IsError = transcript.Paired, first.By, first.IsError
	p.Result = &transcript.Place{Exchange: first.Exchange, Body: "request", At: first.At}
	p.LatencyMS = first.LatencyMS
	for _, r := range row.Results[1:] {
		j.more[n] = append(j.more[n], transcript.Place{Exchange: r.Exchange, Body: "request", At: r.At})
	}
}

// latency returns the latency of the first result: later requests resend it, and
// replays send it long after the tool has run.
func latency(row *transcript.CallRow) *float64 {
	if len(row.Results) == 0 {
		return nil
	}
	return row.Results[0].LatencyMS
}

// recordedCalls returns the calls of the answers along the line of e, oldest first.
// If the line is damaged, it returns only those of e.
func recordedCalls(ctx context.Context, r transcript.Reader, e *transcript.Exchange) ([]transcript.CallRow, error) {
	line, err := r.Line(ctx, e.ID)
	var calls []transcript.CallRow
	if err == nil {
		calls, err = r.Calls(ctx, line)
	}
	if lost(err) != "" {
		calls, err = r.Calls(ctx, []string{e.ID})
	}
	if lost(err) != "" {
		return nil, nil
	}
	return calls, err
}
