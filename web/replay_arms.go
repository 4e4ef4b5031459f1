package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// mostArms bounds how many models are compared at once.
const mostArms = 12

// plannedArm is one of the things that a sample compares, as it would be sent.
type plannedArm struct {
	Name           string
	N              int
	Host, Variable string
	Bytes          int
	Control        bool
	Losses         []dialect.Loss // the first of them
	Lost           int            // how many there are
}

// lossesShown is how many losses of an arm a plan lists.
const lossesShown = 20

// targets reads which models are asked: MODEL or MODEL@PROVIDER, one a line. A page
// sends to well-known providers alone: any other address has to be named where the
// program is started.
func (p *replayPage) targets() ([]replay.Target, error) {
	var list []replay.Target
	for line := range strings.Lines(p.Models) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		t := replay.Target{To: transcript.Dialect(p.To)}
		t.Model, t.Upstream = replay.ModelAt(line)
		if t.Upstream != "" && !t.IsProvider() {
			return nil, fmt.Errorf("a page sends to well-known providers alone, such as MODEL@openrouter: inspect replay --model takes %s", line)
		}
		if slices.Contains(list, t) {
			return nil, fmt.Errorf("%s is named twice", t.Name())
		}
		list = append(list, t)
	}
	if len(list) > mostArms {
		return nil, fmt.Errorf("at most %d models can be compared at once", mostArms)
	}
	if len(list) == 0 {
		list = append(list, replay.Target{To: transcript.Dialect(p.To)})
	}
	return list, nil
}

// prepareArms makes the arms of a sample: of several models one each, with the edits;
// else the edited request, and the one as it was recorded.
func (s *server) prepareArms(ctx context.Context, p *replayPage, ready *prepared, edits []transcript.Edit) error {
	recorded, err := replay.RecordedAnswer(ctx, s.reader, ready.req.Origin)
	if err != nil {
		return err
	}
	if ready.look, err = p.Looking.look(recorded); err != nil {
		return err
	}
	ready.mode, ready.takes = ready.look.Mode, p.Takes
	if ready.mode == transcript.Once && ready.later != nil {
		return errors.New("a result is changed that comes after the answer which is looked at: look at the last text, or replay the step that brings it")
	}
	targets, err := p.targets()
	if err != nil {
		return err
	}
	for i := range targets {
		t, name, own := &targets[i], "edited", slices.Clone(edits)
		if t.Model != "" {
			own = append(own, transcript.Edit{Op: transcript.SetModel, Text: t.Model})
		}
		if len(targets) > 1 {
			name = t.Name()
		} else if len(own)+len(ready.later) == 0 && *t == (replay.Target{}) {
			return errors.New("nothing is changed: a sample holds an edit against the recorded request, or models against each other, so change something first")
		}
		if err := s.addArm(ctx, ready, name, own, ready.later, t); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(targets) > 1 {
		return nil
	}
	return s.addArm(ctx, ready, control, nil, nil, &replay.Target{})
}

// control is the arm that is sent as it was recorded.
const control = "control"

func (s *server) addArm(ctx context.Context, ready *prepared, name string, edits, later []transcript.Edit, t *replay.Target) error {
	req, err := replay.NewRequest(ctx, s.reader, ready.req.Origin, edits)
	if err == nil && ready.req.Held { // arms have to differ in what is compared alone
		err = req.Whole(ctx, s.reader)
	}
	var losses []dialect.Loss
	if err == nil {
		losses, err = t.Aim(ctx, s.reader, req)
	}
	if err != nil {
		return err
	}
	ready.arms = append(ready.arms, replay.Arm{Name: name, Request: req, Losses: losses, Options: ready.options(later...)})
	return nil
}

// planArms says what each arm sends, and why one cannot.
func (s *server) planArms(ready *prepared) (list []plannedArm, noKey string) {
	for i := range ready.arms {
		a := &ready.arms[i]
		_, variable, missing := s.keyOf(a.Request)
		list = append(list, plannedArm{Name: a.Name, N: ready.takes, Host: a.Request.Host(), Variable: variable, Bytes: len(a.Request.Body), Control: a.Name == control,
			Losses: a.Losses[:min(len(a.Losses), lossesShown)], Lost: len(a.Losses)})
		if missing != "" && noKey == "" {
			noKey = a.Name + ": " + missing
		}
	}
	return list, noKey
}
