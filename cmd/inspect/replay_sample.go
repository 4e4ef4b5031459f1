package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/tool"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// sampleFlags say how often a replay is repeated, and what is looked at.
type sampleFlags struct {
	n, parallel       int
	tool, text, check string
}

// takesAtOnce is how many takes are played at once if nothing else is said.
const takesAtOnce = 4

func (f *sampleFlags) add(flags *pflag.FlagSet) {
	flags.IntVarP(&f.n, "takes", "n", 0, "play so many takes, and as many without the edits, and compare them")
	flags.IntVar(&f.parallel, "parallel", takesAtOnce, "takes at once")
	f.addExpected(flags)
	flags.StringVar(&f.check, "check", "", "CMD: look whether this command ends with status 0, given the final text on its standard input ($RETAKE_TAKE names the take)")
}

func (f *sampleFlags) addExpected(flags *pflag.FlagSet) {
	flags.StringVar(&f.tool, "expect-tool", "", "NAME or NAME=JSON: look whether the next answer calls that tool, with arguments that hold all that JSON holds")
	flags.StringVar(&f.text, "expect-text", "", "REGEX: look whether the final text matches")
}

// several tells whether more than one take is asked for.
func (f *replayFlags) several() bool { return f.sample.n > 0 || len(f.edits.models) > 1 }

// look gives what is looked at. recorded is the recorded answer.
func (f *sampleFlags) look(recorded *transcript.Turn) (replay.Look, error) {
	given := 0
	for _, s := range [...]string{f.tool, f.text, f.check} {
		if s != "" {
			given++
		}
	}
	switch {
	case given > 1:
		return replay.Look{}, usageError{errors.New("--expect-tool, --expect-text and --check: name one; others may mislead by chance")}
	case f.tool != "":
		name, arguments, some := strings.Cut(f.tool, "=")
		var subset json.RawMessage
		if some {
			subset = json.RawMessage(arguments)
		}
		look, err := replay.LookForTool(name, subset)
		if err != nil {
			return look, usageError{fmt.Errorf("--expect-tool %q: %w", f.tool, err)}
		}
		return look, nil
	case f.text != "":
		expr, err := regexp.Compile(f.text)
		if err != nil {
			return replay.Look{}, usageError{fmt.Errorf("--expect-text: %w", err)}
		}
		return replay.LookForText(expr), nil
	case f.check != "":
		return replay.LookByCheck(f.check, runCheck(f.check)), nil
	}
	return replay.LookAtNext(recorded), nil
}

// runCheck makes a check of a command.
func runCheck(command string) replay.Check {
	return func(ctx context.Context, text, take string) (bool, error) {
		return tool.Check(ctx, command, text, tool.DefaultTimeout, "RETAKE_TAKE="+take)
	}
}

// sampling is a replay of many takes as the command does it.
type sampling struct {
	*replaying
	look replay.Look
	arms []replay.Arm
}

// sample plays many takes and prints what they show.
func (x *replaying) sample(path string, args []string) error {
	s := &sampling{replaying: x}
	f := &x.f.sample
	if len(x.f.edits.models) > 1 && f.n == 0 {
		f.n = 1
	}
	switch {
	case x.f.resume != "":
		return usageError{errors.New("--resume goes on with one take: it cannot be repeated")}
	case f.n < 0 || f.parallel < 1:
		return usageError{errors.New("-n and --parallel: want a number over 0")}
	case x.f.sources.ask:
		return usageError{errors.New("--ask asks you of every take: answer with another source")}
	}
	if err := s.prepare(args[0]); err != nil || x.f.dryRun {
		return err
	}
	for i := range s.arms { // whether to ask is told by where it is sent
		if s.req = s.arms[i].Request; !s.req.Local() {
			break
		}
	}
	if err := s.consent(s.estimate()); err != nil {
		return err
	}
	return s.play(path)
}

// prepare builds the requests of all arms and finds their keys.
func (s *sampling) prepare(ref string) error {
	db, err := s.open()
	if err != nil {
		return err
	}
	defer db.Close()
	if err := s.prepareFrom(db, ref); err != nil {
		return err
	}
	recorded, err := replay.RecordedAnswer(s.ctx, db, s.req.Origin)
	if err != nil {
		return err
	}
	if s.look, err = s.f.sample.look(recorded); err != nil {
		return err
	}
	if s.mode() == transcript.Once && len(s.later) > 0 {
		return usageError{fmt.Errorf("--set-result %s: that result comes after the answer that is looked at: replay the step that brings it, or look at the end (--expect-text, --check)", s.later[0].CallID)}
	}
	return s.prepareArms(db)
}

func (s *sampling) mode() transcript.TakeMode {
	if s.f.once {
		return transcript.Once
	}
	return s.look.Mode
}

