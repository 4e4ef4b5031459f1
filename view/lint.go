package view

import (
	"context"
	"slices"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// findings judges one exchange with all that it holds, and what it sent back of
// the answer before.
func findings(ctx context.Context, r transcript.Reader, e *transcript.Exchange, turn *transcript.Turn) ([]lint.Finding, error) {
	if e.Dialect == transcript.Unknown {
		return []lint.Finding{}, nil
	}
	step := lint.Step{Exchange: e, Turn: turn}
	if e.Link.Parent == "" {
		return lint.Exchange(step, nil), nil
	}
	parent, err := r.Exchange(ctx, e.Link.Parent)
	var before *transcript.Turn
	if err == nil {
		before, err = Decode(ctx, r, parent)
	}
	if lost(err) != "" {
		return lint.Exchange(step, nil), nil
	}
	if err != nil {
		return nil, err
	}
	return lint.Exchange(step, &lint.Step{Exchange: parent, Turn: before}), nil
}

// LintRequest judges a request that is in no database.
func LintRequest(d transcript.Dialect, body []byte) []lint.Finding {
	turn := dialect.Decode(d, &dialect.Wire{Method: "POST", Request: body})
	return lint.Exchange(lint.Step{Exchange: &transcript.Exchange{Dialect: d}, Turn: turn}, nil)
}

// Judge fills in what is found in the run: each step is judged by what is new in
// it. cost tells what input tokens cost at an exchange, and may be nil.
func (r *Run) Judge(ctx context.Context, reader transcript.Reader, cost func(*transcript.Exchange, int64) string) error {
	j := judging{run: r, judge: lint.Judge{Cost: cost}, requests: newRequests(ctx, reader), continued: map[string]bool{}}
	for _, e := range r.inOrder() {
		if e.Dialect == transcript.Unknown {
			continue
		}
		if err := j.step(e); err != nil && lost(err) == "" {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	r.Lint = j.judge.Findings()
	return nil
}

// inOrder gives the exchanges of the run, oldest first.
func (r *Run) inOrder() []*transcript.Exchange {
	list := make([]*transcript.Exchange, 0, len(r.exchanges))
	for _, e := range r.exchanges {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *transcript.Exchange) int { return int(a.N - b.N) })
	return list
}

// judging reads the steps of a run for a judge.
type judging struct {
	run       *Run
	judge     lint.Judge
	requests  requests
	continued map[string]bool // exchanges whose whole history some step was judged behind
}

func (j *judging) step(e *transcript.Exchange) error {
	request, err := j.requests.read(e)
	if err != nil {
		return err
	}
	body, err := readBody(j.requests.ctx, j.requests.reader, &e.Response)
	if err != nil {
		return err
	}
	turn := dialect.Decode(e.Dialect, &dialect.Wire{Method: e.Method, URL: e.URL, Status: e.Status, ResponseHeader: e.Response.Headers, Response: body})
	turn.Model, turn.PreviousID, turn.Parameters = e.Model, request.previous, request.parameters
	s := lint.Step{Exchange: e, Turn: turn}
	parent := j.run.exchanges[e.Link.Parent]
	if s.New = j.continues(e, parent); s.New {
		s.Settings, _ = j.requests.settings(request)
		turn.Input = j.requests.behind(request, parent.Link.InLen)
		j.continued[parent.ID] = true
	} else {
		turn.Input = j.requests.items(request)
	}
	j.judge.Step(s)
	return nil
}

// continues tells whether a step need only be read behind the input of the one
// before.
func (j *judging) continues(e, parent *transcript.Exchange) bool {
	return parent != nil && e.Link.Shared > 0 && resends(&e.Link, &parent.Link) && !j.continued[parent.ID]
}

// RefOf gives the short reference of an exchange of the run, "" of any other.
func (r *Run) RefOf(exchange string) string {
	if e := r.exchanges[exchange]; e != nil {
		return Ref(e.N)
	}
	return ""
}

// AgentOf gives the id of the agent that an exchange of the run belongs to, ""
// of a side call.
func (r *Run) AgentOf(exchange string) string {
	if e := r.exchanges[exchange]; e != nil {
		return e.Link.Agent
	}
	return ""
}
