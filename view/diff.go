package view

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
)

// Diff compares two conversations: two runs, two exchanges with their histories, or
// one of each. Acts are aligned by content, not by position.
type Diff struct {
	A, B       Side                  `json:"-"`
	Sides      [2]*Side              `json:"sides"`
	Same       int                   `json:"same"`
	Changed    int                   `json:"changed"`
	Added      int                   `json:"added"`
	Removed    int                   `json:"removed"`
	Before     int                   `json:"before,omitempty"` // for a take: the common acts at the beginning, which are left out
	Divergence *int                  `json:"first_divergence"` // index of the first act that differs; nil for none
	Acts       []DiffAct             `json:"acts"`
	Tools      []ToolDiff            `json:"tools"`      // differing tools of the first steps
	Parameters []analysis.Difference `json:"parameters"` // of the first steps
	Ignored    []Ignored             `json:"ignored"`    // differences that do not count
}

// Side is one of the two conversations.
type Side struct {
	Ref        string               `json:"ref"`
	Name       string               `json:"name"`
	Models     []string             `json:"models"`
	Dialects   []transcript.Dialect `json:"dialects"`
	Steps      int                  `json:"steps"`
	Calls      int                  `json:"calls"`
	Errors     int                  `json:"errors"`
	Usage      *transcript.Usage    `json:"usage"`
	CostUSD    *string              `json:"cost_usd"`
	LowerBound bool                 `json:"cost_is_lower_bound"`
	DurationMS *float64             `json:"duration_ms"`
	End        string               `json:"end"` // finish reason of the last step, or how it failed
	acts       []act
	tools      []transcript.Item
	thought    bool // it contains reasoning
	parameters map[string]json.RawMessage
}

// DiffAct is one line of a diff.
type DiffAct struct {
	Fate      analysis.Fate         `json:"fate"`
	Moved     bool                  `json:"moved,omitempty"` // it has another position on the other side
	Kind      transcript.Kind       `json:"kind"`
	Role      string                `json:"role"`
	Name      string                `json:"name"`
	A         *ActRef               `json:"a"`                   // nil if added
	B         *ActRef               `json:"b"`                   // nil if removed
	Text      []analysis.Span       `json:"text,omitempty"`      // for a changed text
	Arguments []analysis.Difference `json:"arguments,omitempty"` // that changed
	Result    *ResultDiff           `json:"result,omitempty"`
}

// ActRef is one side of a line: its place and, if the sides differ, its content.
type ActRef struct {
	Step     string           `json:"step"`
	Exchange string           `json:"exchange"`
	At       string           `json:"at"`
	CallID   string           `json:"call_id"`
	Depth    int              `json:"depth"`
	Item     *transcript.Item `json:"item,omitempty"`
	Result   *transcript.Item `json:"result,omitempty"`
}

// ResultDiff describes how two results of the same call differ.
type ResultDiff struct {
	WasMissing bool                  `json:"was_missing,omitempty"`
	NowMissing bool                  `json:"now_missing,omitempty"`
	WasError   bool                  `json:"was_error"`
	NowError   bool                  `json:"now_error"`
	Text       []analysis.Span       `json:"text,omitempty"`
	Values     []analysis.Difference `json:"values,omitempty"` // if both are JSON
}

// ToolDiff is a tool that only one side offers, or that both define differently.
type ToolDiff struct {
	Name   string                `json:"name"`
	Fate   analysis.Fate         `json:"fate"`
	Values []analysis.Difference `json:"values,omitempty"`
}

// Ignored is a kind of difference that does not matter.
type Ignored struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}

// Differs reports whether there are differences that are not ignored.
func (d *Diff) Differs() bool {
	return d.Changed+d.Added+d.Removed+len(d.Tools)+len(d.Parameters) > 0
}

// DiffOptions say what counts.
type DiffOptions struct {
	Exact     bool // timestamps and generated ids in system prompts and results count
	Reasoning bool // reasoning counts
	Prices    *pricing.Table
}

// NewDiff compares two targets. A run stands for everything it did except its
// branches, a step or an exchange for its context and its answer.
func NewDiff(ctx context.Context, r transcript.Reader, a, b *Target, o DiffOptions, now time.Time) (*Diff, error) {
	d := &Diff{}
	d.Sides = [2]*Side{&d.A, &d.B}
	var errs [2]error
	var both sync.WaitGroup
	for i, t := range []*Target{a, b} {
		both.Go(func() { errs[i] = d.Sides[i].read(ctx, r, t, o, now) })
	}
	both.Wait()
	if err := cmp.Or(errs[0], errs[1]); err != nil {
		return nil, err
	}
	d.compare(o)
	return d, nil
}

