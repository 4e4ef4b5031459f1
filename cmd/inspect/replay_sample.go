package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/sample"
	"github.com/retake-debugger/retake/replay/tool"
	"github.com/retake-debugger/retake/view"
)

// sampleFlags set how often a replay is repeated, and what is checked.
type sampleFlags struct {
	n, parallel       int
	tool, text, check string
}

// takesAtOnce is the default number of concurrent takes.
const takesAtOnce = 4

func (f *sampleFlags) add(flags *pflag.FlagSet) {
	flags.IntVarP(&f.n, "takes", "n", 0, "play this many takes, and as many without the edits, and compare them")
	flags.IntVar(&f.parallel, "parallel", takesAtOnce, "takes at once")
	f.addExpected(flags)
	flags.StringVar(&f.check, "check", "", "CMD: expect this command to exit with status 0, given the final text on its standard input ($RETAKE_TAKE names the take)")
}

func (f *sampleFlags) addExpected(flags *pflag.FlagSet) {
	flags.StringVar(&f.tool, "expect-tool", "", "NAME or NAME=JSON: expect the next answer to call that tool, with arguments that include JSON")
	flags.StringVar(&f.text, "expect-text", "", "REGEX: expect the final text to match")
}

// several reports whether more than one take is requested.
func (f *replayFlags) several() bool { return f.sample.n > 0 || len(f.edits.models) > 1 }

func (f *sampleFlags) expect() (replay.Expect, error) {
	given := 0
	for _, s := range [...]string{f.tool, f.text, f.check} {
		if s != "" {
			given++
		}
	}
	x := replay.Expect{Tool: f.tool, Text: f.text}
	if f.check != "" {
		x.Check, x.CheckName = runCheck(f.check), f.check
	}
	if given > 1 {
		return x, usageError{errors.New("--expect-tool, --expect-text and --check: name one; others may mislead by chance")}
	}
	return x, nil
}

// runCheck makes a check of a command.
func runCheck(command string) replay.Check {
	return func(ctx context.Context, text, take string) (bool, error) {
		return tool.Check(ctx, command, text, tool.DefaultTimeout, "RETAKE_TAKE="+take)
	}
}

// sampling is one run of replay with several takes.
type sampling struct{ *replaying }

// sample plays the takes and prints the result.
func (x *replaying) sample(path string, args []string) error {
	s := &sampling{x}
	f := &x.f.sample
	if len(x.f.edits.models) > 1 && f.n == 0 {
		f.n = 1
	}
	switch {
	case x.f.resume != "":
		return usageError{errors.New("--resume continues one take: it cannot be repeated")}
	case f.n < 0 || f.parallel < 1:
		return usageError{errors.New("-n and --parallel: want a number above 0")}
	case x.f.sources.ask:
		return usageError{errors.New("--ask asks you of every take: answer with another source")}
	}
	if err := s.prepare(args); err != nil || x.f.dryRun {
		return err
	}
	if err := s.consent(); err != nil {
		return err
	}
	return s.play(path)
}

// prepare builds the requests of all arms and finds their keys.
func (s *sampling) prepare(args []string) error {
	db, err := s.open()
	if err != nil {
		return err
	}
	defer db.Close()
	s.plan.Takes = s.f.sample.n
	if s.plan.Expect, err = s.f.sample.expect(); err != nil {
		return err
	}
	if err := s.makeReady(db, args); err != nil {
		return err
	}
	for i := range s.ready.Arms {
		a := &s.ready.Arms[i]
		if !s.f.dryRun {
			s.tellLosses(a.Name, a.Losses)
			continue
		}
		fmt.Fprintf(s.err, "%s:\n", visible(a.Name))
		if err := s.printDryRun(a.Request); err != nil {
			return err
		}
	}
	if s.f.dryRun {
		return nil
	}
	return s.setKeys()
}

// play plays the takes and prints the result.
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
	var steps []string // exchanges that have to be stored at the end
	bar, yes, done := s.progress(), make([]int, len(s.ready.Arms)), make([]int, len(s.ready.Arms))
	if !s.json {
		fmt.Fprintf(s.err, "sending %s again, %d times %s\nlooking whether %s\n", view.Ref(s.ready.Request.Origin.N), s.f.sample.n, counted(len(s.ready.Arms), "arm"), visible(s.ready.Predicate.Name))
	}
	sampler := sample.Sampler{Player: w.Player(), Arms: s.ready.Arms, N: s.f.sample.n, Parallel: s.f.sample.parallel, Predicate: s.ready.Predicate, Cost: s.plan.Limits.Cost, Group: id.String(),
		Progress: func(p sample.Played) {
			steps = append(steps, p.Take.Steps...)
			done[p.Arm]++
			if p.Yes {
				yes[p.Arm]++
			}
			bar.show(s.score(yes, done), int64(p.Done), int64(p.Total))
		}}
	report, err := sampler.Run(s.ctx)
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
	if err := sample.Keep(wait, w.Store(), report); err != nil {
		return err
	}
	return s.print(report)
}

// score formats the progress of the arms.
func (s *sampling) score(yes, done []int) string {
	arms := make([]string, len(s.ready.Arms))
	for i := range s.ready.Arms {
		arms[i] = fmt.Sprintf("%s %d/%d", word(s.ready.Arms[i].Name), yes[i], done[i])
	}
	return strings.Join(arms, "  ")
}

// print prints the result. It returns errFindings if not all takes were played.
func (s *sampling) print(report *sample.Report) error {
	var err error
	if s.json {
		err = s.printJSON(report)
	} else if len(report.Arms) > 2 || len(s.f.edits.models) > 1 {
		err = s.printMatrix(report)
	} else {
		err = s.printArms(report)
	}
	if err == nil && report.Stopped != "" {
		return errFindings
	}
	return err
}
