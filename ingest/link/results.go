package link

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// PutCalls stores the calls of the answer, and the results that the request
// introduced for calls of earlier answers.
func PutCalls(ctx context.Context, tx transcript.Tx, d *Subject, parent *transcript.Exchange) error {
	for i := range d.Turn.Output {
		it := &d.Turn.Output[i]
		if it.Kind != transcript.ToolCall || it.ServerSide {
			continue
		}
		row := transcript.CallRow{Exchange: d.Exchange.ID, Key: d.output().of[i], At: it.At, CallID: it.CallID, Name: it.Name}
		if err := tx.PutCall(row); err != nil {
			return err
		}
		if err := putPrompts(tx, d, it); err != nil {
			return err
		}
	}
	if err := putHints(tx, d, d.Pending); err != nil {
		return err
	}
	if parent == nil || d.Exchange.Results == 0 {
		return nil
	}
	r := results{d: d, tx: tx, callers: callers{ctx: ctx, tx: tx, from: parent}}
	return r.put()
}

// putPrompts stores hints for the texts in a call: they may come back as the first
// message of an agent that it starts.
func putPrompts(tx transcript.Tx, d *Subject, it *transcript.Item) error {
	var arguments map[string]json.RawMessage
	if json.Unmarshal(it.Arguments, &arguments) != nil {
		return nil
	}
	n := 0
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		value := arguments[name]
		var text string
		if len(value) == 0 || value[0] != '"' || json.Unmarshal(value, &text) != nil {
			continue
		}
		key, ok := promptKey(text)
		if name == taskArgument {
			key, ok = HintOf("task", text), text != ""
		}
		if n++; !ok || n > mostPrompts {
			continue
		}
		d.prompts = append(d.prompts, key)
		if err := tx.PutHint(key, d.Exchange.ID, it.At); err != nil {
			return err
		}
	}
	return nil
}

// results joins the new results in a request to the recorded answers with their
// calls.
type results struct {
	d       *Subject
	tx      transcript.Tx
	callers callers
}

// put matches the calls from the last to the first, as the answers are searched
// from the latest. A call without a result uses its answer's row too, so that of
// equal calls each finds its own.
func (r *results) put() error {
	items := r.d.Turn.Input
	answers, orphans, first := r.answers()
	for i := len(items) - 1; i >= first; i-- {
		if items[i].Kind != transcript.ToolCall || items[i].ServerSide {
			continue
		}
		row, asked, err := r.callers.byKey(r.d.key(i))
		if err == nil && row == nil && idsMayDiffer(r.d.Exchange.Link.By) {
			row, asked, err = r.callers.byKeyWithoutID(&items[i])
		}
		if err != nil {
			return err
		}
		if answer, ok := answers[i]; ok && row != nil {
			if err := r.store(&items[answer], row, asked); err != nil {
				return err
			}
		}
	}
	for i := len(orphans) - 1; i >= 0; i-- { // their calls are in server-held history
		row, asked, err := r.callers.byID(items[orphans[i]].CallID)
		if err != nil {
			return err
		}
		if row == nil {
			continue
		}
		if err := r.store(&items[orphans[i]], row, asked); err != nil {
			return err
		}
	}
	return nil
}

// idsMayDiffer reports whether the evidence of a link says that call ids were
// replaced, or says nothing about them.
func idsMayDiffer(by string) bool {
	return by == transcript.ByKeysWithoutIDs || by == transcript.ByText
}

// answers returns the new results by the call that they answer, those without a
// call in the request, and the first call with a new result. Further results of the
// same call are left out.
func (r *results) answers() (answers map[int]int, orphans []int, first int) {
	answers, first = map[int]int{}, len(r.d.Turn.Input)
	results := NewResults(r.d)
	if len(results) == 0 {
		return answers, nil, first
	}
	fresh := map[int]bool{}
	for _, i := range results {
		fresh[i] = true
	}
	for _, m := range r.matches(results[0], fresh) {
		switch {
		case m.Result < 0 || !fresh[m.Result]:
		case m.State == transcript.Paired:
			answers[m.Call] = m.Result
			first = min(first, m.Call)
		case m.State == transcript.OrphanResult:
			orphans = append(orphans, m.Result)
		}
	}
	return answers, orphans, first
}

// matches pairs the items of the request. A result belongs to the nearest round
// before it that fits, so for results whose call is in the last rounds these
// suffice. first is the first new result.
func (r *results) matches(first int, fresh map[int]bool) []transcript.Match {
	items := r.d.Turn.Input
	start := lastRounds(items, first)
	matches := transcript.PairItems(items[start:])
	paired := 0
	for i := range matches {
		m := &matches[i]
		if m.Call >= 0 {
			m.Call += start
		}
		if m.Result >= 0 {
			m.Result += start
			if fresh[m.Result] && m.State == transcript.Paired {
				paired++
			}
		}
	}
	if start > 0 && paired < len(fresh) {
		return transcript.PairItems(items)
	}
	return matches
}

// lastRounds returns where the round of the last call before a result begins: after
// an item that is not of an answer.
func lastRounds(items []transcript.Item, result int) int {
	i := result - 1
	for i >= 0 && items[i].Kind != transcript.ToolCall {
		i--
	}
	for ; i >= 0; i-- {
		switch it := &items[i]; it.Kind {
		case transcript.ToolCall, transcript.Reasoning, transcript.System, transcript.ToolDefinition:
		case transcript.ToolResult:
			if !it.ServerSide {
				return i + 1
			}
		default:
			if it.Role != "assistant" {
				return i + 1
			}
		}
	}
	return 0
}

func (r *results) store(it *transcript.Item, row *transcript.CallRow, asked *transcript.Exchange) error {
	result := transcript.ResultRow{Exchange: r.d.Exchange.ID, At: it.At, By: "id", IsError: it.IsError}
	if it.CallID == "" || it.CallID != row.CallID {
		result.By = "position"
	}
	if took := transcript.Between(asked.EndedAt, r.d.Exchange.StartedAt); took != nil {
		latency := float64(took.Microseconds()) / 1000
		result.LatencyMS = &latency
	}
	return r.tx.PutResult(row.Exchange, row.At, result)
}

// NewResults returns the tool results that the history before did not contain.
func NewResults(d *Subject) []int {
	var found []int
	for i, where := range slices.Backward(d.Where) {
		if where >= 0 && where < d.Exchange.Link.Shared {
			break
		}
		if it := &d.Turn.Input[i]; it.Kind == transcript.ToolResult && !it.ServerSide && where >= 0 {
			found = append(found, i)
		}
	}
	slices.Reverse(found)
	return found
}
