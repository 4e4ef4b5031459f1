package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// Plan says what a replay will be. Flags, a form and Go code fill it alike; Prepare works
// it out.
type Plan struct {
	// Origin is the recorded step that is sent again. Alternatively Steps are the exchanges
	// of an agent's steps: the one whose request introduces the first edited result is
	// replayed, else the first one. Alternatively Resume is a take that goes on.
	Origin *transcript.Exchange
	Steps  []string
	Resume *transcript.Take

	// Edits are made in the order given. A call may be named by a unique part of its id.
	// Edits of results that the recording introduced after the origin wait until the take
	// gets there.
	Edits []transcript.Edit
	Later []transcript.Edit // edits that are known to be such
	// ByHand, if set, returns further edits, given the body that the others make.
	ByHand func(ctx context.Context, body []byte) ([]transcript.Edit, error)

	Upstream string   // a server or provider that stands in for the recorded one
	Targets  []Target // what is asked; several are compared; none: what was recorded

	Once    bool         // send this one step; no tool runs
	Sources []SourceSpec // asked in this order for tool results; nil: edits, then the recording
	Limits  Limits       // of each take; of a comparison the cost is that of all takes
	Retries int          // how often a request is sent again that was refused for now
	Reason  string       // why, in a user's words

	Takes    int    // of each arm of a comparison; 0: one take
	Expect   Expect // what a comparison counts, or a minimisation keeps
	Minimise bool   // the plan is for a minimisation: see replay/minimise

	Rest *RecordedResults // what the recording went on with, if it has been read
}

// EditError says why a plan cannot have an edit.
type EditError struct {
	Edit transcript.Edit
	Err  error
}

func (e *EditError) Error() string { return nameOf(&e.Edit) + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *EditError) Unwrap() error { return e.Err }

// Reasons why a plan cannot be.
var (
	ErrNoSteps      = errors.New("there is no step to replay")
	ErrLaterResult  = errors.New("that result comes later than this one step")
	ErrAfterAnswer  = errors.New("that result comes after the answer that is looked at")
	ErrResumeEdits  = errors.New("a take goes on with what was sent: only results of open calls can be set")
	ErrOtherDialect = errors.New("goes on in the dialect of the take")
)

// ManyCallsError says that a part of a call id fits several.
type ManyCallsError struct {
	N    int
	Open bool // only open calls were looked at
}

func (e *ManyCallsError) Error() string {
	if e.Open {
		return fmt.Sprintf("fits %d open calls; give more of it", e.N)
	}
	return fmt.Sprintf("fits %d call ids; give more of it", e.N)
}

// NoOpenCallError says that a take has no such open call.
type NoOpenCallError struct{ Open []*Call }

func (e *NoOpenCallError) Error() string { return "no such open call" }

