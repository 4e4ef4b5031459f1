package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/replay/minimise"
	"github.com/retake-debugger/retake/view"
)

// minimiseFlags are the flags of minimise that a replay does not have.
type minimiseFlags struct {
	replayFlags
	samples  int
	atLeast  int
	requests int
	parts    []string
	output   string
}

const (
	// samplesEach is the default number of samples of a candidate: answers of models
	// vary, and one odd answer would mislead the rest of the search. Two that agree
	// are enough.
	samplesEach = 3
	// mostRequests is the default limit of requests.
	mostRequests = 200
)

func newMinimise(a *app) *cobra.Command {
	var f minimiseFlags
	c := &cobra.Command{
		Use:   "minimise REF --expect-tool NAME|--expect-text REGEX|--check CMD",
		Short: "Find the smallest part of a request that still makes the model do it",
		Long: `minimise finds what in a request makes the model answer as it does. It leaves out
parts and asks again, by delta debugging: items of the conversation (a call and its
results are one), then lines of the long texts that are left, then tools. What is
left in the end is decisive: without any single part of it the model no longer does
it.

REF is a step (r12.3) or an exchange (x34). It looks for what the recorded answer
does (the tools that it calls, with their arguments), or for what you name:
--expect-tool, --expect-text, --check. It looks in the answer to this one request;
no tool runs. A check gets the answer on its standard input: {"text", "output":
[item], "finish_reason", "model", "usage"}, items as in show --json, and exits with
status 0 if the answer shows it.

Each candidate is asked up to --samples times, until it is known whether --at-least
that many answers show it. The whole request is asked first; what it does not show
cannot be minimised. A candidate that lint says a provider would refuse is never
sent: a batch of calls stays complete, reasoning goes with what it led to, and what
the API requires (with messages, a first message of a user) stays and is marked as
required. The smallest request is asked once more in the end.

Suspicious parts are tried first: those that contain what is looked for or what the
answer says, failed results, findings of lint, the last items.

It ends at --max-requests or --max-cost; on Ctrl-C it also keeps the smallest
request so far. An estimate is printed first; on a terminal you are asked. Without a
terminal, a search that costs money needs --yes or --max-cost. Every request is
recorded as a take; inspect show tN shows the smallest one.

--json prints {exchange, looked_at, verdict, samples, at_least, take, group, decisive:
[{n, kind, at: [pointer], role, call_id, name, text, required, lines: [{at, n, of,
text}]}], left_out: [{n, kind, at, role, call_id, name, text}], items: {kept, of},
lines, tools, least, stopped, again: {yes, of}, candidates: [{part, items, lines,
tools, shows, yes, asked, refused, takes}], illegal, requests, usage, cost_usd,
cost_is_lower_bound, bytes, bytes_whole, edits, request}.

Exit status: 0 the smallest request was found, and showed it again; 1 it was not (it
did not show at all, did not show again, or the search ended early); 2 wrong usage;
3 not found.`,
		Example: `  inspect minimise r12.3 --expect-tool delete_branch
  inspect minimise x34 --expect-text '(?i)sorry' --samples 5 --at-least 4
  inspect minimise x34 --check 'jq -e ".output[] | select(.name==\"bash\")"' --max-cost 2
  inspect minimise x34 --parts items --max-requests 60 -o smallest.json
  inspect minimise x34 --expect-tool rm --json --yes | jq '.decisive[].at'`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			x := &minimising{replaying: &replaying{app: a, ctx: c.Context(), f: &f.replayFlags}, f: &f}
			return x.run(args[0])
		},
	}
	flags := c.Flags()
	f.sample.addExpected(flags)
	flags.StringVar(&f.sample.check, "check", "", "CMD: expect this command to exit with status 0, given the answer as JSON on its standard input ($RETAKE_TAKE names the take)")
	flags.IntVar(&f.samples, "samples", samplesEach, "ask each candidate up to this many times")
	flags.IntVar(&f.atLeast, "at-least", 0, "how many of the answers have to show it (default: more than half)")
	flags.StringSliceVar(&f.parts, "parts", []string{"items", "lines", "tools"}, "what may be left out")
	flags.IntVar(&f.requests, "max-requests", mostRequests, "send at most this many requests")
	flags.StringVar(&f.limits.cost, "max-cost", "", "stop sending once this many USD were spent")
	flags.IntVar(&f.sample.parallel, "parallel", takesAtOnce, "requests at once")
	flags.StringVar(&f.reason, "reason", "", "the reason, in your words; stored with the take of the smallest request")
	flags.StringVar(&f.keyEnv, "key-env", "", "environment variable that holds the key")
	flags.StringVar(&f.upstream, "upstream", "", "send to this server (scheme and host) or well-known provider (by name) instead of the recorded one")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	flags.StringVarP(&f.output, "output", "o", "", "write the body of the smallest request to this file")
	return c
}

