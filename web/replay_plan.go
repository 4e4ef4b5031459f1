package web

import (
	"cmp"
	"context"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// replayPlan is what would be sent.
type replayPlan struct {
	Host, Variable string
	NoKey          string // why the key that is needed is not there
	Bytes          int
	Edits          []plannedEdit
	Besides        []valueDiff    // how the body differs beside the edits
	Held           bool           // history that the provider holds is put in
	Found          []lint.Finding // errors that the edit brings
	Arms           []plannedArm   // of a sample
	Looks          string         // what it looks at
	Estimate       replay.Estimate
	CostUSD        string // of the estimate, "" if it is not known
	Dropped        []string
	Chosen         string // sums up what the form says
	Changed        bool   // it says otherwise than the plan that was to be sent
}

// plannedEdit is one change, as it would be sent.
type plannedEdit struct {
	Op, CallID, At string
	Spans          []transcript.Span
	Mark           string // that a tool failed, or did not after all
	Later          string // what brought the recorded result that it stands in for, "" for what is in the request
	Undo           string // what takes it back, "" if it was sent
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
		if e.Op != transcript.SetResult { // of a result that comes later no place is known
			at = cmp.Or(at, e.Text)
		}
		v := plannedEdit{Op: strings.ReplaceAll(e.Op, "_", " "), CallID: e.CallID, At: at, Spans: clip(b, transcript.DiffWords(e.Was, now))}
		if e.IsError != nil {
			if v.Mark = "it did not fail"; *e.IsError {
				v.Mark = "it failed"
			}
		}
		list = append(list, v)
	}
	return list
}

// prepared is a replay that is ready to be sent, but for its key.
type prepared struct {
	req    *replay.Request
	tape   *replay.Tape
	how    *howPlayed
	mode   transcript.TakeMode
	look   replay.Look // of a sample
	takes  int         // of each arm
	arms   []replay.Arm
	reason string
	// later are edits of results that come later than the first request.
	later []transcript.Edit
	// resumed is the take that is gone on with, nil for none.
	resumed *replay.Resumed
}

// fromViewer is why a take was made that a page began.
const fromViewer = "from the viewer"

// prepare builds what the form asks for. Its errors are for whoever filled it in.
func (s *server) prepare(ctx context.Context, p *replayPage, e *transcript.Exchange, typed []typedEdit) (*prepared, error) {
	ready := &prepared{how: &p.How, tape: p.tape, mode: transcript.Continue, takes: 1, reason: fromViewer}
	var edits []transcript.Edit
	edits, ready.later = split(typed)
	if p.Mode == modeOnce && ready.later != nil {
		return nil, errors.New("a result that comes later is changed, which this one step does not get to: choose continue")
	}
	var err error
	if ready.req, err = replay.NewRequest(ctx, s.reader, e, edits); err != nil {
		return nil, err
	}
	if p.Mode == modeOnce {
		ready.mode = transcript.Once
		return ready, nil
	}
	if err := ready.req.StandAlone(ctx, s.reader); err != nil {
		return nil, err
	}
	if p.Mode == modeSample {
		err = s.prepareArms(ctx, p, ready, edits)
	}
	return ready, err
}

// requests are all that are sent first.
func (r *prepared) requests() []*replay.Request {
	if r.arms == nil {
		return []*replay.Request{r.req}
	}
	var list []*replay.Request
	for i := range r.arms {
		list = append(list, r.arms[i].Request)
	}
	return list
}

// options gives the options of a take, with sources of its own.
// edits are of results that come later than its first request.
func (r *prepared) options(edits ...transcript.Edit) func() (replay.Options, func(), error) {
	return func() (replay.Options, func(), error) {
		all, used := edits, []*replay.Call(nil)
		if r.resumed != nil {
			all, used = append(slices.Clone(r.resumed.Edits), edits...), r.resumed.Used
		}
		sources, done, err := r.how.sources(context.Background(), r.tape, all, used)
		return replay.Options{Mode: r.mode, Sources: sources, Edits: edits, Limits: r.how.limits, Retries: usualRetries, Reason: r.reason, Resume: r.resumed}, done, err
	}
}

// errNoPrice says that a limit on cost could not be kept to.
var errNoPrice = errors.New("the price of the model is not known, so that a limit on cost could not be kept to; set one on tokens or requests instead")

// plan says what would be sent.
func (s *server) plan(p *replayPage, ready *prepared, typed []typedEdit) (*replayPlan, error) {
	req := ready.req
	b := newBudget()
	plan := &replayPlan{Host: req.Host(), Bytes: len(req.Body), Dropped: req.Dropped, Found: req.NewErrors(), Held: req.Held}
	plan.Edits = append(plannedEdits(b, req.Edits), plannedEdits(b, ready.later)...)
	slices.SortStableFunc(typed, func(a, b typedEdit) int { return min(len(a.Later), 1) - min(len(b.Later), 1) })
	for i := range plan.Edits {
		plan.Edits[i].Undo, plan.Edits[i].Later = typed[i].Undo, typed[i].Later
	}
	if !req.Held {
		plan.Besides = besides(b, req)
	}
	plan.Looks = ready.look.Name
	plan.Estimate = ready.estimate(s.prices)
	if usd := plan.Estimate.USD; usd != nil {
		plan.CostUSD = "$" + pricing.Rounded(usd)
	} else if p.How.limits.Cost != nil && slices.ContainsFunc(ready.requests(), func(r *replay.Request) bool { return !r.Local() }) {
		return nil, errNoPrice
	}
	if plan.Arms, plan.NoKey = s.planArms(ready); plan.Arms == nil {
		_, plan.Variable, plan.NoKey = s.keyOf(req)
	}
	return plan, nil
}

// estimate tells what all takes together are likely to use.
func (r *prepared) estimate(prices *pricing.Table) replay.Estimate {
	if r.arms == nil {
		return r.tape.Estimate(r.req, r.mode, r.how.limits.Steps, prices)
	}
	sum, n := replay.Estimate{USD: new(big.Rat)}, int64(r.takes)
	for i := range r.arms {
		e := r.tape.Estimate(r.arms[i].Request, r.mode, r.how.limits.Steps, prices)
		sum.Requests, sum.Input, sum.Output, sum.Guessed = sum.Requests+r.takes*e.Requests, sum.Input+n*e.Input, sum.Output+n*e.Output, sum.Guessed || e.Guessed
		switch {
		case e.USD == nil:
			sum.USD = nil
		case sum.USD != nil:
			sum.USD.Add(sum.USD, new(big.Rat).Mul(e.USD, new(big.Rat).SetInt64(n)))
		}
	}
	return sum
}

// mostBesides bounds how many further differences a plan lists.
const mostBesides = 40

// besides lists where the body differs from the recorded one and no edit says so.
func besides(b *budget, req *replay.Request) []valueDiff {
	diff, ok := transcript.DiffJSON(req.Recorded, req.Body)
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

// keyOf finds the key that a request needs, or says why there is none.
func (s *server) keyOf(req *replay.Request) (key, variable, missing string) {
	variable, key, err := req.Key(s.replaying.Key, "")
	switch {
	case errors.Is(err, replay.ErrNoVariable):
		missing = "The request goes to " + req.Host() + ", for which no key is known or which is not encrypted: inspect replay --key-env names one."
	case err != nil:
		missing = "No key: start this program with " + variable + " set."
	}
	return key, variable, missing
}
