package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/retake-debugger/retake/rawjson"
	"github.com/retake-debugger/retake/transcript"
)

// RecordedResults has the tool results that a recorded run continued with after some step,
// by tool and arguments. It may be used by several takes.
type RecordedResults struct {
	byCall map[resultKey][]*recordedResult
	byID   map[string]*recordedResult // the last of a call id
	all    []*recordedResult
	line   []*transcript.Exchange
}

// resultKey is what a call asks: the tool, and its canonical arguments.
type resultKey struct{ name, arguments string }

type recordedResult struct {
	key    resultKey
	callID string
	item   transcript.Item // the result
	speaks transcript.Dialect
	from   string // exchange whose request brought it
}

func keyOf(name, raw string, arguments json.RawMessage) resultKey {
	if arguments != nil {
		if c, err := rawjson.Canonical(arguments); err == nil {
			return resultKey{name, string(c)}
		}
	}
	return resultKey{name, raw}
}

// ReadRecorded reads what a run continued with after an exchange: along its own line,
// replays left out. What came before is in the request of that exchange, and used
// up. What cannot be read is left out.
func ReadRecorded(ctx context.Context, r transcript.Reader, origin *transcript.Exchange) (*RecordedResults, error) {
	line, err := lineFrom(ctx, r, origin)
	if err != nil {
		return nil, fmt.Errorf("read recorded results: %w", err)
	}
	t := &RecordedResults{byCall: map[resultKey][]*recordedResult{}, byID: map[string]*recordedResult{}, line: line}
	results, err := readLine(ctx, r, line)
	if err != nil {
		return nil, fmt.Errorf("read recorded results: %w", err)
	}
	for _, result := range results {
		t.add(result)
	}
	return t, nil
}

// Line returns the exchange that the recording begins at and those that went on from it,
// oldest first.
func (t *RecordedResults) Line() []*transcript.Exchange { return t.line }

// of returns the results of a tool, in the order of the recording.
func (t *RecordedResults) of(name string) []*recordedResult {
	var list []*recordedResult
	for _, r := range t.all {
		if r.key.name == name {
			list = append(list, r)
		}
	}
	return list
}

// CallIDs lists the ids of the calls with results in the recording, in their order.
func (t *RecordedResults) CallIDs() []string {
	ids := make([]string, len(t.all))
	for i, r := range t.all {
		ids[i] = r.callID
	}
	return ids
}

// Has reports whether a call of that id has a result in the recording.
func (t *RecordedResults) Has(callID string) bool { return t.byID[callID] != nil }

