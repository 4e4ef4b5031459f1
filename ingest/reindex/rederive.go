package reindex

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/retake-debugger/retake/ingest/decode"
	"github.com/retake-debugger/retake/ingest/link"
	"github.com/retake-debugger/retake/transcript"
)

// lenience says what of a link is taken as it is stored, because what it was
// derived from may not be there any more.
type lenience struct {
	choice  bool // the one chosen of several parents that fit as well
	removed bool // exchanges were removed: whatever they proved
}

// rederive derives again what an exchange means, from its bodies and what was
// stored before it.
func rederive(ctx context.Context, past transcript.Past, old *transcript.Exchange, d *decode.Decoded, allow lenience) (*draft, error) {
	dr := &draft{Past: past, ctx: ctx, old: old}
	d.Exchange.Link.AsOf = old.Link.AsOf
	parent, err := dr.relink(d, allow)
	if err != nil {
		return nil, err
	}
	d.Exchange.Results = len(link.NewResults(&d.Subject))
	if err := link.PutCalls(ctx, dr, &d.Subject, parent); err != nil {
		return nil, err
	}
	dr.exchange = d.Exchange
	if allow.removed {
		err = dr.keepIntroduced()
	}
	return dr, err
}

// rederiveAsOf derives an exchange again as if it had come once the exchange with
// that number was known; 0: once those were that it was linked by.
func rederiveAsOf(ctx context.Context, r transcript.Reader, e *transcript.Exchange, d *decode.Decoded, asOf int64, allow lenience) (*draft, error) {
	old := *e
	if asOf > e.N {
		old.Link.AsOf = max(old.Link.AsOf, asOf)
	}
	dr, err := rederive(ctx, r.Before(known(&old)+1), &old, d, allow)
	if err != nil {
		return nil, err
	}
	dr.old, dr.exchange.Link.AsOf = e, e.Link.AsOf
	return dr, nil
}

