package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

type replayFlags struct {
	once     bool
	resume   string
	reason   string
	keyEnv   string
	upstream string
	to       string
	dryRun   bool
	yes      bool
	edits    editFlags
	sources  sourceFlags
	limits   limitFlags
	sample   sampleFlags
}

// limitFlags are the limits of a take.
type limitFlags struct {
	steps   int
	tokens  int64
	cost    string
	timeout time.Duration
}

// usualSteps is the default limit of steps, because a model may call tools forever.
const usualSteps = 50

func newReplay(a *app) *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay REF|--resume TAKE [--set-result CALL_ID=TEXT]…",
		Short: "Replay a step with something changed, and continue from there",
		Long: `replay sends a recorded request again, with edits, and continues from there: tool
calls of the answer get their results, and the next request is sent, until the model
calls no more tools. It is recorded as a take, a branch where it left the original;
nothing recorded is changed. With --once it sends only this one step.

REF is a step (r12.3), an exchange (x34) or a run (r12: from the step whose request
introduces the first edited result, else from its first step).

--set-result changes the text of one tool result (a unique part of the call id is
enough; @FILE reads the file as it is, including its last line end). If the result
comes later in the recording, it replaces the recorded one when its turn comes.
Edits are spliced into the recorded bytes; everything else is sent exactly as it was.
Pointers are JSON pointers into the request. --drop, --set, --insert and --patch are
applied in this order, then the edits by name, --edit last. Errors that lint finds
in the edited request and not in the recorded one are printed, and nothing is sent
without --force.

The result of a call comes from the first source that has one, and is labelled with
it: edited; recorded, if the recording continued with the same tool and the same
arguments, each result once, in the order of the recording; then those that you
name: --tool-exec, --tool-http, --tool-mcp, --ask, --simulate. --sources changes the
order. No tool runs that you did not name. Where no source has a result the take
stops, shows the open calls and how to answer them: --resume.

History that the provider holds (previous_response_id, conversations, threads) is
sent in full, from the recording, so that a replay adds nothing to it.

With -n it plays that many takes, and as many without the edits, in turn; then it
reports how often something happened in each, and whether the edit had an effect:
whether the next answer calls the tools that it called in the recording, or what
--expect-tool, --expect-text or --check names. Name one before you look: what you
notice afterwards may be chance. Several --model are compared with each other. --to
converts to another API; what that cannot carry is listed.

A take ends at --max-steps, and at --max-tokens, --max-cost and --timeout if given.
An estimate is printed first; on a terminal you are asked. Without a terminal, a
replay that costs money needs --yes or --max-cost. Ctrl-C stops it and keeps what
was done.

The key comes from the environment, from the variable that the provider's SDK uses
(OPENAI_API_KEY, ANTHROPIC_API_KEY …) or the one that --key-env names; it is not
stored.

Exit status: 0 the model finished (or the one step was answered), 1 it did not,
2 wrong usage, 3 not found.`,
		Example: `  inspect replay r12.3 --set-result call_abc="ok  ./...  0.3s"
  inspect replay r12 --set-result call_abc=@result.txt --max-cost 0.50
  inspect replay x12 --once --set-result call_abc=none --dry-run
  inspect replay r12.3 --model gpt-5-mini --param temperature=0 --drop /messages/2
  inspect replay r12 --tool-exec run_tests='jq -r .pkg | xargs go test'
  inspect replay r12.3 -n 20 --set-result call_abc="no such file" --expect-tool ask_user
  inspect replay r12.3 -n 10 --model gpt-5.2 --model claude-opus-4-8@anthropic --check ./is-good.sh
  inspect replay --resume t4 --set-result call_def="no such file"`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if (len(args) == 1) == (f.resume != "") {
				return usageError{errors.New("name what to replay, or a take with --resume")}
			}
			x := &replaying{app: a, ctx: c.Context(), f: &f}
			return x.run(args)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&f.once, "once", false, "send this one step again and stop; no tool runs")
	flags.StringVar(&f.resume, "resume", "", "continue a take that stopped (t4)")
	addEditFlags(c, &f.edits)
	flags.StringVar(&f.reason, "reason", "", "the reason, in your words; stored with the take")
	flags.StringVar(&f.keyEnv, "key-env", "", "environment variable that holds the key")
	flags.StringVar(&f.upstream, "upstream", "", "send to this server (scheme and host) or well-known provider (by name) instead of the recorded one")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the request body that would be sent (its differences on standard error) and stop")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	flags.IntVar(&f.limits.steps, "max-steps", usualSteps, "send at most this many requests")
	flags.Int64Var(&f.limits.tokens, "max-tokens", 0, "stop sending once this many tokens were used")
	flags.StringVar(&f.limits.cost, "max-cost", "", "stop sending once this many USD were spent")
	flags.DurationVar(&f.limits.timeout, "timeout", 0, "stop after this long, such as 5m")
	flags.StringVar(&f.to, "to", "", "convert to this API: chat, responses or messages; what cannot be converted is listed")
	f.sources.add(flags)
	f.sample.add(flags)
	return c
}

