package replay

import (
	"context"
	"slices"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// readLine reads the results that the requests of a line introduced, after the first one,
// in order.
func readLine(ctx context.Context, r transcript.Reader, line []*transcript.Exchange) ([]*recordedResult, error) {
	t := recordedReader{ctx: ctx, reader: r}
	brought := make([][]*recordedResult, len(line))
	changed := 0
	for i := len(line) - 1; i > 0; i-- {
		var err error
		if brought[i], err = t.read(line[i]); err != nil {
			return nil, err
		}
		if c := &line[i].Link.Change; (c.Rewritten || c.Compacted || c.Dropped.Items > 0) && changed < mostChanged {
			t.latest = nil // what came before may be another there, or is gone
			changed++
		}
	}
	return slices.Concat(brought...), nil
}

// mostChanged is after how many requests that changed their history results are taken
// from a later request that has them where they were. Some clients change something at
// each step.
const mostChanged = 64

// recordedReader reads results from the requests that introduced them, the last one first.
// Clients send the whole history each time, so that most are in a later request too,
// which is read once: one that leaves some out ends that.
type recordedReader struct {
	ctx    context.Context
	reader transcript.Reader
	latest *readTurn
	made   map[transcript.Place]*transcript.Item // calls of answers that were read
}

// readTurn is the input of an exchange, by place.
type readTurn struct {
	items map[string]*transcript.Item // results
	calls map[string]*transcript.Item // at the place of a result: the call that it answers
}

func (t *recordedReader) turn(e *transcript.Exchange) (*readTurn, error) {
	turn, err := history.DecodeRequest(t.ctx, t.reader, e)
	out := &readTurn{items: map[string]*transcript.Item{}, calls: map[string]*transcript.Item{}}
	if unreadable(err) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	items := turn.Input
	for i := range items {
		if items[i].Kind == transcript.ToolResult {
			out.items[items[i].At] = &items[i]
		}
	}
	for _, m := range transcript.PairItems(items) {
		if m.Call >= 0 && m.Result >= 0 {
			out.calls[items[m.Result].At] = &items[m.Call]
		}
	}
	return out, nil
}

// read returns the results that a request introduced.
func (t *recordedReader) read(e *transcript.Exchange) (list []*recordedResult, err error) {
	rows, err := t.reader.IntroducedResults(t.ctx, e.ID)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	own := false
	for i := range rows {
		for _, res := range rows[i].Results {
			it := t.at(res.At, rows[i].CallID)
			if it == nil && !own {
				if t.latest, err = t.turn(e); err != nil {
					return nil, err
				}
				own = true
			}
			if own {
				it = t.latest.items[res.At]
			}
			if it == nil {
				continue
			}
			call := t.latest.calls[res.At]
			if call == nil { // the provider holds it
				if call, err = t.call(&rows[i]); err != nil {
					return nil, err
				}
			}
			if call != nil {
				list = append(list, &recordedResult{key: keyOf(rows[i].Name, call.ArgumentsRaw, call.Arguments), callID: rows[i].CallID, item: *it, speaks: e.Dialect, from: e.ID})
			}
		}
	}
	return list, nil
}

// at returns the result of a call at a place, if the request that was read last has it
// there.
func (t *recordedReader) at(at, callID string) *transcript.Item {
	if t.latest == nil {
		return nil
	}
	if it := t.latest.items[at]; it != nil && it.CallID == callID {
		return it
	}
	return nil
}

// call reads a call from the answer that made it, nil if it is not there.
func (t *recordedReader) call(row *transcript.CallRow) (*transcript.Item, error) {
	at := transcript.Place{Exchange: row.Exchange, Body: "response", At: row.At}
	if t.made == nil {
		t.made = map[transcript.Place]*transcript.Item{}
	}
	if it, ok := t.made[at]; ok {
		return it, nil
	}
	e, err := t.reader.Exchange(t.ctx, row.Exchange)
	var turn *transcript.Turn
	if err == nil {
		turn, err = history.DecodeAnswer(t.ctx, t.reader, e)
	}
	if unreadable(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := turn.Output
	for i := range out {
		t.made[transcript.Place{Exchange: row.Exchange, Body: "response", At: out[i].At}] = &out[i]
	}
	return t.made[at], nil
}