// relink links an exchange again. A link to an exchange that was removed stays,
// and so does any other where exchanges were removed and no stronger one is
// found: what proved it may be gone.
func (d *draft) relink(now *decode.Decoded, allow lenience) (*transcript.Exchange, error) {
	stored, l := &d.old.Link, &now.Exchange.Link
	was, err := d.storedParent()
	if errors.Is(err, transcript.ErrNotFound) {
		keepLink(now, stored, false)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	parent, err := link.Find(d.ctx, d, &now.Subject, decode.Turn)
	if err != nil {
		return nil, err
	}
	if linked := stored.Agent != "" || stored.Side; allow.removed && linked && !stronger(l, stored) {
		keepLink(now, stored, true)
		now.Pending = nil
		d.needsRun, d.newAgent, d.parentCall, d.aside, d.names = false, nil, nil, nil, nil
		return was, nil
	}
	d.keepSide(now)
	if allow.choice && parent != nil && was != nil && was.N <= known(d.old) && l.By == stored.By && l.Shared == stored.Shared && !l.ServerHeld() {
		keepLink(now, stored, true)
		parent = was
	}
	return parent, nil
}

// storedParent gives the exchange that the stored link names; nil if it names
// none, ErrNotFound if that one was removed.
func (d *draft) storedParent() (*transcript.Exchange, error) {
	if d.old.Link.Parent == "" {
		return nil, nil
	}
	return d.Exchange(d.ctx, d.old.Link.Parent)
}

// stronger tells whether a link says more than a stored one.
func stronger(now, stored *transcript.Link) bool {
	return now.Parent != "" && (stored.Parent == "" || now.Shared > stored.Shared)
}

// keepLink takes over a stored link. The nodes are those that were derived if
// the history begins where the stored one does. Where the provider holds it and
// the exchange before was removed, it is known by its nodes alone.
func keepLink(d *decode.Decoded, stored *transcript.Link, derived bool) {
	l := &d.Exchange.Link
	now := *l
	switch held := stored.ServerHeld(); {
	case derived && held == now.ServerHeld():
	case held:
		now = *stored
	default:
		link.Place(&d.Subject, transcript.Node{}, 0, transcript.Chain(transcript.Node{}, d.Keys))
		now = *l
	}
	*l = *stored
	l.InNode, l.OutNode, l.InLen, l.OutLen = now.InNode, now.OutNode, now.InLen, now.OutLen
}

// keepSide leaves a first request aside that a later one has put there.
func (d *draft) keepSide(now *decode.Decoded) {
	e := now.Exchange
	if d.old.Link.Side && e.Link.Parent == "" && e.Tools == 0 && e.Calls == 0 {
		e.Link.Side, e.Link.Agent, e.Link.Step, e.Link.Attempt = true, "", 0, 0
		d.newAgent = nil
	}
}

// draft is a transaction about one stored exchange that keeps what would be
// written. It reads what was there when the exchange came.
type draft struct {
	transcript.Past
	ctx               context.Context
	old               *transcript.Exchange
	exchange          *transcript.Exchange
	calls, introduced []transcript.CallRow
	needsRun          bool              // it begins a run that is not there yet
	aside             []string          // exchanges that turned out to be side calls
	names             []string          // what the client calls its run
	newAgent          *transcript.Agent // it begins an agent that is not there yet
	parentCall        *transcript.Place // of its agent, where another one is stored or none
	hints             []transcript.Hint
}

var errDraft = errors.New("not a part of deriving again")

func (d *draft) HasExchange(string) (bool, error)       { return false, errDraft }
func (d *draft) PutExchange(*transcript.Exchange) error { return errDraft }
func (d *draft) PutTake(*transcript.Take) error         { return errDraft }
func (d *draft) SetNote(string, string) error           { return errDraft }
func (d *draft) DropTexts(string) error                 { return errDraft }
func (d *draft) DropAllTexts() error                    { return errDraft }
func (d *draft) TidyTexts() (bool, error)               { return false, errDraft }
func (d *draft) PutMarks(string, *transcript.Marks) error {
	return errDraft
}
func (d *draft) PutOverride(*transcript.Override) error { return errDraft }
func (d *draft) DropOverride(string) (bool, error)      { return false, errDraft }
func (d *draft) PutTexts(transcript.SearchTexts) (bool, error) {
	return false, errDraft
}
func (d *draft) PutDerived(*transcript.Exchange, []transcript.CallRow, []transcript.CallRow) error {
	return errDraft
}
func (d *draft) PutBody(iter.Seq2[[]byte, error]) (transcript.BodyID, error) { return 0, errDraft }
func (d *draft) PutSegments(iter.Seq2[transcript.Segment, error]) (transcript.BodyID, error) {
	return 0, errDraft
}

// PutHint keeps by what the exchange is to be found.
func (d *draft) PutHint(value transcript.Key, _, at string) error {
	d.hints = append(d.hints, transcript.Hint{Value: value, At: at})
	return nil
}

// SetSide keeps what turned out to stand aside.
func (d *draft) SetSide(exchange string) error {
	d.aside = append(d.aside, exchange)
	return nil
}

// BindRun keeps the name for a run that is another now.
func (d *draft) BindRun(key, _ string) error {
	d.names = append(d.names, key)
	return nil
}

// Extended tells whether another exchange continues the one with that id.
func (d *draft) Extended(id string) (bool, error) {
	children, err := d.Children(d.ctx, id)
	if err != nil && !errors.Is(err, transcript.ErrDamaged) {
		return false, err
	}
	for _, c := range children {
		if c.ID != d.old.ID && c.N <= known(d.old) {
			return true, nil
		}
	}
	return false, nil
}

// PutAgent gives the agent that the exchange began when it came, if it did.
func (d *draft) PutAgent(a *transcript.Agent) error {
	stored, err := d.Agent(d.ctx, d.old.Link.Agent)
	if err != nil && !errors.Is(err, transcript.ErrNotFound) {
		return err
	}
	if err == nil && stored.Run == a.Run && stored.Key == a.Key && stored.Main == a.Main {
		begun, err := d.begunBefore(stored)
		if err != nil {
			return err
		}
		if !begun {
			a.ID = stored.ID
			return nil
		}
	}
	d.newAgent = a
	return nil
}

// SetParentCall keeps the call that started the exchange's agent.
func (d *draft) SetParentCall(_ string, call transcript.Place) error {
	d.parentCall = &call
	return nil
}

// begunBefore tells whether somebody else made an agent's first step.
func (d *draft) begunBefore(a *transcript.Agent) (bool, error) {
	for e, err := range d.Exchanges(d.ctx, transcript.Filter{Run: a.Run, Before: d.old.N}) {
		if err != nil && !errors.Is(err, transcript.ErrDamaged) {
			return false, err
		}
		if err == nil && e.Link.Agent == a.ID && !e.BeganAfter(d.old) {
			return true, nil
		}
	}
	return false, nil
}

// RunByLabel gives the run that the exchange is in: its label does not change.
func (d *draft) RunByLabel(string, time.Time) (*transcript.Run, error) {
	return &transcript.Run{ID: d.old.Link.Run}, nil
}

// NewRun gives the run that the exchange began when it came, if it did.
func (d *draft) NewRun(at time.Time) (*transcript.Run, error) {
	id := d.old.Link.Run
	if id != "" {
		run, err := d.Run(d.ctx, id)
		if err != nil && !errors.Is(err, transcript.ErrNotFound) {
			return nil, err
		}
		for e, err := range d.Exchanges(d.ctx, transcript.Filter{Run: id, Before: d.old.N}) {
			if err != nil && !errors.Is(err, transcript.ErrDamaged) {
				return nil, err
			}
			if err == nil && !e.BeganAfter(d.old) {
				run = nil // somebody else began it
				break
			}
		}
		if run != nil && run.Name == "" {
			return run, nil
		}
	}
	d.needsRun = true
	return &transcript.Run{StartedAt: at}, nil
}

func (d *draft) PutCall(c transcript.CallRow) error {
	d.calls = append(d.calls, c)
	return nil
}

func (d *draft) PutResult(exchange, at string, r transcript.ResultRow) error {
	d.introduced = append(d.introduced, transcript.CallRow{Exchange: exchange, At: at, Results: []transcript.ResultRow{r}})
	return nil
}

// keepIntroduced adds the stored results whose calls could not be found again.
func (d *draft) keepIntroduced() error {
	stored, err := d.IntroducedResults(d.ctx, d.old.ID)
	if err != nil {
		return err
	}
	have := flat(d.introduced)
	for _, c := range stored {
		for _, r := range c.Results {
			if !slices.ContainsFunc(have, func(b introducedResult) bool { return b.at == r.At }) {
				d.introduced = append(d.introduced, transcript.CallRow{Exchange: c.Exchange, At: c.At, Results: []transcript.ResultRow{r}})
			}
		}
	}
	return nil
}

// introducedResult is one result and the call that it answers.
type introducedResult struct {
	call, callAt, at, by string
	latency              float64 // -1: not known
	isError              bool
}

func flat(rows []transcript.CallRow) []introducedResult {
	var list []introducedResult
	for _, c := range rows {
		for _, r := range c.Results {
			b := introducedResult{c.Exchange, c.At, r.At, r.By, -1, r.IsError}
			if r.LatencyMS != nil {
				b.latency = *r.LatencyMS
			}
			list = append(list, b)
		}
	}
	return list
}
