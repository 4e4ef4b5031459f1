package replay

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
)

// Ready is a plan that was worked out: all that it says of what will be sent can be shown
// before anything is. It needs its keys before it is played.
type Ready struct {
	Plan    *Plan
	Mode    transcript.TakeMode
	Request *Request          // of one take; of a comparison the edited one, before it is sent anywhere else
	Losses  []dialect.Loss    // what a conversion of Request could not carry
	Later   []transcript.Edit // edits of results that come later than Request
	Found   []lint.Finding    // errors that the edits bring
	Resumed *Resumed          // the take that goes on; nil for none
	Arms    []Arm             // of a comparison, that of the control last
	// Recorded is the recorded answer of a comparison or minimisation, nil if it failed or
	// cannot be read; Predicate is what is looked at.
	Recorded  *transcript.Turn
	Predicate Predicate

	now    []transcript.Edit // made in Request
	edited *Request          // with these edits and nothing else done to it
	rest   *RecordedResults
}

// Arm is one of the things that are compared: the edited request, the unedited
// one, a request to another model.
type Arm struct {
	Name    string
	Request *Request
	Losses  []dialect.Loss // what a conversion could not carry
	// Options makes those of one take: sources serve a single take.
	Options func(ctx context.Context) (o Options, done func(), err error)
}

// Requests returns all requests that are sent first.
func (y *Ready) Requests() []*Request {
	if y.Arms == nil {
		return []*Request{y.Request}
	}
	list := make([]*Request, len(y.Arms))
	for i := range y.Arms {
		list[i] = y.Arms[i].Request
	}
	return list
}

// Local reports whether all requests go to servers on this machine.
func (y *Ready) Local() bool {
	return !slices.ContainsFunc(y.Requests(), func(r *Request) bool { return !r.Local() })
}

// SetKeys sets the key of each request that needs one, from the environment: that of the
// named variable, or of the host's own if variable is "". A KeyError says which is missing.
func (y *Ready) SetKeys(getenv func(string) string, variable string) error {
	for _, r := range y.Requests() {
		name, key, err := r.Key(getenv, variable)
		if err != nil {
			return &KeyError{r.Host(), name, err}
		}
		if err := r.SetKey(key); err != nil {
			return err
		}
	}
	return nil
}

// Estimate returns what all takes together are likely to use.
func (y *Ready) Estimate(prices *pricing.Table) Estimate {
	if y.Arms == nil {
		return y.rest.Estimate(y.Request, y.Mode, y.Plan.Limits.Steps, prices)
	}
	sum, n := Estimate{USD: new(big.Rat)}, int64(y.Plan.Takes)
	for i := range y.Arms {
		e := y.rest.Estimate(y.Arms[i].Request, y.Mode, y.Plan.Limits.Steps, prices)
		sum.Requests, sum.Input, sum.Output, sum.Guessed = sum.Requests+y.Plan.Takes*e.Requests, sum.Input+n*e.Input, sum.Output+n*e.Output, sum.Guessed || e.Guessed
		switch {
		case e.USD == nil:
			sum.USD = nil
		case sum.USD != nil:
			sum.USD.Add(sum.USD, new(big.Rat).Mul(e.USD, new(big.Rat).SetInt64(n)))
		}
	}
	return sum
}

// Options opens the sources of one take and returns how it is played. done closes them.
func (y *Ready) Options(ctx context.Context) (o Options, done func(), err error) {
	return y.options(ctx, y.Later)
}

func (y *Ready) options(ctx context.Context, later []transcript.Edit) (Options, func(), error) {
	sources, done, err := y.open(ctx, later)
	p := y.Plan
	return Options{Mode: y.Mode, Sources: sources, Edits: later, Limits: p.Limits, Retries: p.Retries, Reason: p.Reason, Resume: y.Resumed}, done, err
}

