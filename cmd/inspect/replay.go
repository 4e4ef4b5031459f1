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

// usualSteps is where a take stops if nothing else is said: a model may call tools for
// ever.
const usualSteps = 50

func newReplay(a *app) *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay REF|--resume TAKE [--set-result CALL_ID=TEXT]…",
		Short: "Run a step again with something changed, and go on from there",
		Long: `replay sends a recorded request again, with edits, and goes on: tool calls of the
answer get their results, and the next request is sent, until the model calls no
tool any more. It is recorded as a take, a branch where it left the original;
nothing recorded is changed. With --once it sends this one step.

REF is a step (r12.3), an exchange (x34) or a run (r12: from the step whose
request brings the first result that is edited, else from its first step).

--set-result gives one tool result another text (a part of the call id will do;
@FILE takes the file as it is, its last line end too). The result may come later in
the recording, too: then it stands in for the recorded one when its turn comes.
Edits are spliced into the recorded bytes, all else is sent exactly as it was.
Pointers are JSON pointers into the request; --drop, --set, --insert and --patch
are made in this order, then what goes by name, --edit last. What lint calls an
error, and the recorded request did not have, is told, and nothing is sent without
--force.

The result of a call comes from the first source that has one, and is labelled
with it: edited; recorded, if the recording went on with the same tool and the
same arguments, each result once, in the order of the recording; then those that
you name: --tool-exec, --tool-http, --tool-mcp, --ask, --simulate. --sources gives
another order. No tool is run that you did not name. Where no source has a result
the take stops, shows the open calls and how to answer them: --resume.

History that the provider holds (previous_response_id, conversations, threads) is
sent in full, from the recording, so that a replay adds nothing to what it holds.

With -n it is played so many times, and as often without the edits, one of each in
turn; then it is told how often something happened in each, and whether the edit did
anything: whether the next answer calls the tools that it called in the recording,
or what --expect-tool, --expect-text or --check names. Name one before you look:
what strikes you afterwards may be chance. Several --model are compared with each
other. --to converts to another dialect; what that cannot carry is listed.

A take ends at --max-steps, and at --max-tokens, --max-cost and --timeout where
given. What it is likely to use is told before; on a terminal you are asked.
Elsewhere, if it costs money, it wants --yes or --max-cost. Ctrl-C stops it and
keeps what was done.

The key comes from the environment, from the variable that the provider's SDK
uses (OPENAI_API_KEY, ANTHROPIC_API_KEY …) or the one that --key-env names; it is
not stored.

Exit status: 0 the model came to its end (or the one step was answered), 1 it did
not, 2 wrong usage, 3 not found.`,
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
	flags.BoolVar(&f.once, "once", false, "send this one step again, and stop; no tool is run")
	flags.StringVar(&f.resume, "resume", "", "go on with a take that stopped (t4)")
	addEditFlags(c, &f.edits)
	flags.StringVar(&f.reason, "reason", "", "why, in your words: kept with the take")
	flags.StringVar(&f.keyEnv, "key-env", "", "environment variable that holds the key")
	flags.StringVar(&f.upstream, "upstream", "", "send to this server (scheme and host), or well-known provider by its name, instead of the recorded one")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the request body that would be sent, on standard error what is otherwise in it, and stop")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	flags.IntVar(&f.limits.steps, "max-steps", usualSteps, "send at most so many requests")
	flags.Int64Var(&f.limits.tokens, "max-tokens", 0, "send no further request once so many tokens were used")
	flags.StringVar(&f.limits.cost, "max-cost", "", "send no further request once so many USD were spent")
	flags.DurationVar(&f.limits.timeout, "timeout", 0, "stop after so long, e.g. 5m")
	flags.StringVar(&f.to, "to", "", "send in this dialect: chat, responses or messages; what cannot be carried is listed")
	f.sources.add(flags)
	f.sample.add(flags)
	return c
}

// replaying is one replay as the command does it.
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

// longestAmount is how long an amount may be written.
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

// origin finds the step that a reference names. Of a run the plan chooses one.
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

// prepare works the plan out, and finds the key. Nothing is written yet.
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
		fmt.Fprintf(x.err, "inspect: not sent, since they were never stored: %s\n", strings.Join(req.Dropped, ", "))
	}
	return x.setKeys()
}

// makeReady fills the plan and works it out. What lint calls wrong keeps it from being
// sent, without --force.
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
