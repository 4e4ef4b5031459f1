package web

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	usualTakes  = 10
	mostSampled = 200 // takes of each arm
	takesAtOnce = 4
	longestNote = 1 << 20 // bytes of a report
	// longestLabel bounds what a report tells of the arguments of calls.
	longestLabel = 1000
)

// sampleRun is a sample while this viewer plays it.
type sampleRun struct {
	ID     string
	Origin *transcript.Exchange
	Look   string
	Total  int
	cancel context.CancelFunc

	mu    sync.Mutex
	arms  []armScore
	spent big.Rat
	known bool // what some take cost
	takes []string
	done  bool
	wrong string         // why it has no report
	ended *replay.Sample // its report, if that could not be kept
}

// armScore is how an arm stands.
type armScore struct {
	Name                 string
	N, Done, Yes, Failed int
}

// score is how a sample stands.
type score struct {
	Arms    []armScore
	Takes   []string
	Done    int
	CostUSD string
	Ended   bool
	Wrong   string
	Sample  *replay.Sample
}

// sample begins a sample and gives its group.
func (t *playing) sample(ctx context.Context, s *server, ready *prepared) (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make group id: %w", err)
	}
	if err := t.begin(); err != nil {
		return "", err
	}
	play, cancel := context.WithCancel(context.WithoutCancel(ctx))
	run := &sampleRun{ID: id.String(), Origin: ready.req.Origin, Look: ready.look.Name, Total: ready.takes * len(ready.arms), cancel: cancel}
	for i := range ready.arms {
		run.arms = append(run.arms, armScore{Name: ready.arms[i].Name, N: ready.takes})
	}
	t.mu.Lock()
	t.samples[run.ID] = run
	t.mu.Unlock()
	sampler := &replay.Sampler{Player: s.replaying.Player(), Arms: ready.arms, N: ready.takes, Parallel: takesAtOnce, Look: ready.look, Cost: ready.how.limits.Cost,
		Group: run.ID, Progress: run.played}
	go func() {
		defer t.end()
		defer cancel()
		sample, err := sampler.Run(play)
		if err == nil {
			err = s.keepSample(context.WithoutCancel(play), sample)
		}
		if run.end(sample, err); err != nil {
			s.log.Error("sample", "group", run.ID, "error", err)
			return
		}
		t.mu.Lock()
		delete(t.samples, run.ID)
		t.mu.Unlock()
	}()
	return run.ID, nil
}

// sampleOf gives a sample that this viewer plays, nil if it plays none of that group.
func (t *playing) sampleOf(group string) *sampleRun {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.samples[group]
}

// played counts a take that ended.
func (r *sampleRun) played(p replay.Played) {
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

func (r *sampleRun) end(sample *replay.Sample, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done, r.ended = true, sample
	if err != nil {
		r.wrong = sentence(err)
	}
}

// score tells how it stands.
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

// sampleNote is the name under which a report is kept. A group is a UUID.
func sampleNote(group string) string { return "sample " + group }

// keepSample keeps a report, so that it can be read when this viewer has ended.
func (s *server) keepSample(ctx context.Context, sample *replay.Sample) error {
	for i := range sample.Arms {
		for k := range sample.Arms[i].Outcomes {
			sample.Arms[i].Outcomes[k].Label = view.Head(sample.Arms[i].Outcomes[k].Label, longestLabel)
		}
	}
	for i := range sample.Secondary {
		sample.Secondary[i].Name = view.Head(sample.Secondary[i].Name, longestLabel)
	}
	text, err := json.Marshal(sample)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if len(text) > longestNote {
		return fmt.Errorf("keep report: it has %d bytes, more than %d", len(text), longestNote)
	}
	if err := s.update(ctx, func(tx transcript.Tx) error { return tx.SetNote(sampleNote(sample.Group), string(text)) }); err != nil {
		return fmt.Errorf("keep report: %w", err)
	}
	return nil
}

// readSample gives a report that was kept, nil if there is none of that group.
func (s *server) readSample(ctx context.Context, group string) (*replay.Sample, error) {
	text, err := s.reader.Note(ctx, sampleNote(group))
	if err != nil || text == "" {
		return nil, err
	}
	var sample replay.Sample
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&sample); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	return &sample, nil
}
