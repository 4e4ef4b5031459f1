package web

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

type replayPlan struct {
	Host, Variable string
	NoKey          string // why the required key is missing
	Bytes          int
	Edits          []plannedEdit
	Besides        []valueDiff    // how the body differs apart from the edits
	Held           bool           // history stored by the provider is included
	Found          []lint.Finding // errors that the edit introduces
	Arms           []plannedArm   // of a sample
	Looks          string         // what it checks
	Estimate       replay.Estimate
	CostUSD        string // of the estimate, "" if it is not known
	Dropped        []string
	Chosen         string // digest of the form
	Changed        bool   // the form differs from the plan that was to be sent
}

// plannedEdit is one change, as it would be sent.
type plannedEdit struct {
	Op, CallID, At string
	Spans          []analysis.Span
	Mark           string // that a tool failed, or did not after all
	Later          string // source of the recorded result that it replaces, "" for what is in the request
	Undo           string // key that undoes it, "" if it was sent
}

// plannedEdits shows edits.
func plannedEdits(b *budget, edits []transcript.Edit) []plannedEdit {
	var list []plannedEdit
	for _, e := range edits {
		now := e.Text
		switch {
		case len(e.Value) > 0:
			now = string(e.Value)
		case e.Op == transcript.SetModel: // was is JSON
			now = strconv.Quote(e.Text)
		}
		at := e.At
		if e.Op != transcript.SetResult { // the place of a later result is unknown
			at = cmp.Or(at, e.Text)
		}
		v := plannedEdit{Op: strings.ReplaceAll(e.Op, "_", " "), CallID: e.CallID, At: at, Spans: clip(b, analysis.DiffWords(e.Was, now))}
		if e.IsError != nil {
			if v.Mark = "it did not fail"; *e.IsError {
				v.Mark = "it failed"
			}
		}
		list = append(list, v)
	}
	return list
}

// fromViewer is the reason of a take that a page started.
const fromViewer = "from the viewer"

// prepare plans the replay of a form. Its errors are shown to the user who filled
// it in.
func (s *server) prepare(ctx context.Context, p *replayPage, e *transcript.Exchange, typed []typedEdit) (*replay.Ready, error) {
	plan := p.How.plan()
	plan.Origin, plan.Rest, plan.Once = e, p.rest, p.Mode == modeOnce
	plan.Edits, plan.Later = split(typed)
	if p.Mode == modeSample {
		var err error
		if plan.Expect, err = p.Looking.expect(); err != nil {
			return nil, err
		}
		if plan.Targets, err = p.targets(); err != nil {
			return nil, err
		}
		plan.Takes = p.Takes
	}
	ready, err := plan.Prepare(ctx, s.reader)
	switch {
	case errors.Is(err, replay.ErrLaterResult):
		return nil, errors.New("a result that comes later is changed, which this one step does not get to: choose continue")
	case errors.Is(err, replay.ErrAfterAnswer):
		return nil, errors.New("a result is changed that comes after the answer which is looked at: look at the last text, or replay the step that brings it")
	case err == nil && len(ready.Arms) == 1:
		return nil, errors.New("nothing is changed: a sample compares an edit with the recorded request, or models with each other, so change something first")
	}
	return ready, err
}

// errNoPrice means that a limit on cost cannot be enforced.
var errNoPrice = errors.New("the price of the model is not known, so that a limit on cost could not be kept to; set one on tokens or requests instead")

// plan describes what would be sent.
func (s *server) plan(p *replayPage, ready *replay.Ready, typed []typedEdit) (*replayPlan, error) {
	req := ready.Request
	b := newBudget()
	plan := &replayPlan{Host: req.Host(), Bytes: len(req.Body), Dropped: req.Dropped, Found: ready.Found, Held: req.Held}
	plan.Edits = append(plannedEdits(b, req.Edits), plannedEdits(b, ready.Later)...)
	slices.SortStableFunc(typed, func(a, b typedEdit) int { return min(len(a.Later), 1) - min(len(b.Later), 1) })
	for i := range plan.Edits {
		plan.Edits[i].Undo, plan.Edits[i].Later = typed[i].Undo, typed[i].Later
	}
	if !req.Held {
		plan.Besides = besides(b, req)
	}
	plan.Looks = ready.Predicate.Name
	plan.Estimate = ready.Estimate(s.prices)
	if usd := plan.Estimate.USD; usd != nil {
		plan.CostUSD = "$" + pricing.Rounded(usd)
	} else if p.How.limits.Cost != nil && !ready.Local() {
		return nil, errNoPrice
	}
	if plan.Arms, plan.NoKey = s.planArms(ready); plan.Arms == nil {
		plan.Variable, plan.NoKey = s.keyOf(req)
	}
	return plan, nil
}

// mostBesides bounds how many further differences a plan lists.
const mostBesides = 40

// besides lists the differences from the recorded body that no edit explains.
func besides(b *budget, req *replay.Request) []valueDiff {
	diff, ok := analysis.DiffJSON(req.Recorded, req.Body)
	if !ok {
		return nil
	}
	var list []valueDiff
	for _, d := range diff {
		if len(list) < mostBesides && !isEdited(req.Edits, d.At) {
			list = append(list, valueDiff{d.At, clip(b, between(d))})
		}
	}
	return list
}

func isEdited(edits []transcript.Edit, at string) bool {
	for i := range edits {
		e := &edits[i]
		if e.At != "" && (strings.HasPrefix(at+"/", e.At+"/") || strings.HasPrefix(e.At+"/", at+"/")) || e.Op == transcript.SetModel && at == "/model" || e.Op == transcript.SetParam && at == "/"+e.Text {
			return true
		}
	}
	return false
}

// keyOf returns the variable of the key that a request needs, or why it is missing.
func (s *server) keyOf(req *replay.Request) (variable, missing string) {
	variable, _, err := req.Key(s.replaying.Key, "")
	switch {
	case errors.Is(err, replay.ErrNoVariable):
		missing = "The request goes to " + req.Host() + ", for which no key is known or which is not encrypted: inspect replay --key-env names one."
	case err != nil:
		missing = "No key: start this program with " + variable + " set."
	}
	return variable, missing
}