// minimising is one run of minimise.
type minimising struct {
	*replaying
	f *minimiseFlags
	m minimise.Minimiser
}

func (x *minimising) run(ref string) error {
	path, err := x.path()
	if err != nil {
		return err
	}
	if err := x.check(); err != nil {
		return err
	}
	if x.prices, err = x.app.prices(); err != nil {
		return err
	}
	if x.plan.Limits, err = x.f.limits.limits(); err != nil {
		return err
	}
	if err := x.prepare(ref); err != nil {
		return err
	}
	e, err := x.m.Estimate(x.prices)
	if err != nil {
		return err
	}
	if err := x.agree(e, x.estimated(e)); err != nil {
		return err
	}
	return x.search(path)
}

// check validates the flags.
func (x *minimising) check() error {
	f := x.f
	switch {
	case f.samples < 1 || f.sample.parallel < 1:
		return usageError{errors.New("--samples and --parallel: want a number above 0")}
	case f.atLeast < 0 || f.atLeast > f.samples:
		return usageError{fmt.Errorf("--at-least %d: want 1 to %d, the number of --samples", f.atLeast, f.samples)}
	case f.requests < 2*f.samples:
		return usageError{fmt.Errorf("--max-requests %d: the whole request and the smallest one are asked %d times each", f.requests, f.samples)}
	}
	for _, name := range f.parts {
		switch part := minimise.Part(name); part {
		case minimise.Items, minimise.Lines, minimise.Tools:
			x.m.Parts = append(x.m.Parts, part)
		default:
			return usageError{fmt.Errorf("--parts %q: want items, lines or tools", name)}
		}
	}
	if len(x.m.Parts) == 0 {
		return usageError{errors.New("--parts: want items, lines or tools")}
	}
	return nil
}

// prepare builds the whole request and finds its key.
func (x *minimising) prepare(ref string) error {
	db, err := x.open()
	if err != nil {
		return err
	}
	defer db.Close()
	origin, err := x.resolve(x.ctx, db, ref)
	if err != nil {
		return err
	}
	if !dialect.Known(origin.Dialect) {
		return fmt.Errorf("%s is in dialect %s: %s can be minimised", view.Ref(origin.N), origin.Dialect, dialect.Listed("and"))
	}
	p := &x.plan
	p.Minimise, p.Origin, p.Upstream, p.Retries, p.Reason = true, origin, x.f.upstream, retries, x.f.reason
	if p.Expect, err = x.f.sample.expect(); err != nil {
		return err
	}
	if x.ready, err = p.Prepare(x.ctx, db); err != nil {
		return x.planError(err)
	}
	x.m.Plan(x.ready)
	x.m.Samples, x.m.AtLeast, x.m.Parallel, x.m.Requests = x.f.samples, x.f.atLeast, x.f.sample.parallel, x.f.requests
	return x.setKeys()
}

// search finds the smallest request and prints it.
func (x *minimising) search(path string) error {
	w, closeIt, err := x.record(path)
	if err != nil {
		return err
	}
	defer closeIt()
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make group id: %w", err)
	}
	bar := x.progress()
	x.m.Player, x.m.Group, x.m.Progress = w.Player(), id.String(), x.teller(bar)
	if !x.json {
		fmt.Fprintf(x.err, "asking %s again without some of its parts; looking whether %s\n", view.Ref(x.ready.Request.Origin.N), visible(x.m.Predicate.Name))
	}
	found, err := x.m.Run(x.ctx)
	bar.clear()
	if errors.Is(err, minimise.ErrNotShown) {
		whole := found.Candidates[0]
		err = fmt.Errorf("the whole request does not show it: %d of %s, %d needed (%s). Look for something else, or raise --samples and lower --at-least",
			whole.Yes, counted(whole.Asked, "answer"), found.AtLeast, strings.Join(whole.Takes, ", "))
	}
	if err != nil {
		return err
	}
	if err := minimise.Keep(context.WithoutCancel(x.ctx), w.Store(), found); err != nil {
		return err
	}
	return x.print(found)
}
