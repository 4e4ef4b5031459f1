package view

import (
	"github.com/retake-debugger/retake/transcript"
)

func (t *StepReader) entry(e *transcript.Exchange, body string, it *transcript.Item) Entry {
	return Entry{Item: *it, Place: transcript.Place{Exchange: e.ID, Body: body, At: it.At}, Source: Ref(e.N), New: true, Output: body == "response"}
}

// introduced adds the new items of a request. Results that are shown with their calls
// in the step before are left out.
func (t *StepReader) introduced(step *StepView, fresh []transcript.Item) error {
	e := step.Step.exchange
	matches := transcript.PairItems(fresh)
	byCall, byResult := map[int]transcript.Match{}, map[int]transcript.Match{}
	for _, m := range matches {
		if m.Call >= 0 && m.State != transcript.Duplicate {
			byCall[m.Call] = m
		}
		if m.Result >= 0 {
			byResult[m.Result] = m
		}
	}
	for i := range fresh {
		it := &fresh[i]
		entry := t.entry(e, "request", it)
		switch {
		case it.Kind == transcript.ToolDefinition, it.Kind == transcript.System && step.Context.System:
			continue
		case it.Kind == transcript.ToolCall:
			t.sentCall(&entry, byCall[i], fresh)
		case it.Kind == transcript.ToolResult:
			if t.inSameInput(&entry) || byResult[i].State == transcript.Paired {
				continue
			}
			if entry.Pair == nil {
				p := transcript.Pair{CallID: it.CallID, Name: it.Name, State: byResult[i].State, Result: &entry.Place, IsError: it.IsError}
				entry.Pair = &p
			}
		}
		step.Entries = append(step.Entries, entry)
	}
	return nil
}

// sentCall pairs a call that a request contains and no recorded answer made.
func (t *StepReader) sentCall(entry *Entry, m transcript.Match, fresh []transcript.Item) {
	p := transcript.Pair{CallID: entry.Item.CallID, Name: entry.Item.Name, State: m.State, Call: &entry.Place, By: m.By}
	if m.State == "" { // the provider ran it
		return
	}
	if m.Result >= 0 {
		it := fresh[m.Result]
		place := transcript.Place{Exchange: entry.Place.Exchange, Body: "request", At: it.At}
		p.Result, p.IsError = &place, it.IsError
		entry.Result, entry.ResultSource, entry.ResultNew = &it, entry.Source, true
	}
	entry.Pair = &p
}

// inSameInput reports whether a result is shown with its call. A different result in
// another branch is shown there.
func (t *StepReader) inSameInput(entry *Entry) bool {
	row := t.results[entry.Place]
	if row == nil {
		return false
	}
	for _, res := range row.Results {
		if res.Exchange != entry.Place.Exchange || res.At != entry.Place.At {
			continue
		}
		first := t.run.firstResult(row)
		if first.Exchange == res.Exchange && first.At == res.At || first.Exchange != res.Exchange && t.sameInput(first.Exchange, res.Exchange) {
			return true
		}
		state := transcript.Paired
		if first.Exchange == res.Exchange {
			state = transcript.Duplicate
		}
		entry.Pair = &transcript.Pair{CallID: row.CallID, Name: row.Name, State: state, By: res.By, IsError: res.IsError, LatencyMS: res.LatencyMS,
			Call: &transcript.Place{Exchange: row.Exchange, Body: "response", At: row.At}, Result: &entry.Place}
	}
	return false
}

// sameInput reports whether two exchanges have the same input: attempts at a step,
// or branches that leave at an answer.
func (t *StepReader) sameInput(a, b string) bool {
	one, other := t.run.exchanges[a], t.run.exchanges[b]
	return one != nil && other != nil && one.Link.InNode == other.Link.InNode
}

// answered adds the answer, with the results of its calls.
func (t *StepReader) answered(step *StepView, turn *transcript.Turn) error {
	e := step.Step.exchange
	paired := map[int]int{} // results of calls that the provider ran
	for _, m := range transcript.PairItems(turn.Output) {
		if m.Call >= 0 && m.Result >= 0 {
			paired[m.Call], paired[m.Result] = m.Result, -1
		}
	}
	for i := range turn.Output {
		it := &turn.Output[i]
		entry := t.entry(e, "response", it)
		result, ok := paired[i]
		switch {
		case ok && result < 0:
			continue
		case ok:
			r := turn.Output[result]
			place := transcript.Place{Exchange: e.ID, Body: "response", At: r.At}
			entry.Result, entry.ResultSource = &r, entry.Source
			entry.Pair = &transcript.Pair{CallID: it.CallID, Name: it.Name, State: transcript.Paired, By: "id", IsError: r.IsError, Call: &entry.Place, Result: &place}
		case it.Kind == transcript.ToolCall && !it.ServerSide:
			entry.Batch = batchOf(turn.Output, i)
			if err := t.result(&entry); err != nil {
				return err
			}
		}
		step.Entries = append(step.Entries, entry)
	}
	return nil
}

// batchOf counts the calls of one answer.
func batchOf(items []transcript.Item, i int) int {
	n := 0
	for k := range items {
		if items[k].Kind == transcript.ToolCall && !items[k].ServerSide && items[k].Choice == items[i].Choice {
			n++
		}
	}
	return n
}

// result adds the result of a call.
func (t *StepReader) result(entry *Entry) error {
	p := transcript.Pair{CallID: entry.Item.CallID, Name: entry.Item.Name, State: transcript.Unanswered, Call: &entry.Place}
	entry.Pair = &p
	for _, a := range t.run.Under(entry.Place) {
		entry.SubAgents = append(entry.SubAgents, a.Ref)
	}
	row := t.run.calls[entry.Place]
	if row == nil {
		return nil
	}
	first := t.run.firstResult(row)
	if first == nil {
		return nil
	}
	p.State, p.By, p.IsError, p.LatencyMS = transcript.Paired, first.By, first.IsError, first.LatencyMS
	p.Result = &transcript.Place{Exchange: first.Exchange, Body: "request", At: first.At}
	from := t.run.exchanges[first.Exchange]
	if from == nil {
		return nil
	}
	entry.ResultSource = Ref(from.N)
	var err error
	if entry.Result, err = t.resultAt(from, first.At); err != nil {
		return err
	}
	for _, res := range row.Results {
		other := t.run.exchanges[res.Exchange]
		if other == nil || res.Exchange == first.Exchange || t.sameInput(first.Exchange, res.Exchange) {
			continue
		}
		it, err := t.resultAt(other, res.At)
		if err != nil {
			return err
		}
		if !sameItem(it, entry.Result) {
			entry.AlsoIn = append(entry.AlsoIn, Ref(other.N))
		}
	}
	return nil
}

// resultAt reads a result; nil if it is no longer readable.
func (t *StepReader) resultAt(e *transcript.Exchange, at string) (*transcript.Item, error) {
	request, err := t.Request(e)
	if err != nil {
		return nil, ignoreLost(err)
	}
	return t.At(request, at), nil
}

// sameItem reports whether two items are equal in content.
func sameItem(a, b *transcript.Item) bool {
	if a == nil || b == nil || a.Cut != nil && b.Cut != nil {
		return a != nil && b != nil && a.Cut.Key == b.Cut.Key
	}
	return transcript.KeyOf(a) == transcript.KeyOf(b)
}