// lineFrom returns an exchange and those that went on from it: of several that did,
// the one that leads furthest. A failed attempt continues with what the next attempt
// at its step did.
func lineFrom(ctx context.Context, r transcript.Reader, origin *transcript.Exchange) ([]*transcript.Exchange, error) {
	if origin.Link.Run == "" || origin.Link.Agent == "" {
		return []*transcript.Exchange{origin}, nil
	}
	others, err := otherTakes(ctx, r, origin)
	if err != nil {
		return nil, err
	}
	var list []*transcript.Exchange
	for e, err := range r.Exchanges(ctx, transcript.Filter{Run: origin.Link.Run, Oldest: true}) {
		if errors.Is(err, transcript.ErrDamaged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if e.Link.Agent == origin.Link.Agent && !others[e.ID] && e.N >= origin.N {
			list = append(list, e)
		}
	}
	children, depth := map[string][]*transcript.Exchange{}, map[string]int{}
	for i := len(list) - 1; i >= 0; i-- {
		e := list[i]
		depth[e.ID]++
		depth[e.Link.Parent] = max(depth[e.Link.Parent], depth[e.ID])
		children[e.Link.Parent] = append(children[e.Link.Parent], e)
	}
	furthest := func(of []*transcript.Exchange) (best *transcript.Exchange) {
		for _, e := range of {
			if best == nil || depth[e.ID] >= depth[best.ID] { // the oldest of equals, which comes last
				best = e
			}
		}
		return best
	}
	line, at := []*transcript.Exchange{origin}, origin
	if len(children[origin.ID]) == 0 && origin.Outcome != transcript.OK {
		var again []*transcript.Exchange
		for _, e := range list {
			if e.Link.Step == origin.Link.Step && e.Link.InNode == origin.Link.InNode && len(children[e.ID]) > 0 {
				again = append(again, e)
			}
		}
		if e := furthest(again); e != nil {
			at = e
		}
	}
	for next := furthest(children[at.ID]); next != nil; next = furthest(children[at.ID]) {
		line, at = append(line, next), next
	}
	return line, nil
}

// otherTakes returns the exchanges that takes sent, but those of the take that sent
// the origin.
func otherTakes(ctx context.Context, r transcript.Reader, origin *transcript.Exchange) (map[string]bool, error) {
	takes, err := r.Takes(ctx, "")
	if err != nil && !errors.Is(err, transcript.ErrDamaged) {
		return nil, err
	}
	others := map[string]bool{}
	for i := range takes {
		own := false
		for _, s := range takes[i].Steps {
			own = own || s.Exchange == origin.ID
		}
		for _, s := range takes[i].Steps {
			others[s.Exchange] = !own
		}
	}
	return others, nil
}

func (t *RecordedResults) add(r *recordedResult) {
	t.byCall[r.key] = append(t.byCall[r.key], r)
	t.byID[r.callID] = r
	t.all = append(t.all, r)
}

// unreadable reports whether something is gone or damaged, which others are not.
func unreadable(err error) bool {
	return errors.Is(err, transcript.ErrNotFound) || errors.Is(err, transcript.ErrDamaged)
}

// Sources returns the recording as sources for one take: what the edits say of results on
// it, and what was recorded. Results of the same call are given in the order in
// which they were used, each once. used are the calls of an earlier take, that this
// one resumes, that got theirs from the recording.
func (t *RecordedResults) Sources(edits []transcript.Edit, used []*Call) (edited, recorded Source) {
	p := &resultSources{of: t, next: map[resultKey]int{}, edits: map[string]*transcript.Edit{}}
	for i := range edits {
		if edits[i].Op == transcript.SetResult {
			p.edits[edits[i].CallID] = &edits[i]
		}
	}
	for _, c := range used {
		p.next[keyOf(c.recordedName(), c.ArgumentsRaw, c.Arguments)]++
	}
	return editedSource{p}, recordedSource{p}
}

// resultSources counts what is used up.
type resultSources struct {
	of    *RecordedResults
	next  map[resultKey]int
	edits map[string]*transcript.Edit // by call id: of a recorded call, or of the take's own
}

// peek returns the next result of a call, nil if there is none left.
func (p *resultSources) peek(c *Call) *recordedResult {
	key := keyOf(c.recordedName(), c.ArgumentsRaw, c.Arguments)
	list := p.of.byCall[key]
	if n := p.next[key]; n < len(list) {
		return list[n]
	}
	return nil
}

// edit returns what the edits say of a call: by its own id, or by that of the recorded
// call whose turn it is.
func (p *resultSources) edit(c *Call) (*transcript.Edit, *recordedResult) {
	if e := p.edits[c.CallID]; e != nil && c.CallID != "" {
		return e, nil
	}
	if at := p.peek(c); at != nil {
		return p.edits[at.callID], at
	}
	return nil, nil
}

func (p *resultSources) use(at *recordedResult) {
	if at != nil {
		p.next[at.key]++
	}
}

type editedSource struct{ *resultSources }

func (s editedSource) Covers(c *Call) bool {
	e, _ := s.edit(c)
	return e != nil
}

func (s editedSource) Answer(_ context.Context, c *Call) (*Result, error) {
	e, at := s.edit(c)
	if e == nil {
		return nil, nil
	}
	r := &Result{Text: e.Text, Source: transcript.FromEdit, IsError: e.IsError != nil && *e.IsError}
	if at != nil {
		r.From = at.from
		if e.IsError == nil {
			r.IsError = at.item.IsError
		}
	}
	s.use(at)
	return r, nil
}

type recordedSource struct{ *resultSources }

func (s recordedSource) Covers(c *Call) bool { return s.peek(c) != nil }

func (s recordedSource) Answer(_ context.Context, c *Call) (*Result, error) {
	at := s.peek(c)
	if at == nil {
		return nil, nil
	}
	s.use(at)
	r := &Result{Text: at.item.Text, IsError: at.item.IsError, Source: transcript.FromRecording, From: at.from}
	if at.speaks == c.Dialect {
		r.Raw = at.item.Raw
	}
	return r, nil
}