// NewRequestDiff compares the request of an exchange with everything that the
// exchange before it sent and received. ErrNotFound if there is none.
func NewRequestDiff(ctx context.Context, r transcript.Reader, e *transcript.Exchange, o DiffOptions) (*Diff, error) {
	if e.Link.Parent == "" {
		return nil, fmt.Errorf("request before %s: %w", Ref(e.N), transcript.ErrNotFound)
	}
	before, err := r.Exchange(ctx, e.Link.Parent)
	if err != nil {
		return nil, fmt.Errorf("read exchange before %s: %w", Ref(e.N), err)
	}
	d := &Diff{}
	d.Sides = [2]*Side{&d.A, &d.B}
	for i, e := range []*transcript.Exchange{before, e} {
		if err := d.Sides[i].readExchange(ctx, r, e, o); err != nil {
			return nil, err
		}
	}
	d.B.acts = slices.DeleteFunc(d.B.acts, func(a act) bool { return a.from == e.ID && a.said })
	for i := range d.A.acts { // results of later requests are no part of this one
		if a := &d.A.acts[i]; a.from == before.ID && a.said {
			a.Result = nil
		}
	}
	o.Exact = true
	d.compare(o)
	return d, nil
}

func (s *Side) read(ctx context.Context, r transcript.Reader, t *Target, o DiffOptions, now time.Time) error {
	if t.Exchange != nil {
		err := s.readExchange(ctx, r, t.Exchange, o)
		if t.Take != nil {
			s.Name = strings.TrimSpace(TakeRef(t.Take.N)+" "+t.Take.Arm) + " · " + s.Name
		}
		return err
	}
	run, err := NewRun(ctx, r, t.Run, now)
	if err != nil {
		return err
	}
	if o.Prices != nil {
		run.Price(o.Prices)
	}
	s.Ref, s.Name, s.Models, s.Steps, s.Calls, s.Errors = run.Ref(), run.Title(), run.Models, run.Counts.Steps, run.Counts.Calls, run.Counts.Errors
	s.Usage, s.CostUSD, s.LowerBound, s.DurationMS = run.Usage, run.CostUSD, run.CostIsLowerBound, run.DurationMS
	a := acting{run: run, ctx: ctx, reader: r, reasoning: o.Reasoning}
	if t.Agent > 0 {
		s.Ref = run.Agents[t.Agent-1].Ref
		a.only = run.Agents[t.Agent-1]
	}
	if s.acts, err = a.all(); err != nil {
		return err
	}
	s.thought = a.thought
	for _, agent := range run.Agents {
		for _, step := range agent.Steps {
			if !slices.Contains(s.Dialects, step.exchange.Dialect) {
				s.Dialects = append(s.Dialects, step.exchange.Dialect)
			}
		}
	}
	if mains := run.Main(); len(mains) > 0 && len(mains[0].Steps) > 0 {
		steps := mains[0].Steps
		s.End = endOf(steps[len(steps)-1].exchange)
		return s.readSettings(ctx, r, steps[0].exchange)
	}
	return nil
}

func endOf(e *transcript.Exchange) string {
	switch {
	case e.Outcome != transcript.OK:
		return string(e.Outcome)
	case isPartial(e):
		return "partial"
	}
	return e.FinishReason
}

// readSettings reads tools and parameters of a request.
func (s *Side) readSettings(ctx context.Context, r transcript.Reader, e *transcript.Exchange) error {
	turn, err := history.Decode(ctx, r, e)
	if err != nil {
		return ignoreLost(err)
	}
	s.setSettings(turn.Input, turn.Parameters)
	return nil
}

func (s *Side) setSettings(input []transcript.Item, parameters map[string]json.RawMessage) {
	s.parameters = parameters
	for i := range input {
		if input[i].Kind == transcript.ToolDefinition {
			s.tools = append(s.tools, input[i])
		}
	}
}