// prepareArms makes the arms: the edited request and the one as it was recorded; of
// several models one arm each.
func (s *sampling) prepareArms(r transcript.Reader) error {
	targets, err := s.f.targets()
	if err != nil {
		return err
	}
	add := func(name string, edits []transcript.Edit, later []transcript.Edit, to replay.Target) error {
		req, err := replay.NewRequest(s.ctx, r, s.req.Origin, edits)
		if err != nil {
			return err
		}
		if s.req.Held { // the control has to differ in the edit alone
			if err := req.Whole(s.ctx, r); err != nil {
				return err
			}
		}
		losses, err := aim(s.ctx, r, &to, req)
		if err != nil {
			return err
		}
		if s.f.dryRun {
			fmt.Fprintf(s.err, "%s:\n", visible(name))
			return s.printDryRun(req)
		}
		s.tellLosses(name, losses)
		s.arms = append(s.arms, replay.Arm{Name: name, Request: req, Losses: losses, Options: s.options(later)})
		return s.setKey(req, s.f.keyEnv)
	}
	if len(targets) > 1 {
		for _, t := range targets {
			edits := append(slices.Clone(s.now), transcript.Edit{Op: transcript.SetModel, Text: t.Model})
			if err := add(t.Name(), edits, s.later, t); err != nil {
				return fmt.Errorf("%s: %w", t.Name(), err)
			}
		}
		return nil
	}
	// A server that stands in for the recorded one does so for the control, too.
	control := replay.Target{Upstream: s.f.upstream}
	if targets[0].Model = ""; len(s.now)+len(s.later) > 0 || targets[0] != control {
		if err := add("edited", s.now, s.later, targets[0]); err != nil {
			return err
		}
	}
	return add("control", nil, nil, control)
}

// options gives the options of a take, with sources of its own.
func (s *sampling) options(later []transcript.Edit) func() (replay.Options, func(), error) {
	return func() (replay.Options, func(), error) {
		own := *s.replaying
		own.later = later
		sources, done, err := own.sources()
		return replay.Options{Mode: s.mode(), Sources: sources, Edits: later, Limits: s.limits, Retries: retries, Reason: s.f.reason}, done, err
	}
}

// estimate tells what all takes together are likely to use.
func (s *sampling) estimate() replay.Estimate {
	sum := replay.Estimate{USD: new(big.Rat)}
	n := int64(s.f.sample.n)
	for i := range s.arms {
		e := s.tape.Estimate(s.arms[i].Request, s.mode(), s.limits.Steps, s.prices)
		sum.Requests, sum.Input, sum.Output, sum.Guessed = sum.Requests+int(n)*e.Requests, sum.Input+n*e.Input, sum.Output+n*e.Output, sum.Guessed || e.Guessed
		switch {
		case e.USD == nil:
			sum.USD = nil
		case sum.USD != nil:
			sum.USD.Add(sum.USD, new(big.Rat).Mul(e.USD, new(big.Rat).SetInt64(n)))
		}
	}
	return sum
}

// play plays the takes and prints what they show.
func (s *sampling) play(path string) error {
	w, closeIt, err := s.record(path)
	if err != nil {
		return err
	}
	defer closeIt()
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make group id: %w", err)
	}
	var steps []string // that have to be stored in the end
	bar, yes, done := s.progress(), make([]int, len(s.arms)), make([]int, len(s.arms))
	if !s.json {
		fmt.Fprintf(s.err, "sending %s again, %d times %s\nlooking whether %s\n", view.Ref(s.req.Origin.N), s.f.sample.n, counted(len(s.arms), "arm"), visible(s.look.Name))
	}
	sampler := replay.Sampler{Player: w.Player(s.prices), Arms: s.arms, N: s.f.sample.n, Parallel: s.f.sample.parallel, Look: s.look, Cost: s.limits.Cost, Group: id.String(),
		Progress: func(p replay.Played) {
			steps = append(steps, p.Take.Steps...)
			done[p.Arm]++
			if p.Yes {
				yes[p.Arm]++
			}
			bar.show(s.score(yes, done), int64(p.Done), int64(p.Total))
		}}
	sample, err := sampler.Run(s.ctx)
	bar.clear()
	if err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), storedWithin)
	defer cancel()
	for _, exchange := range steps {
		if _, err := w.Stored(wait, exchange); err != nil {
			return fmt.Errorf("store a replayed exchange: %w", err)
		}
	}
	if err := replay.KeepSample(wait, w.Store(), sample); err != nil {
		return err
	}
	return s.print(sample)
}

// score says how the arms stand.
func (s *sampling) score(yes, done []int) string {
	arms := make([]string, len(s.arms))
	for i := range s.arms {
		arms[i] = fmt.Sprintf("%s %d/%d", word(s.arms[i].Name), yes[i], done[i])
	}
	return strings.Join(arms, "  ")
}

// print prints what the takes show. It ends with findings where not all were
// played.
func (s *sampling) print(sample *replay.Sample) error {
	var err error
	if s.json {
		err = s.printJSON(sample)
	} else if len(sample.Arms) > 2 || len(s.f.edits.models) > 1 {
		err = s.printMatrix(sample)
	} else {
		err = s.printArms(sample)
	}
	if err == nil && sample.Stopped != "" {
		return errFindings
	}
	return err
}
