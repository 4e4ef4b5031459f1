package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// ErrFinished means that a take has nothing left to go on with.
var ErrFinished = errors.New("the take has come to its end")

// ErrOpenCalls means that calls at which a take stopped are still without a result.
var ErrOpenCalls = errors.New("open calls have no result")

// Resumed is a take that continues from where it stopped.
type Resumed struct {
	Take  *transcript.Take
	Calls []*Call           // that it left open; none if its last request is to be sent again
	Used  []*Call           // that got their results from the recording: see RecordedResults.Sources
	Edits []transcript.Edit // of results that had not come yet

	turn    *transcript.Turn        // the answer with the calls, nil if there is none
	results []transcript.TakeResult // of it and the takes before it that were sent, oldest first
	waiting []transcript.TakeResult // of it, that were not
}

// Resume makes the request with which a take continues: the last one that it sent.
// The player adds the answer to it and the results of the calls. ErrFinished if the
// take has none left.
func Resume(ctx context.Context, r transcript.Reader, t *transcript.Take) (*Request, *Resumed, error) {
	fail := func(err error) (*Request, *Resumed, error) {
		return nil, nil, fmt.Errorf("resume take t%d: %w", t.N, err)
	}
	if t.Last() == "" {
		return fail(fmt.Errorf("it sent nothing: %w", transcript.ErrNotFound))
	}
	last, err := r.Exchange(ctx, t.Last())
	if err != nil {
		return fail(err)
	}
	req, err := NewRequest(ctx, r, last, nil)
	if err != nil {
		return fail(err)
	}
	if req.Origin, err = r.Exchange(ctx, t.Origin); errors.Is(err, transcript.ErrNotFound) {
		req.Origin = last
	} else if err != nil {
		return fail(err)
	}
	req.converted = last.Dialect
	req.originals = originalNames(ctx, r, req.Origin, last.Dialect)
	req.done = max(0, last.Link.Step-req.Origin.Link.Step+1)
	s := &Resumed{Take: t}
	if err := s.inherit(ctx, r); err != nil {
		return fail(err)
	}
	if err := s.answered(ctx, r, req, last); err != nil {
		return fail(err)
	}
	return req, s, nil
}

// originalNames returns the recorded names of the tools that a take in another dialect
// calls otherwise: those of its conversion are not kept, so it is done again.
func originalNames(ctx context.Context, r transcript.Reader, origin *transcript.Exchange, to transcript.Dialect) map[string]string {
	if origin.Dialect == to {
		return nil
	}
	body, _, err := Full(ctx, r, origin)
	if err != nil {
		return nil // the recording knows them by the names that stayed
	}
	_, losses, err := dialect.Convert(origin.Dialect, to, body)
	if err != nil {
		return nil
	}
	return renamed(losses, nil)
}

// answered finds what the last answer left open, and which calls of the history got
// their results from the recording.
func (s *Resumed) answered(ctx context.Context, r transcript.Reader, req *Request, last *transcript.Exchange) error {
	request, err := req.decoded()
	if err != nil {
		return err
	}
	input := request.turn()
	fromTape := map[string]int{}
	for _, res := range s.results {
		if res.From != "" && (res.Source == transcript.FromRecording || res.Source == transcript.FromEdit) {
			fromTape[res.CallID]++
		}
	}
	for _, m := range slices.Backward(transcript.PairItems(input.Input)) {
		if m.Call < 0 || m.Result < 0 || fromTape[input.Input[m.Call].CallID] == 0 {
			continue
		}
		it := &input.Input[m.Call]
		fromTape[it.CallID]--
		s.Used = append(s.Used, &Call{Name: it.Name, Original: req.originals[it.Name], ArgumentsRaw: it.ArgumentsRaw, Arguments: it.Arguments})
	}
	if last.Outcome != transcript.OK || !last.Complete {
		return nil // it is sent again
	}
	turn, err := history.DecodeAnswer(ctx, r, last)
	if err != nil {
		return err
	}
	s.turn, s.Calls = turn, pending(turn, toolsOf(input), req.originals)
	if len(s.Calls) == 0 && turn.FinishReason != pauseTurn {
		return ErrFinished
	}
	return nil
}

