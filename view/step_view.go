package view

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// StepView is the view of a step in its run: the new items of its request, the answer,
// and the results of its calls. It leaves out what the step before contains.
type StepView struct {
	Step    *Step   `json:"step"`
	Entries []Entry `json:"entries"`
	Context Context `json:"context"`
	// Missing reports that the request continues a history that was not recorded.
	Missing bool `json:"missing_history"`
	// Lost is why a part of it cannot be shown: Pruned or Damaged.
	Lost     string   `json:"lost"`
	Warnings []string `json:"warnings"`
	// Examples are the examples in a step that begins a history; nil if none are
	// recognised.
	Examples *Examples `json:"examples,omitempty"`
	// Findings are those of the step and its attempts that belong to no entry. They
	// are empty unless the run was judged (Run.Judge).
	Findings []lint.Finding `json:"findings,omitempty"`
}

// Context describes how the model's context follows from the step before.
type Context struct {
	Kept      int      `json:"kept"` // items kept from it, of those in the chain
	New       int      `json:"new"`
	Rewritten int      `json:"rewritten"`
	Dropped   int      `json:"dropped"`
	Changes   []Change `json:"changes"` // items that were rewritten or dropped
	// System reports that the system prompt changed, not counting what changes from
	// call to call, such as dates.
	System       bool     `json:"system_changed"`
	Tools        []string `json:"tools"` // names of the offered tools, for the first step
	ToolsAdded   []string `json:"tools_added"`
	ToolsRemoved []string `json:"tools_removed"`
}

// Change is an item that a step rewrote or dropped.
type Change struct {
	Origin analysis.Origin  `json:"origin"`
	Was    transcript.Item  `json:"was"`
	Now    *transcript.Item `json:"now"` // nil if it was dropped
}

// StepReader builds the views of a run's steps. The cost of consecutive steps depends
// only on what is new in them.
type StepReader struct {
	ctx    context.Context
	reader transcript.Reader
	*history.Reader
	reading      sync.Mutex
	run          *Run
	results      map[transcript.Place]*transcript.CallRow // by place of the result
	lastSettings map[string]*settings                     // of the steps seen, by exchange
	findings     *pinned
	next         map[string][]string // exchanges that continue one
}

// NewStepReader returns a StepReader for a run.
func NewStepReader(ctx context.Context, r transcript.Reader, run *Run) *StepReader {
	t := &StepReader{run: run, ctx: ctx, reader: r, Reader: run.reading, results: map[transcript.Place]*transcript.CallRow{}, lastSettings: map[string]*settings{}, findings: pinnedFrom(run.Lint), next: map[string][]string{}}
	if t.Reader == nil {
		t.Reader = history.NewReader(ctx, r)
	}
	for _, e := range run.inOrder() {
		t.next[e.Link.Parent] = append(t.next[e.Link.Parent], e.ID)
	}
	for _, row := range run.calls {
		for _, res := range row.Results {
			t.results[transcript.Place{Exchange: res.Exchange, Body: "request", At: res.At}] = row
		}
	}
	return t
}

// All yields the views of steps in order. While the caller uses one, the next are
// built and their answers read concurrently.
func (t *StepReader) All(steps []*Step) iter.Seq2[*StepView, error] {
	type one struct {
		step *StepView
		err  error
	}
	exchanges := func(yield func(*transcript.Exchange) bool) {
		for _, s := range steps {
			if !yield(s.exchange) {
				return
			}
		}
	}
	return func(yield func(*StepView, error) bool) {
		for one := range history.Ahead(history.MaxAhead, func(yield func(one) bool) {
			i := 0
			for a := range t.Answers(exchanges) {
				step, err := t.read(steps[i], a)
				if !yield(one{step, err}) || err != nil {
					return
				}
				i++
			}
		}) {
			if !yield(one.step, one.err) {
				return
			}
		}
	}
}

// Read returns the view of a step.
func (t *StepReader) Read(s *Step) (*StepView, error) {
	turn, err := t.Answer(s.exchange)
	return t.read(s, history.Answered{Exchange: s.exchange, Turn: turn, Err: err})
}

func (t *StepReader) read(s *Step, answer history.Answered) (*StepView, error) {
	t.reading.Lock()
	defer t.reading.Unlock()
	step, err := t.plainly(s, answer)
	if err == nil {
		t.pin(step)
	}
	return step, err
}

// pin attaches the findings of a step to its entries. The result of a call is in a
// later exchange.
func (t *StepReader) pin(step *StepView) {
	for _, a := range step.Step.AttemptIDs {
		t.findings.hang(a, step.Entries)
		for _, f := range t.findings.rest(a) {
			if !t.run.judgedPart || f.At == "" || f.Body == "response" { // otherwise it belongs to another step's view
				step.Findings = append(step.Findings, f)
			}
		}
	}
	for i := range step.Entries {
		e := &step.Entries[i]
		switch p := e.Pair; {
		case p == nil:
		case p.Result != nil && p.Result.Exchange != step.Step.Exchange:
			t.findings.hang(p.Result.Exchange, step.Entries[i:i+1])
		case p.State == transcript.Unanswered && e.Output:
			for _, next := range t.next[step.Step.Exchange] {
				t.findings.hangCall(next, e)
			}
		}
	}
}