// Prepare works a plan out: it finds the calls that are edited, builds the requests and
// says what is wrong with them. Nothing is sent and nothing is written. A step found
// among Steps is kept in Origin.
func (p *Plan) Prepare(ctx context.Context, r transcript.Reader) (*Ready, error) {
	y := &Ready{Plan: p, Mode: transcript.Continue, rest: p.Rest}
	if p.Once {
		y.Mode = transcript.Once
	}
	if p.Resume != nil {
		if err := y.resume(ctx, r); err != nil {
			return nil, err
		}
		if err := y.aim(ctx, r); err != nil {
			return nil, err
		}
		y.decode()
		return y, nil
	}
	if p.Origin == nil {
		var err error
		if p.Origin, err = p.step(ctx, r); err != nil {
			return nil, err
		}
	}
	o, err := readOriginal(ctx, r, p.Origin)
	if err != nil {
		return nil, err
	}
	if err := y.build(ctx, r, o); err != nil {
		return nil, err
	}
	switch {
	case p.Takes > 0:
		err = y.compare(ctx, r, o)
	case p.Minimise:
		if err = y.expect(ctx, r); err == nil {
			err = y.aim(ctx, r)
		}
	default:
		err = y.aim(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	y.decode()
	return y, nil
}

// decode lets the takes of a request share what it decodes to.
func (y *Ready) decode() {
	for _, r := range y.Requests() {
		_, _ = r.decoded() // one that cannot be decoded is sent as it is
	}
}

// step returns the exchange among Steps that is replayed.
func (p *Plan) step(ctx context.Context, r transcript.Reader) (*transcript.Exchange, error) {
	if len(p.Steps) == 0 {
		return nil, ErrNoSteps
	}
	first := p.Steps[0]
	for _, id := range slices.Backward(p.Steps) {
		rows, err := r.IntroducedResults(ctx, id)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if slices.ContainsFunc(p.Edits, func(e transcript.Edit) bool { return e.CallID != "" && strings.Contains(row.CallID, e.CallID) }) {
				first = id
			}
		}
	}
	return r.Exchange(ctx, first)
}

// build makes the request with the edits that it takes.
func (y *Ready) build(ctx context.Context, r transcript.Reader, o *original) error {
	p := y.Plan
	if y.rest == nil && (!p.Minimise || len(p.Edits) > 0) {
		var err error
		if y.rest, err = ReadRecorded(ctx, r, p.Origin); err != nil {
			return err
		}
	}
	if err := y.split(ctx, r, o); err != nil {
		return err
	}
	if p.ByHand != nil {
		if err := y.byHand(ctx, r, o); err != nil {
			return err
		}
	}
	var err error
	if y.Request, err = o.request(ctx, r, y.now); err != nil {
		return err
	}
	y.edited = y.Request.clone()
	if !p.Once {
		if err := y.Request.StandAlone(ctx, r); err != nil {
			return err
		}
	}
	y.Found = y.Request.NewErrors()
	return nil
}

// split completes call ids, and separates the edits of the request from those of results
// that the recording went on with.
func (y *Ready) split(ctx context.Context, r transcript.Reader, o *original) error {
	y.Later = slices.Clone(y.Plan.Later)
	if !slices.ContainsFunc(y.Plan.Edits, func(e transcript.Edit) bool { return e.CallID != "" }) {
		y.now = y.Plan.Edits
	} else {
		whole, err := o.whole(ctx, r)
		if err != nil {
			return err
		}
		for _, e := range y.Plan.Edits {
			later := false
			if e.CallID != "" {
				if later, err = y.complete(&e, whole.turn().Input); err != nil {
					return err
				}
			}
			if later {
				y.Later = append(y.Later, e)
			} else {
				y.now = append(y.now, e)
			}
		}
	}
	if y.Plan.Once && len(y.Later) > 0 {
		return &EditError{y.Later[0], ErrLaterResult}
	}
	return nil
}

// complete completes the call id of an edit, and reports whether its result comes later.
// An id that fits nothing stays as it is.
func (y *Ready) complete(e *transcript.Edit, history []transcript.Item) (later bool, err error) {
	kind := transcript.ToolResult
	if e.Op == transcript.SetArgs {
		kind = transcript.ToolCall
	}
	fits := map[string]bool{} // whether it comes later
	for i := range history {
		if it := &history[i]; it.Kind == kind && IsCallID(it.CallID, e.CallID) {
			fits[it.CallID] = false
		}
	}
	for _, id := range y.rest.CallIDs() {
		if _, here := fits[id]; !here && kind == transcript.ToolResult && IsCallID(id, e.CallID) {
			fits[id] = true
		}
	}
	if later, ok := fits[e.CallID]; ok || len(fits) == 0 {
		return later, nil
	}
	if len(fits) > 1 {
		return false, &EditError{*e, &ManyCallsError{N: len(fits)}}
	}
	for id, comes := range fits {
		e.CallID, later = id, comes
	}
	return later, nil
}

// byHand adds the edits that a person makes in the body that the other edits made.
func (y *Ready) byHand(ctx context.Context, r transcript.Reader, o *original) error {
	body, err := o.whole(ctx, r)
	if err != nil {
		return err
	}
	if len(y.now) > 0 {
		if body, err = apply(body, slices.Clone(y.now)); err != nil {
			return err
		}
	}
	edits, err := y.Plan.ByHand(ctx, body.body)
	y.now = append(slices.Clone(y.now), edits...)
	return err
}

// resume makes the request with which a take continues.
func (y *Ready) resume(ctx context.Context, r transcript.Reader) (err error) {
	p := y.Plan
	if y.Request, y.Resumed, err = Resume(ctx, r, p.Resume); err != nil {
		return err
	}
	if y.rest == nil {
		if y.rest, err = ReadRecorded(ctx, r, y.Request.Origin); err != nil {
			return err
		}
	}
	if p.ByHand != nil {
		return ErrResumeEdits
	}
	return y.SetResults(append(slices.Clone(p.Edits), p.Later...))
}

// SetResults sets the results of a resumed take's open calls, and of calls that the
// recording continues with. A call may be named by a unique part of its id.
func (y *Ready) SetResults(edits []transcript.Edit) error {
	edits = slices.Clone(edits)
	for i := range edits {
		e := &edits[i]
		if e.Op != transcript.SetResult {
			return &EditError{*e, ErrResumeEdits}
		}
		var fits []string
		for _, c := range y.Resumed.Calls {
			if IsCallID(c.CallID, e.CallID) && !slices.Contains(fits, c.CallID) {
				fits = append(fits, c.CallID)
			}
		}
		switch {
		case slices.Contains(fits, e.CallID) || y.rest.Has(e.CallID):
		case len(fits) == 1:
			e.CallID = fits[0]
		case len(fits) > 1:
			return &EditError{*e, &ManyCallsError{len(fits), true}}
		default:
			return &EditError{*e, &NoOpenCallError{y.Resumed.Calls}}
		}
	}
	y.Later = edits
	return nil
}

// target returns where the n-th target leads, the plan's own server included.
func (p *Plan) target(n int) Target {
	t := Target{}
	if n < len(p.Targets) {
		t = p.Targets[n]
	}
	if t.Upstream == "" {
		t.Upstream = p.Upstream
	}
	return t
}

// aim sends the request of one take to its target.
func (y *Ready) aim(ctx context.Context, r transcript.Reader) (err error) {
	t, spoke := y.Plan.target(0), y.Request.Speaks()
	if y.Losses, err = t.Aim(ctx, r, y.Request); err != nil {
		return err
	}
	if y.Resumed != nil && y.Request.Speaks() != spoke {
		return fmt.Errorf("%w, %s", ErrOtherDialect, spoke)
	}
	return nil
}
