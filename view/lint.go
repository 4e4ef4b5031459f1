package view

import (
	"context"
	"slices"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// findings judges one exchange with its whole history, and its use of the answer
// before.
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
		before, err = history.Decode(ctx, r, parent)
	}
	if lost(err) != "" {
		return lint.Exchange(step, nil), nil
	}
	if err != nil {
		return nil, err
	}
	return lint.Exchange(step, &lint.Step{Exchange: parent, Turn: before}), nil
}

// LintRequest judges a request outside a database.
func LintRequest(d transcript.Dialect, body []byte) []lint.Finding {
	e := &transcript.Exchange{Dialect: d, Method: "POST"}
	return lint.Exchange(lint.Step{Exchange: e, Turn: history.Bodies{Request: body}.Decode(e)}, nil)
}

// Judge sets the findings of the run: each step is judged by what is new in it.
// Replays are left out, as in all counts of a run. cost returns the cost of input
// tokens at an exchange, and may be nil.
func (r *Run) Judge(ctx context.Context, reader transcript.Reader, cost func(*transcript.Exchange, int64) string) error {
	return r.judge(ctx, reader, cost, slices.DeleteFunc(r.inOrder(), func(e *transcript.Exchange) bool { return r.IsReplay(e.ID) }))
}

// Stretch is a part of a run's exchanges, oldest first: part N of Of.
type Stretch struct {
	N, Of       int
	First, Last string // references of its exchanges
}

// JudgeStretch sets the findings of one stretch of a run, whose exchanges have
// about that many bytes in total. Exchanges right before and after it are read too,
// but not reported.
func (r *Run) JudgeStretch(ctx context.Context, reader transcript.Reader, cost func(*transcript.Exchange, int64) string, n int, most int64) (Stretch, error) {
	list := slices.DeleteFunc(r.inOrder(), func(e *transcript.Exchange) bool { return r.IsReplay(e.ID) })
	var stretches [][]*transcript.Exchange
	var sum int64
	for i, e := range list {
		w := r.weight(e)
		if sum += w; i == 0 || sum > most {
			stretches, sum = append(stretches, nil), w
		}
		last := &stretches[len(stretches)-1]
		*last = append(*last, e)
	}
	n = max(1, min(n, len(stretches)))
	if len(stretches) < 2 {
		return Stretch{N: 1, Of: 1}, r.judge(ctx, reader, cost, list)
	}
	part := stretches[n-1]
	judged, wanted := map[string]bool{}, map[string]bool{}
	for _, e := range part {
		judged[e.ID], wanted[e.ID], wanted[e.Link.Parent] = true, true, true
	}
	err := r.judge(ctx, reader, cost, slices.DeleteFunc(list, func(e *transcript.Exchange) bool { return !wanted[e.ID] && !judged[e.Link.Parent] }))
	r.Lint = slices.DeleteFunc(r.Lint, func(f lint.Finding) bool { return !judged[f.Exchange] })
	return Stretch{n, len(stretches), Ref(part[0].N), Ref(part[len(part)-1].N)}, err
}

// JudgePart sets the findings of consecutive steps of an agent and of the step
// after them, which contains their results. Of the history before them it reads
// only what the first step resends.
func (r *Run) JudgePart(ctx context.Context, reader transcript.Reader, cost func(*transcript.Exchange, int64) string, part []*Step) error {
	r.judgedPart = true
	wanted := map[string]bool{}
	for _, s := range part {
		for _, id := range s.AttemptIDs {
			wanted[id] = true
		}
	}
	if len(part) > 0 {
		if children, err := reader.Children(ctx, part[len(part)-1].Exchange); err == nil {
			for _, e := range children {
				wanted[e.ID] = true
			}
		}
	}
	return r.judge(ctx, reader, cost, slices.DeleteFunc(r.inOrder(), func(e *transcript.Exchange) bool { return !wanted[e.ID] || r.IsReplay(e.ID) }))
}

func (r *Run) judge(ctx context.Context, reader transcript.Reader, cost func(*transcript.Exchange, int64) string, exchanges []*transcript.Exchange) error {
	r.reading = history.NewReader(ctx, reader)
	j := judging{run: r, judge: lint.Judge{Cost: cost}, Reader: r.reading, judged: map[string]bool{}, continued: map[string]bool{}}
	decoded := func(yield func(*transcript.Exchange) bool) {
		for _, e := range exchanges {
			if e.Dialect != transcript.Unknown && !yield(e) {
				return
			}
		}
	}
	steps := history.Ahead(r.stepsAhead(exchanges), func(yield func(toJudge) bool) {
		for a := range r.reading.Answers(decoded) {
			s, err := j.read(a)
			if !yield(toJudge{s, err}) {
				return
			}
		}
	})
	for s := range steps { // each is judged while the next ones are read
		switch {
		case s.err == nil:
			j.judge.Step(s.step)
		case lost(s.err) == "":
			return s.err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	r.Lint = j.judge.Findings()
	return nil
}

// stepsAhead returns how many steps are read before they are judged: few if they
// have megabytes, because they stay in memory until then.
func (r *Run) stepsAhead(exchanges []*transcript.Exchange) int {
	const bytes = 8 << 20
	var sum int64
	for _, e := range exchanges {
		sum += r.weight(e)
	}
	return int(max(1, min(history.MaxAhead, bytes*int64(len(exchanges))/max(1, sum))))
}

// toJudge is a step, or why it cannot be judged.
type toJudge struct {
	step lint.Step
	err  error
}

// inOrder returns the exchanges of the run, oldest first.
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
	run   *Run
	judge lint.Judge
	*history.Reader
	judged    map[string]bool // or will be
	continued map[string]bool // exchanges after whose whole history some step was judged
}

// read reads what is new in a step.
func (j *judging) read(a history.Answered) (lint.Step, error) {
	e := a.Exchange
	request, err := j.Request(e)
	if err != nil {
		return lint.Step{}, err
	}
	if a.Err != nil {
		return lint.Step{}, a.Err
	}
	turn := new(transcript.Turn)
	*turn = *a.Turn
	turn.Model, turn.PreviousID, turn.Parameters = e.Model, request.PreviousID, request.Parameters
	s := lint.Step{Exchange: e, Turn: turn}
	parent := j.run.exchanges[e.Link.Parent]
	if s.New = j.continues(e, parent); s.New {
		s.Settings = j.Settings(request)
		turn.Input = j.After(request, parent.Link.InLen)
		j.continued[parent.ID] = true
	} else {
		turn.Input = j.Items(request)
	}
	j.judged[e.ID] = true
	return s, nil
}

// continues reports whether a step need only be read after the input of the one
// before.
func (j *judging) continues(e, parent *transcript.Exchange) bool {
	return parent != nil && j.judged[parent.ID] && e.Link.Shared > 0 && resends(&e.Link, &parent.Link) && !j.continued[parent.ID]
}

// RefOf returns the short reference of an exchange of the run, "" for any other.
func (r *Run) RefOf(exchange string) string {
	if e := r.exchanges[exchange]; e != nil {
		return Ref(e.N)
	}
	return ""
}

// IsReplay reports whether a take sent an exchange of the run.
func (r *Run) IsReplay(exchange string) bool { return r.takes[exchange] != nil }

// AgentOf returns the id of the agent of an exchange, "" for a side call.
func (r *Run) AgentOf(exchange string) string {
	if e := r.exchanges[exchange]; e != nil {
		return e.Link.Agent
	}
	return ""
}
