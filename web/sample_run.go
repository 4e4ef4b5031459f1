package web

import (
	"context"
	"math/big"
	"slices"
	"sync"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/sample"
	"github.com/retake-debugger/retake/transcript"
)

const (
	usualTakes  = 10
	mostSampled = 200 // takes of each arm
	takesAtOnce = 4
)

// sampleRun is a sample that this viewer runs.
type sampleRun struct {
	ID     string
	Origin *transcript.Exchange
	Look   string
	Total  int
	of     *server // that began it
	cancel context.CancelFunc

	mu    sync.Mutex
	arms  []armScore
	spent big.Rat
	known bool // the cost of some take is known
	takes []string
	done  bool
	wrong string         // why there is no report
	ended *sample.Report // the report, if it could not be stored
}

// armScore is the progress of an arm.
type armScore struct {
	Name                 string
	N, Done, Yes, Failed int
}

// score is the progress of a sample.
type score struct {
	Arms    []armScore
	Takes   []string
	Done    int
	CostUSD string
	Ended   bool
	Wrong   string
	Sample  *sample.Report
}

// sample begins a sample and returns its group.
func (t *Playing) sample(ctx context.Context, s *server, ready *replay.Ready) (string, error) {
	id, err := t.begin()
	if err != nil {
		return "", err
	}
	play, cancel := context.WithCancel(context.WithoutCancel(ctx))
	run := &sampleRun{ID: id, Origin: ready.Request.Origin, Look: ready.Predicate.Name, Total: ready.Plan.Takes * len(ready.Arms), of: s, cancel: cancel}
	for i := range ready.Arms {
		run.arms = append(run.arms, armScore{Name: ready.Arms[i].Name, N: ready.Plan.Takes})
	}
	t.mu.Lock()
	t.samples[run.ID] = run
	t.mu.Unlock()
	sampler := &sample.Sampler{Player: s.replaying.Player(), Arms: ready.Arms, N: ready.Plan.Takes, Parallel: takesAtOnce, Predicate: ready.Predicate, Cost: ready.Plan.Limits.Cost,
		Group: run.ID, Progress: run.played}
	go func() {
		defer t.end()
		defer cancel()
		report, err := sampler.Run(play)
		if err == nil {
			err = sample.Keep(context.WithoutCancel(play), s.store(), report)
		}
		if run.end(report, err); err != nil {
			s.log.Error("sample", "group", run.ID, "error", err)
			return
		}
		t.mu.Lock()
		delete(t.samples, run.ID)
		t.mu.Unlock()
	}()
	return run.ID, nil
}

// sampleOf returns the sample of that group, nil if this viewer runs none.
func (t *Playing) sampleOf(group string) *sampleRun {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.samples[group]
}

// played counts a take that ended.
func (r *sampleRun) played(p sample.Played) {
	r.mu.Lock()
	defer r.mu.Unlock()
	arm := &r.arms[p.Arm]
	arm.Done++
	switch {
	case p.Failed:
		arm.Failed++
	case p.Yes:
		arm.Yes++
	}
	r.takes = append(r.takes, p.Take.Ref)
	if p.Take.CostUSD == nil {
		return
	}
	if usd, ok := new(big.Rat).SetString(*p.Take.CostUSD); ok {
		r.spent.Add(&r.spent, usd)
		r.known = true
	}
}

func (r *sampleRun) end(report *sample.Report, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done, r.ended = true, report
	if err != nil {
		r.wrong = sentence(err)
	}
}

// score returns the progress.
func (r *sampleRun) score() score {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := score{Arms: slices.Clone(r.arms), Takes: slices.Clone(r.takes), Ended: r.done, Wrong: r.wrong, Sample: r.ended}
	for i := range s.Arms {
		s.Done += s.Arms[i].Done
	}
	if r.known {
		s.CostUSD = "$" + pricing.Rounded(&r.spent)
	}
	return s
}