// plainly returns the view of a step without its findings.
func (t *StepReader) plainly(s *Step, answer history.Answered) (*StepView, error) {
	step := &StepView{Step: s, Entries: []Entry{}, Warnings: s.exchange.Warnings}
	e := s.exchange
	now, err := t.Request(e)
	if why := lost(err); why != "" {
		step.Lost = why
		return step, nil
	}
	if err != nil {
		return nil, err
	}
	step.Missing = now.PreviousID != "" && !held(&e.Link)
	before, err := t.before(step, e)
	if err != nil {
		return nil, err
	}
	fresh := t.compare(step, now, before)
	if answer.Turn != nil {
		step.Entries = make([]Entry, 0, len(fresh)+len(answer.Turn.Output))
	}
	t.setUp(step, now, before)
	if err := t.introduced(step, fresh); err != nil {
		return nil, err
	}
	if before == nil && e.Link.Parent == "" {
		if step.Examples, err = examplesIn(t.ctx, t.reader, e, fresh); err != nil {
			return nil, err
		}
		step.Examples.mark(e.ID, step.Entries)
	}
	if why := lost(answer.Err); why != "" {
		step.Lost = why
		return step, nil
	}
	if answer.Err != nil {
		return nil, answer.Err
	}
	return step, t.answered(step, answer.Turn)
}

// past is the step that another one extends.
type past struct {
	request *history.Request
	output  []transcript.Item // unless the step resends all of it
}

// before reads the step that is extended; nil if the step begins a history.
func (t *StepReader) before(step *StepView, e *transcript.Exchange) (*past, error) {
	if e.Link.Parent == "" {
		return nil, nil
	}
	parent := t.run.exchanges[e.Link.Parent]
	if parent == nil {
		var err error
		if parent, err = t.reader.Exchange(t.ctx, e.Link.Parent); err != nil {
			if step.Lost = lost(err); step.Lost != "" {
				return nil, nil
			}
			return nil, err
		}
	}
	r, err := t.Request(parent)
	past := &past{request: r}
	if err == nil && !held(&e.Link) && !resends(&e.Link, &parent.Link) { // its answer is needed too
		var turn *transcript.Turn
		if turn, err = t.Answer(parent); err == nil {
			past.output = turn.Output
		}
	}
	if step.Lost = lost(err); step.Lost != "" {
		return nil, nil
	}
	return past, err
}

// compare finds what is new in a request, and what changed in the history before.
func (t *StepReader) compare(step *StepView, now *history.Request, before *past) []transcript.Item {
	l := &now.Exchange.Link
	c := &step.Context
	if before == nil {
		c.New = l.InLen
		return systemFirst(t.Items(now))
	}
	if held(l) {
		c.Kept, c.New = before.request.Exchange.Link.OutLen, max(0, l.InLen-before.request.Exchange.Link.OutLen)
		return t.Items(now)
	}
	if resends(l, &before.request.Exchange.Link) {
		c.Kept, c.New = l.Shared, l.InLen-l.Shared
		return withoutReasoning(t.After(now, l.Shared))
	}
	return t.provenance(c, now, before)
}

// systemFirst moves the system texts that are separate from the conversation before
// it. Their position in a body is up to the client.
func systemFirst(items []transcript.Item) []transcript.Item {
	var first, rest []transcript.Item
	for i := range items {
		if items[i].Kind == transcript.System && history.IsBeside(items[i].At) {
			first = append(first, items[i])
		} else {
			rest = append(rest, items[i])
		}
	}
	return append(first, rest...)
}

// resends reports whether a history begins with all of the one before. A repeated
// call is no evidence for what comes before it.
func resends(l, before *transcript.Link) bool {
	return l.Shared == before.OutLen && (l.By == transcript.ByHistory || l.By == transcript.ByKeysWithoutIDs || l.By == transcript.ByChoice)
}

// held reports whether the request extends a server-side history.
func held(l *transcript.Link) bool { return l.ServerHeld() }

// provenance compares two steps in full.
func (t *StepReader) provenance(c *Context, now *history.Request, before *past) []transcript.Item {
	was := inChain(append(t.Items(before.request), before.output...))
	is := inChain(t.Items(now))
	var fresh []transcript.Item
	for _, p := range analysis.Compare(was, is) {
		switch p.Origin {
		case analysis.Kept:
			c.Kept++
		case analysis.New:
			c.New++
			fresh = append(fresh, is[p.Item])
		case analysis.Rewritten:
			c.Rewritten++
			c.Changes = append(c.Changes, Change{p.Origin, was[p.Was], &is[p.Item]})
		case analysis.Dropped:
			c.Dropped++
			c.Changes = append(c.Changes, Change{Origin: p.Origin, Was: was[p.Was]})
		}
	}
	return fresh
}

func inChain(items []transcript.Item) []transcript.Item {
	return slices.DeleteFunc(slices.Clone(items), func(it transcript.Item) bool { return !it.InChain() })
}

// withoutReasoning leaves out reasoning that is sent again.
func withoutReasoning(items []transcript.Item) []transcript.Item {
	return slices.DeleteFunc(slices.Clone(items), func(it transcript.Item) bool { return it.Kind == transcript.Reasoning })
}