// replaying is one run of replay.
type replaying struct {
	*app
	ctx    context.Context
	f      *replayFlags
	prices *pricing.Table

	plan  replay.Plan
	ready *replay.Ready
}

func (x *replaying) run(args []string) error {
	path, err := x.path()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return notFound("no database at " + path)
	}
	if err := x.f.sources.check(); err != nil {
		return err
	}
	if x.prices, err = x.app.prices(); err != nil {
		return err
	}
	if x.plan.Limits, err = x.f.limits.limits(); err != nil {
		return err
	}
	if x.f.several() {
		return x.sample(path, args)
	}
	if err := x.prepare(args); err != nil || x.f.dryRun {
		return err
	}
	return x.play(path)
}

// longestAmount bounds the characters of an amount.
const longestAmount = 30

func (f *limitFlags) limits() (replay.Limits, error) {
	l := replay.Limits{Steps: f.steps, Tokens: f.tokens, Time: f.timeout}
	if f.steps < 0 || f.tokens < 0 || f.timeout < 0 {
		return l, usageError{errors.New("--max-steps, --max-tokens and --timeout are not less than 0")}
	}
	if f.cost == "" {
		return l, nil
	}
	usd, ok := new(big.Rat).SetString(f.cost)
	if !ok || strings.Trim(f.cost, "0123456789.") != "" || len(f.cost) > longestAmount {
		return l, usageError{fmt.Errorf("--max-cost %q: want an amount in USD, such as 0.50", f.cost)}
	}
	l.Cost = usd
	return l, nil
}

// fill fills the plan from the flags.
func (x *replaying) fill(r transcript.Reader, args []string) (err error) {
	p, f := &x.plan, x.f
	p.Once, p.Retries, p.Reason = f.once, retries, f.reason
	p.Sources = f.sources.specs(x)
	p.Upstream = f.upstream
	if p.Targets, err = f.targets(); err != nil {
		return err
	}
	if f.resume != "" {
		if p.Resume, err = x.takeRef(x.ctx, r, f.resume); err == nil {
			p.Edits, err = f.edits.resultsOnly()
		}
		return err
	}
	if p.Edits, err = f.edits.read(); err != nil {
		return err
	}
	if f.edits.editor {
		p.ByHand = x.editByHand
	}
	return x.origin(r, args[0])
}

// origin finds the step of a reference. For a run, the plan chooses one.
func (x *replaying) origin(r transcript.Reader, ref string) error {
	t, err := x.locate(x.ctx, r, ref)
	if err != nil {
		return err
	}
	if x.plan.Origin = t.Exchange; t.Exchange != nil {
		return nil
	}
	run, err := t.View(x.ctx, r, time.Now())
	if err != nil {
		return err
	}
	agent := max(t.Agent, 1) - 1
	if agent >= len(run.Agents) || len(run.Agents[agent].Steps) == 0 {
		return notFound(fmt.Sprintf("%s has no step to replay", ref))
	}
	for _, s := range run.Agents[agent].Steps {
		x.plan.Steps = append(x.plan.Steps, s.Exchange)
	}
	return nil
}

// prepare builds the plan and finds the key. Nothing is written yet.
func (x *replaying) prepare(args []string) error {
	db, err := x.open()
	if err != nil {
		return err
	}
	defer db.Close()
	if err := x.makeReady(db, args); err != nil {
		return err
	}
	if len(x.ready.Losses) > 0 {
		x.tellLosses(x.f.target(), x.ready.Losses)
	}
	if x.f.dryRun && x.ready.Resumed != nil {
		return x.dryResume(db)
	}
	req := x.ready.Request
	if x.f.dryRun {
		return x.printDryRun(req)
	}
	if len(req.Dropped) > 0 {
		fmt.Fprintf(x.err, "inspect: not sent, because they are never stored: %s\n", strings.Join(req.Dropped, ", "))
	}
	return x.setKeys()
}

// makeReady fills and builds the plan. Errors found by lint stop it, unless --force
// is given.
func (x *replaying) makeReady(r transcript.Reader, args []string) error {
	if err := x.fill(r, args); err != nil {
		return err
	}
	ready, err := x.plan.Prepare(x.ctx, r)
	if err != nil {
		return x.planError(err)
	}
	x.ready = ready
	return x.f.edits.refuse(x.app, ready.Found)
}