// Play plays one take.
func (y *Ready) Play(ctx context.Context, p *Player, progress func(Event)) (*Take, error) {
	o, done, err := y.Options(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	o.Progress = progress
	return p.Play(ctx, y.Request, o)
}

// Placeholder is a result that stands in for that of a source that was not run.
type Placeholder struct {
	Call   *Call
	Source transcript.Source
}

// Next returns the request that is sent first when a take is resumed. No source runs:
// placeholders stand for the results of those that would.
func (y *Ready) Next(ctx context.Context, r transcript.Reader) (*Request, []Placeholder, error) {
	var stood []Placeholder
	req, err := y.Resumed.Next(ctx, r, y.Request, y.placeholders(&stood), y.Later)
	return req, stood, err
}

// compare makes the arms: one for each of several targets, else the edited request and
// the one that was recorded.
func (y *Ready) compare(ctx context.Context, r transcript.Reader, o *original) error {
	p := y.Plan
	if err := y.expect(ctx, r); err != nil {
		return err
	}
	if !p.Once {
		y.Mode = y.Predicate.Mode
	}
	if y.Mode == transcript.Once && len(y.Later) > 0 {
		return &EditError{y.Later[0], ErrAfterAnswer}
	}
	if len(p.Targets) > 1 {
		for i := range p.Targets {
			t := p.target(i)
			if err := y.arm(ctx, r, o, t.Name(), y.asking(t.Model), y.Later, t); err != nil {
				return fmt.Errorf("%s: %w", t.Name(), err)
			}
		}
		return nil
	}
	// A server that stands in for the recorded one does so for the control, too.
	t, control := p.target(0), Target{Upstream: p.Upstream}
	edits := y.now
	if t.Model != "" {
		edits = y.asking(t.Model)
	}
	if t.Model = ""; len(edits)+len(y.Later) > 0 || t != control {
		if err := y.arm(ctx, r, o, "edited", edits, y.Later, t); err != nil {
			return err
		}
	}
	return y.arm(ctx, r, o, Control, nil, nil, control)
}

// Control names the arm that is sent as it was recorded.
const Control = "control"

// asking returns the edits with one that asks a model, unless they do.
func (y *Ready) asking(model string) []transcript.Edit {
	if slices.ContainsFunc(y.now, func(e transcript.Edit) bool { return e.Op == transcript.SetModel && e.Text == model }) {
		return y.now
	}
	return append(slices.Clone(y.now), transcript.Edit{Op: transcript.SetModel, Text: model})
}

func (y *Ready) arm(ctx context.Context, r transcript.Reader, o *original, name string, edits, later []transcript.Edit, t Target) error {
	req, err := y.edited.clone(), error(nil)
	if len(edits) != len(y.now) { // edits are added, or left out
		if req, err = o.request(ctx, r, edits); err != nil {
			return err
		}
	}
	if y.Request.Held { // arms have to differ in what is compared alone
		if err := req.Whole(ctx, r); err != nil {
			return err
		}
	}
	losses, err := t.Aim(ctx, r, req)
	if err != nil {
		return err
	}
	y.Arms = append(y.Arms, Arm{Name: name, Request: req, Losses: losses, Options: func(ctx context.Context) (Options, func(), error) {
		return y.options(ctx, later)
	}})
	return nil
}

// expect reads the recorded answer and says what is looked at.
func (y *Ready) expect(ctx context.Context, r transcript.Reader) (err error) {
	if y.Recorded, err = RecordedAnswer(ctx, r, y.Request.Origin); err != nil {
		return err
	}
	if y.Plan.Minimise {
		y.Predicate, err = y.Plan.Expect.inAnswer(y.Recorded)
	} else {
		y.Predicate, err = y.Plan.Expect.inTake(y.Recorded)
	}
	return err
}

// Line returns the exchange that is replayed and those that went on from it in the
// recording, oldest first.
func (y *Ready) Line() []*transcript.Exchange { return y.rest.Line() }
