// Command bench measures what the recorder costs, beside other ways from a
// client to a model, on this machine and over loopback alone.
//
// Its words:
//
// The model is a stub server. Its answer follows from the bytes of the request, so
// that the client can check every byte of it.
//
// A target is a way to the model: direct, or through a proxy that runs in a
// process of its own.
//
// A scenario is a kind of traffic: so many connections, such requests, such
// answers.
//
// A cell is one scenario sent through one target for a short while by the load
// generator, a closed loop: each connection sends its next request when it has
// the answer to the last. A round is one cell for each target, in an order that
// turns by one place from round to round.
//
// Other programs run on the same machine, so figures of different rounds do not
// compare. What is judged is the median over the rounds of the ratio to the
// reverseproxy cell of the same round. A bar is a figure to reach.
//
// A role is a part of this program that runs in a process of its own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// options are what the command line says.
type options struct {
	rounds  int
	seconds float64
	only    []string // scenarios
	targets []string
	bin     string // folder of recorder and inspect
	json    bool
	count   int
	profile string // folder for profiles, "" for none
}

func main() {
	if len(os.Args) > 1 {
		if name, ok := strings.CutPrefix(os.Args[1], rolePrefix); ok {
			exit(play(name, os.Args[2:]))
			return
		}
	}
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	exit(err)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.count > 0 {
		exit(countAll(ctx, o))
		return
	}
	exit(measureAll(ctx, o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	o := options{}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.IntVar(&o.rounds, "rounds", 9, "rounds of each scenario")
	f.Float64Var(&o.seconds, "seconds", 0.5, "seconds of a cell; slow streams take longer")
	only := f.String("only", "", "scenarios, separated by commas: "+strings.Join(scenarioNames(), ", "))
	targets := f.String("targets", "", "targets, separated by commas: "+strings.Join(targetNames, ", "))
	f.StringVar(&o.bin, "bin", "bin", "folder of recorder and inspect")
	f.BoolVar(&o.json, "json", false, "print one JSON document instead of tables")
	f.IntVar(&o.count, "count", 0, "send so many small exchanges through the recorder, and look whether all were answered and recorded")
	f.StringVar(&o.profile, "profile", "", "also profile the pieces of the recorder, and write CPU and heap profiles of each scenario to this folder")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.only, o.targets = list(*only, scenarioNames()), list(*targets, targetNames)
	return o, o.check(*targets != "", f.NArg())
}

func (o *options) check(named bool, rest int) error {
	for _, name := range o.only {
		if !slices.Contains(scenarioNames(), name) {
			return fmt.Errorf("unknown scenario %q", name)
		}
	}
	for _, name := range o.targets {
		if !slices.Contains(targetNames, name) {
			return fmt.Errorf("unknown target %q", name)
		}
	}
	if o.profile != "" && !named {
		o.targets = []string{direct, reverseproxy, profiled}
	} else if o.profile == "" {
		o.targets = slices.DeleteFunc(o.targets, func(name string) bool { return name == profiled })
	}
	switch {
	case rest > 0:
		return errors.New("no arguments are taken, only flags")
	case o.rounds < 1 || o.rounds > 1000:
		return errors.New("-rounds: want 1 to 1000")
	case !(o.seconds > 0 && o.seconds <= 600):
		return errors.New("-seconds: want more than 0 and at most 600")
	case o.count < 0 || o.count > 10_000_000:
		return errors.New("-count: want at most 10000000")
	}
	return nil
}

func list(flag string, all []string) []string {
	if flag == "" {
		return slices.Clone(all)
	}
	return strings.Split(flag, ",")
}
