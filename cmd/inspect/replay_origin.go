package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// prepareFrom builds the request of a recorded step.
func (x *replaying) prepareFrom(r transcript.Reader, ref string) error {
	edits, err := x.f.edits.read()
	if err != nil {
		return err
	}
	origin, err := x.origin(r, ref, edits)
	if err != nil {
		return err
	}
	if x.tape, err = replay.ReadTape(x.ctx, r, origin); err != nil {
		return err
	}
	if x.now, x.later, err = x.when(r, origin, edits); err != nil {
		return err
	}
	if x.f.edits.editor {
		byHand, err := x.editByHand(x.ctx, r, origin, x.now)
		if err != nil {
			return err
		}
		x.now = append(x.now, byHand...)
	}
	x.before = origin
	if x.req, err = replay.NewRequest(x.ctx, r, origin, x.now); err != nil {
		return editError(err, origin)
	}
	if !x.f.once {
		if err := x.req.StandAlone(x.ctx, r); err != nil {
			return editError(err, origin)
		}
	}
	return x.f.edits.refuse(x.app, x.req)
}

// origin finds the exchange that a reference means. Of a run it is the one whose
// request brings the first result that is edited, or its first one.
func (x *replaying) origin(r transcript.Reader, ref string, edits []transcript.Edit) (*transcript.Exchange, error) {
	t, err := x.locate(x.ctx, r, ref)
	if err != nil {
		return nil, err
	}
	if t.Exchange != nil {
		return t.Exchange, nil
	}
	run, err := t.View(x.ctx, r, time.Now())
	if err != nil {
		return nil, err
	}
	agent := max(t.Agent, 1) - 1
	if agent >= len(run.Agents) || len(run.Agents[agent].Steps) == 0 {
		return nil, notFound(fmt.Sprintf("%s has no step to replay", ref))
	}
	steps := run.Agents[agent].Steps
	first := steps[0].Exchange
	for _, s := range slices.Backward(steps) {
		rows, err := r.IntroducedResults(x.ctx, s.Exchange)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if slices.ContainsFunc(edits, func(e transcript.Edit) bool { return e.CallID != "" && strings.Contains(row.CallID, e.CallID) }) {
				first = s.Exchange
			}
		}
	}
	return r.Exchange(x.ctx, first)
}

// when tells which edits the request takes and which come later: of results that the
// recording went on with. Call ids may be given in part.
func (x *replaying) when(r transcript.Reader, origin *transcript.Exchange, edits []transcript.Edit) (now, later []transcript.Edit, err error) {
	if !slices.ContainsFunc(edits, func(e transcript.Edit) bool { return e.CallID != "" }) {
		return edits, nil, nil
	}
	history, err := historyOf(x.ctx, r, origin)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range edits {
		comes := false
		if e.CallID != "" {
			if e.CallID, comes, err = x.wholeID(&e, history); err != nil {
				return nil, nil, err
			}
		}
		if comes {
			later = append(later, e)
		} else {
			now = append(now, e)
		}
	}
	if x.f.once && len(later) > 0 {
		return nil, nil, usageError{fmt.Errorf("--set-result %s: that result comes later; without --once the take gets there", later[0].CallID)}
	}
	return now, later, nil
}

// wholeID completes the call id of an edit and tells whether its result comes later.
// An id that fits nothing stays as it is.
func (x *replaying) wholeID(e *transcript.Edit, history []transcript.Item) (id string, later bool, err error) {
	kind, flag := transcript.ToolResult, "--set-result"
	if e.Op == transcript.SetArgs {
		kind, flag = transcript.ToolCall, "--set-args"
	}
	fits := map[string]bool{} // whether it comes later
	for k := range history {
		if it := &history[k]; it.Kind == kind && replay.IsCallID(it.CallID, e.CallID) {
			fits[it.CallID] = false
		}
	}
	for _, id := range x.tape.CallIDs() {
		if _, here := fits[id]; !here && e.Op == transcript.SetResult && replay.IsCallID(id, e.CallID) {
			fits[id] = true
		}
	}
	if later, ok := fits[e.CallID]; ok || len(fits) == 0 {
		return e.CallID, later, nil
	}
	if len(fits) > 1 {
		return "", false, usageError{fmt.Errorf("%s %s: fits %d call ids; give more of it", flag, e.CallID, len(fits))}
	}
	for only, comes := range fits {
		id, later = only, comes
	}
	return id, later, nil
}
