package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/tool"
	"github.com/retake-debugger/retake/transcript"
)

// prepareResume builds the request with which a take goes on.
func (x *replaying) prepareResume(r transcript.Reader) error {
	take, err := x.takeRef(x.ctx, r, x.f.resume)
	if err != nil {
		return err
	}
	if x.req, x.resumed, err = replay.Resume(x.ctx, r, take); errors.Is(err, replay.ErrFinished) {
		return usageError{fmt.Errorf("%w: nothing is open; replay one of its steps instead (inspect takes %s)", err, x.f.resume)}
	}
	if err != nil {
		return err
	}
	x.before = x.req.Origin
	if x.tape, err = replay.ReadTape(x.ctx, r, x.req.Origin); err != nil {
		return err
	}
	edits, err := x.f.edits.resultsOnly()
	if err != nil {
		return err
	}
	for i := range edits {
		if err := x.openCall(&edits[i]); err != nil {
			return err
		}
	}
	x.later = edits
	return nil
}

// openCall completes the call id of an edit: of the calls that the take left open,
// else of what is on the tape.
func (x *replaying) openCall(e *transcript.Edit) error {
	var fits []string
	for _, c := range x.resumed.Calls {
		if replay.IsCallID(c.CallID, e.CallID) && !slices.Contains(fits, c.CallID) {
			fits = append(fits, c.CallID)
		}
	}
	switch {
	case slices.Contains(fits, e.CallID) || x.tape.Has(e.CallID):
	case len(fits) == 1:
		e.CallID = fits[0]
	case len(fits) > 1:
		return usageError{fmt.Errorf("--set-result %s: fits %d open calls; give more of it", e.CallID, len(fits))}
	default:
		return notFound(fmt.Sprintf("--set-result %s: no such open call in %s; it has %s", e.CallID, x.f.resume, openCalls(x.resumed.Calls)))
	}
	return nil
}

func openCalls(calls []*replay.Call) string {
	var names []string
	for _, c := range calls {
		names = append(names, word(c.CallID))
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

// dryResume prints the request with which a take goes on. Where a result is not known
// before a tool runs it says so, and ends with findings.
func (x *replaying) dryResume(r transcript.Reader) error {
	var stood []string
	req, err := x.resumed.Next(x.ctx, r, x.req, x.drySources(&stood), x.later)
	if err != nil {
		return err
	}
	if err := x.printDryRun(req); err != nil || len(stood) == 0 {
		return err
	}
	fmt.Fprintf(x.err, "inspect: nothing was run: placeholders stand for the results of %s\n", strings.Join(stood, ", "))
	return errFindings
}

// notRun stands for a source in a dry run: it has a placeholder for what that would
// give.
type notRun struct {
	replay.Source
	name  string
	stood *[]string // calls that got one
}

// Answer is that of a replay.Source.
func (n notRun) Answer(_ context.Context, c *replay.Call) (*replay.Result, error) {
	*n.stood = append(*n.stood, fmt.Sprintf("%s %s (%s)", word(c.Name), word(c.CallID), n.name))
	return &replay.Result{Text: "(what " + n.name + " gives)"}, nil
}

// drySources makes the chain of a take of which nothing is run.
func (x *replaying) drySources(stood *[]string) []replay.Source {
	f := &x.f.sources
	edits := append(slices.Clone(x.resumed.Edits), x.later...)
	edited, recorded := x.tape.Player(edits, x.resumed.Used)
	by := map[string][]replay.Source{"edited": {edited}, "recorded": {recorded}}
	add := func(name string, s replay.Source) { by[name] = append(by[name], notRun{s, name, stood}) }
	for _, s := range f.exec {
		name, _, _ := strings.Cut(s, "=")
		add("exec", &tool.Exec{Name: name})
	}
	for _, s := range f.http {
		name, _, _ := strings.Cut(s, "=")
		add("http", &tool.HTTP{Name: name})
	}
	if len(f.mcp) > 0 { // which tools a server has is not known before it runs
		add("mcp", &asking{})
	}
	if f.ask {
		add("ask", &asking{})
	}
	if f.simulate != "" {
		add("simulated", &asking{})
	}
	var list []replay.Source
	for _, name := range f.order {
		list = append(list, by[name]...)
	}
	return list
}
