package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/cmd/internal/server"
	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// storedWithin bounds the wait for the commit of a replayed exchange.
const storedWithin = 30 * time.Second

// retries is how often a temporarily refused request is sent again.
const retries = 4

// setKeys sets the keys of the requests from the environment.
func (x *replaying) setKeys() error {
	err := x.ready.SetKeys(x.getenv, x.f.keyEnv)
	var key *replay.KeyError
	switch {
	case errors.Is(err, replay.ErrNoVariable) && errors.As(err, &key):
		return usageError{fmt.Errorf("the request goes to %s, for which no key is known or which is not encrypted: name its variable with --key-env if it needs one", key.Host)}
	case errors.As(err, &key):
		return usageError{fmt.Errorf("%w: set %s, or name another variable with --key-env", key.Err, key.Variable)}
	}
	return err
}

// consent prints the estimate, and asks whether to continue.
func (x *replaying) consent() error {
	e := x.ready.Estimate(x.prices)
	if x.plan.Limits.Cost != nil && !x.ready.Local() && e.USD == nil {
		return usageError{errors.New("--max-cost: the price of the model is not known, so that it could not be kept to; give it in a file (--prices), or use --max-tokens")}
	}
	if x.f.once && !x.f.several() {
		return nil
	}
	return x.agree(e, estimated(e))
}

// agree prints the estimate, and asks whether to continue if it may cost money.
func (x *replaying) agree(e replay.Estimate, about string) error {
	if x.f.yes || x.ready.Local() || e.Requests <= 1 || x.plan.Limits.Cost != nil && !x.asks() {
		if !x.json {
			fmt.Fprintln(x.err, about)
		}
		return nil
	}
	if !x.asks() {
		return usageError{fmt.Errorf("%s. There is no terminal to ask on: --yes continues, --max-cost USD sets a limit", about)}
	}
	ok, err := x.ask(about+" — go on? [y/N] ", "nothing was sent")
	if err == nil && !ok {
		err = errFindings
	}
	return err
}

// estimated describes the expected usage of a replay.
func estimated(e replay.Estimate) string {
	cost := "cost not known"
	if e.USD != nil {
		cost = "$" + pricing.Rounded(e.USD)
	}
	by := "as the recording used from here on"
	if e.Guessed {
		by = "guessed, since the recording does not tell its usage"
	}
	return fmt.Sprintf("estimated %s, %s in, %s out, %s (%s)", counted(e.Requests, "request"), number(e.Input), number(e.Output), cost, by)
}

// record opens the database that records what is sent. Until it is closed, a reader
// that closes the output does not end the program: a program killed by SIGPIPE
// would leave its recording in the spool. Nothing more is sent then.
func (x *replaying) record(path string) (w *retake.DB, closeIt func(), err error) {
	if w, err = retake.Open(x.ctx, path, retake.Options{Prices: x.prices, Log: server.Log(x.err, "text")}); err != nil {
		return nil, nil, err
	}
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := context.WithCancel(x.ctx)
	x.ctx = ctx
	if !x.progress().on { // a terminal does not close early
		x.err = leaving{x.err, stop}
	}
	return w, func() {
		w.Close()
		signal.Reset(syscall.SIGPIPE)
		stop()
	}, nil
}

// leaving is an output that detects when its reader has gone.
type leaving struct {
	io.Writer
	gone func()
}

func (l leaving) Write(b []byte) (int, error) {
	n, err := l.Writer.Write(b)
	if left(err) {
		l.gone()
	}
	return n, err
}

// play plays the take and prints the result.
func (x *replaying) play(path string) error {
	if err := x.consent(); err != nil {
		return err
	}
	o, closeSources, err := x.ready.Options(x.ctx)
	if err != nil {
		return err
	}
	defer closeSources()
	w, closeIt, err := x.record(path)
	if err != nil {
		return err
	}
	defer closeIt()
	if !x.json {
		fmt.Fprintf(x.err, "%s to %s\n", x.doing(), word(x.ready.Request.Host()))
	}
	o.Progress = takeTeller{app: x.app}.tell
	take, err := w.Player().Play(x.ctx, x.ready.Request, o)
	if err != nil {
		return err
	}
	if len(take.Steps) > 0 {
		wait, cancel := context.WithTimeout(context.WithoutCancel(x.ctx), storedWithin)
		defer cancel()
		if _, err := w.Stored(wait, take.Steps[len(take.Steps)-1]); err != nil {
			return fmt.Errorf("store the replayed exchange: %w", err)
		}
	}
	if names := x.f.sources.unrun(take.Results); len(names) > 0 && !x.json {
		fmt.Fprintf(x.err, "inspect: not run, because the recording had the results: %s. To run it first: --sources edited,exec,http,recorded\n", word(strings.Join(names, ", ")))
	}
	return x.printTake(context.WithoutCancel(x.ctx), w.Store(), take)
}

// takeTeller prints the progress of a take on standard error, a line for each step.
type takeTeller struct{ *app }

func (p takeTeller) tell(e replay.Event) {
	if p.json {
		return
	}
	switch e.Kind {
	case replay.Answered:
		took := float64(e.Took.Milliseconds())
		fmt.Fprintf(p.err, "%3d  %s\n", e.Step, join(append([]string{p.gist(e), duration(&took)}, tokenFacts(e.Turn.Usage)...)))
	case replay.Waits:
		fmt.Fprintf(p.err, "     status %d: once more in %s\n", e.Status, e.Wait.Round(time.Millisecond))
	case replay.Ran:
		mark := ""
		if e.Result.IsError {
			mark = ", an error"
		}
		fmt.Fprintf(p.err, "     %s %s ← %s%s\n", word(e.Call.Name), word(e.Call.CallID), e.Result.Source, mark)
	}
}

// gist describes an answer in few words.
func (p takeTeller) gist(e replay.Event) string {
	var calls []string
	for i := range e.Turn.Output {
		if it := &e.Turn.Output[i]; it.Kind == transcript.ToolCall && !it.ServerSide {
			calls = append(calls, word(it.Name))
		}
	}
	switch {
	case e.Err != nil:
		return visible(e.Err.Error())
	case e.Turn.Error != nil:
		return fmt.Sprintf("status %d: %s", e.Status, cut(word(e.Turn.Error.Message), 200))
	case calls != nil:
		return strings.Join(calls, ", ")
	}
	return cut(word(e.Turn.Text), 60)
}

// doing describes what is sent: a recorded request again, or the continuation of a
// take.
func (x *replaying) doing() string {
	if x.ready.Resumed != nil {
		return "going on with take " + x.f.resume
	}
	return "sending " + view.Ref(x.ready.Request.Origin.N) + " again"
}