// inherit reads the results and edits of the take and of those that it went on from.
func (s *Resumed) inherit(ctx context.Context, r transcript.Reader) error {
	all, err := r.Takes(ctx, "")
	if err != nil {
		return err
	}
	for id := s.Take.ID; id != ""; {
		i := slices.IndexFunc(all, func(t transcript.Take) bool { return t.ID == id })
		if i < 0 {
			return nil
		}
		whole, err := r.TakeN(ctx, all[i].N)
		if err != nil {
			return err
		}
		var edits []transcript.Edit
		if err := json.Unmarshal([]byte(whole.Edits), &edits); err != nil {
			return fmt.Errorf("read edits: %w", err)
		}
		for _, e := range edits {
			if e.Op == transcript.SetResult && e.At == "" {
				s.Edits = append(s.Edits, e)
			}
		}
		s.keep(whole)
		id = whole.Parent
		all = slices.Delete(all, i, i+1) // what is stored may go in circles
	}
	return nil
}

// Next makes the request that Play sends first when a take is resumed: with the answer at
// which it stopped, and the results of its calls. edits are those that Options has.
// ErrOpenCalls if a call has none.
func (s *Resumed) Next(ctx context.Context, r transcript.Reader, req *Request, sources []Source, edits []transcript.Edit) (*Request, error) {
	own := *req
	own.Header = req.Header.Clone()
	if err := own.StandAlone(ctx, r); err != nil || s.turn == nil {
		return &own, err
	}
	plain, err := own.plainBody()
	if err != nil {
		return nil, err
	}
	from := append(chain{newWaitingSource(s, edits)}, sources...)
	var results []dialect.Result
	for _, c := range s.Calls {
		result, err := from.answer(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("answer %s: %w", c.Name, err)
		}
		if result == nil {
			return nil, fmt.Errorf("%w: %s %s", ErrOpenCalls, c.Name, c.CallID)
		}
		results = append(results, result.result(c.CallID))
	}
	if own.Body, err = dialect.Continue(own.Speaks(), plain, s.turn.Response, results); err != nil {
		return nil, err
	}
	own.Header.Del("Content-Encoding")
	return &own, nil
}

// keep sorts the results of a take: those that no request introduced wait, if it is the
// take that is resumed. What comes from the recording or an edit comes from there again.
func (s *Resumed) keep(t *transcript.Take) {
	var sent []transcript.TakeResult
	for _, r := range t.Results {
		switch {
		case !r.Waits():
			sent = append(sent, r)
		case t.ID == s.Take.ID && r.Source != transcript.FromRecording && r.Source != transcript.FromEdit:
			s.waiting = append(s.waiting, r)
		}
	}
	s.results = append(sent, s.results...)
}

// waitingSource returns the results that a take had of calls and never sent, each once,
// for what no edit gives another result.
type waitingSource struct{ left []transcript.TakeResult }

func newWaitingSource(s *Resumed, edits []transcript.Edit) *waitingSource {
	return &waitingSource{slices.DeleteFunc(slices.Clone(s.waiting), func(r transcript.TakeResult) bool {
		return slices.ContainsFunc(edits, func(e transcript.Edit) bool { return e.Op == transcript.SetResult && e.CallID == r.CallID })
	})}
}

func (w *waitingSource) find(c *Call) int {
	return slices.IndexFunc(w.left, func(r transcript.TakeResult) bool { return r.CallID == c.CallID && r.Name == c.Name })
}

// Covers implements Source.
func (w *waitingSource) Covers(c *Call) bool { return w.find(c) >= 0 }

// Answer implements Source.
func (w *waitingSource) Answer(_ context.Context, c *Call) (*Result, error) {
	i := w.find(c)
	if i < 0 {
		return nil, nil
	}
	r := w.left[i]
	w.left = slices.Delete(w.left, i, i+1)
	return &Result{Text: r.Text, IsError: r.IsError, Source: r.Source, From: r.From}, nil
}

// mark says where the results of a request come from that the take before sent.
func (s *Resumed) mark(base []transcript.TakeResult) {
	left := s.results
	for i := range slices.Backward(base) {
		for k := len(left) - 1; k >= 0; k-- {
			if left[k].CallID == base[i].CallID {
				base[i], left = left[k], left[:k]
				break
			}
		}
	}
}