func (s *Side) readExchange(ctx context.Context, r transcript.Reader, e *transcript.Exchange, o DiffOptions) error {
	t, _, err := newTranscript(ctx, r, e)
	if err != nil {
		return err
	}
	if o.Prices != nil {
		t.Exchange.Price(o.Prices)
	}
	row := &t.Exchange.Row
	s.Ref, s.Name, s.Models, s.Dialects, s.Steps, s.Calls = row.Ref(), row.Preview, []string{cmp.Or(row.ResponseModel, row.Model)}, []transcript.Dialect{e.Dialect}, 1, row.Calls
	s.Usage, s.CostUSD, s.DurationMS, s.End = row.Usage, row.CostUSD, row.Timing.DurationMS, endOf(e)
	if row.Failed() {
		s.Errors = 1
	}
	s.acts = transcriptActs(t, o.Reasoning)
	s.thought = slices.ContainsFunc(t.Entries, func(e Entry) bool { return e.Item.Kind == transcript.Reasoning })
	return s.readSettings(ctx, r, e)
}

// compare fills the diff from its sides.
func (d *Diff) compare(o DiffOptions) {
	oneAPI := slices.Equal(d.A.Dialects, d.B.Dialects)
	count := analysis.Sameness{Exact: o.Exact, Errors: oneAPI, Parts: oneAPI}
	d.Acts, d.Tools, d.Parameters, d.Ignored = []DiffAct{}, []ToolDiff{}, []analysis.Difference{}, []Ignored{}
	noise := noises{}
	for i, l := range analysis.AlignActs(plainActs(d.A.acts), plainActs(d.B.acts), count) {
		d.Acts = append(d.Acts, d.act(l, o.Exact, noise))
		switch l.Fate {
		case analysis.Same:
			d.Same++
			continue
		case analysis.Changed:
			d.Changed++
		case analysis.Added:
			d.Added++
		case analysis.Removed:
			d.Removed++
		}
		if d.Divergence == nil {
			d.Divergence = &i
		}
	}
	d.Tools = diffTools(d.A.tools, d.B.tools, oneAPI, noise)
	d.Parameters = diffParameters(d.A.parameters, d.B.parameters, oneAPI, noise)
	if !oneAPI {
		noise["what only one of the two APIs can say: error marks, the form of what is not text, names of parameters"]++
	}
	if !o.Reasoning && (d.A.thought || d.B.thought) {
		noise["reasoning (--reasoning compares it)"]++
	}
	d.Ignored = noise.list()
}

func plainActs(list []act) []analysis.Act {
	out := make([]analysis.Act, len(list))
	for i := range list {
		out[i] = list[i].Act
	}
	return out
}

// act describes the differences of one line.
func (d *Diff) act(l analysis.Aligned, exact bool, noise noises) DiffAct {
	v := DiffAct{Fate: l.Fate, Moved: l.Moved}
	var a, b *act
	if l.A >= 0 {
		a = &d.A.acts[l.A]
		v.A, v.Kind, v.Role, v.Name = a.sideOf(l.Fate), a.Item.Kind, a.Item.Role, a.Item.Name
	}
	if l.B >= 0 {
		b = &d.B.acts[l.B]
		v.B, v.Kind, v.Role, v.Name = b.sideOf(l.Fate), b.Item.Kind, b.Item.Role, b.Item.Name
	}
	if a == nil || b == nil {
		return v
	}
	noise.between(a.Item, b.Item)
	if a.Result != nil && b.Result != nil {
		noise.between(a.Result, b.Result)
	}
	if l.Fate != analysis.Changed {
		return v
	}
	if !alikeTexts(a.Item, b.Item, exact) {
		v.Text = analysis.DiffWords(a.Item.Text, b.Item.Text)
	}
	if a.Item.Kind == transcript.ToolCall {
		v.Arguments = diffArguments(a.Item, b.Item)
		v.Result = diffResults(a.Result, b.Result, exact)
	}
	return v
}

func (a *act) sideOf(f analysis.Fate) *ActRef {
	r := &ActRef{Step: a.ref, Exchange: a.from, At: a.at, CallID: a.Item.CallID, Depth: a.Depth}
	if f != analysis.Same {
		r.Item, r.Result = a.Item, a.Result
	}
	return r
}

// Delta returns the difference of two amounts in US dollars; "" if one is unknown.
func Delta(a, b *string) string {
	if a == nil || b == nil {
		return ""
	}
	x, okA := new(big.Rat).SetString(*a)
	y, okB := new(big.Rat).SetString(*b)
	if !okA || !okB {
		return ""
	}
	return pricing.Dollars(y.Sub(y, x))
}
