package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/cmd/internal/server"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/replay/mock"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

type mockFlags struct {
	from      []string
	speed     float64
	own       []string
	printMask bool
	onMiss    string
	faults    []string
	seed      uint64
}

func newMock(o *options) *cobra.Command {
	var f mockFlags
	c := &cobra.Command{
		Use:   "mock --from REF…",
		Short: "Answer from recordings, as the provider once did",
		Long: `mock is an upstream that answers from recordings: point the agent at it by its
base URL. REF is a run (r12), a step (r12.3), an exchange (x34) or a take (t4); takes
of a run are left out.

A request matches by its content: method, path, query without keys, and the JSON
body. What differs from run to run is masked (--masks prints the list, --mask adds
a pattern). Recordings of equal requests are served in their order, each once; then
the error is replay_exhausted. Where nothing matches it is replay_no_match: status
400, which no SDK sends again, with the nearest recording and where the request
differs from it. No provider is ever called, except with --on-miss forward: then the
request goes to --upstream and is recorded.

Answers come with their status, headers and bytes, in the pieces in which they
came: at once, or with --speed 1 as slowly as they did.

--fault KIND[:ARG][@WHEN] makes something go wrong: at the third request (@3), for
one in ten (@0.1), or for all. Kinds: 429, 500, 503, 529 (429:5s says when to try
again), cut:EVENTS, slow:DURATION, malformed (arguments of calls), duplicate (call
ids), result:TEXT. Each is logged.

result:TEXT gives the last tool result of the request another text before it is
matched or forwarded, and the same result in all later requests, as if the tool had
said so. No recording of the run can tell what the model says to that: add a take in
which it saw that text (inspect replay r12.3 --set-result CALL_ID=TEXT, then --from
r12 --from t4), or ask a model (--on-miss forward).

POST /_retake/rewind makes every recording available again, GET /_retake/status
shows what was served and what is left.`,
		Example: `  recorder mock --from r12
  recorder mock --from x34 --from x35 --speed 1
  recorder mock --from r12 --fault 429@3 --fault cut:5@0.1
  recorder mock --from r12 --on-miss forward --upstream https://api.openai.com`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.printMask {
				for _, m := range mock.Masks() {
					fmt.Fprintln(c.OutOrStdout(), m)
				}
				fmt.Fprintln(c.OutOrStdout(), mock.WorkingDirectory)
				return nil
			}
			return serveMock(c.Context(), o, &f)
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.from, "from", nil, "run, step, exchange or take to answer from (repeatable)")
	flags.Float64Var(&f.speed, "speed", 0, "1 answers as slowly as it was recorded, 2 twice as fast, 0 at once")
	flags.StringArrayVar(&f.own, "mask", nil, "also mask what matches this regular expression (repeatable)")
	flags.BoolVar(&f.printMask, "masks", false, "print what is masked, and stop")
	flags.StringVar(&f.onMiss, "on-miss", "stop", "what to do with a request without a recording: stop answers with an error, forward sends it to --upstream")
	flags.StringArrayVar(&f.faults, "fault", nil, "what goes wrong, and when (repeatable)")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of faults that happen by chance")
	return c
}

// handler returns the mock without its recordings, and its masks.
func (f *mockFlags) handler() (*mock.Handler, []mock.Mask, error) {
	masks := mock.Masks()
	for _, pattern := range f.own {
		m, err := mock.ParseMask(pattern)
		if err != nil {
			return nil, nil, usageError{err}
		}
		masks = append(masks, m)
	}
	var faults []mock.Fault
	for _, spec := range f.faults {
		fault, err := mock.ParseFault(spec)
		if err != nil {
			return nil, nil, usageError{err}
		}
		faults = append(faults, fault)
	}
	switch {
	case len(f.from) == 0:
		return nil, nil, usageError{errors.New("--from is missing: a run, a step or an exchange")}
	case f.speed < 0:
		return nil, nil, usageError{errors.New("--speed must not be less than 0")}
	case f.onMiss != "stop" && f.onMiss != "forward":
		return nil, nil, usageError{fmt.Errorf("--on-miss %q: want stop or forward", f.onMiss)}
	}
	return &mock.Handler{Speed: f.speed, Faults: mock.NewFaults(faults, f.seed)}, masks, nil
}

// serveMock answers from recordings until it is told to stop.
func serveMock(ctx context.Context, o *options, f *mockFlags) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	h, masks, err := f.handler()
	if err == nil {
		o.web = "off"
		err = o.check()
	}
	if err != nil {
		return err
	}
	path, err := o.path()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no database at %s", path)
	}
	db, err := store.OpenReader(path)
	if err != nil {
		return err
	}
	defer db.Close()
	h.Log = server.Log(o.stderr, o.logFormat)
	h.Recordings = mock.NewRecordings(db, masks)
	for _, ref := range f.from {
		if err := loadRecordings(ctx, h.Recordings, db, ref, func(err error) { h.Log.Warn("left out", "error", err) }); err != nil {
			return err
		}
	}
	if h.Recordings.Len() == 0 {
		return fmt.Errorf("nothing to answer from in %s", strings.Join(f.from, ", "))
	}
	if f.onMiss == "forward" {
		forward, end, err := forwarding(ctx, o, path)
		if err != nil {
			return err
		}
		h.Miss = forward
		return errors.Join(listenMock(ctx, o, h), end())
	}
	return listenMock(ctx, o, h)
}

// loadRecordings adds the exchanges that a reference names.
func loadRecordings(ctx context.Context, recordings *mock.Recordings, r transcript.Reader, ref string, leftOut func(error)) error {
	list, err := meant(ctx, r, ref)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	for _, e := range list {
		if err := recordings.Add(ctx, e); errors.Is(err, mock.ErrUnservable) {
			leftOut(err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// meant returns the exchanges that a reference means; of a take all that it sent.
func meant(ctx context.Context, r transcript.Reader, ref string) ([]*transcript.Exchange, error) {
	target, err := view.Locate(ctx, r, ref)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(ref, "t"), 10, 64)
	switch {
	case target.Exchange == nil:
		return ofRun(ctx, r, target)
	case ref[0] == 't' && err == nil:
		return ofTake(ctx, r, n)
	}
	return []*transcript.Exchange{target.Exchange}, nil
}

func ofTake(ctx context.Context, r transcript.Reader, n int64) (list []*transcript.Exchange, err error) {
	take, err := r.TakeN(ctx, n)
	if err != nil {
		return nil, err
	}
	for _, s := range take.Steps {
		e, err := r.Exchange(ctx, s.Exchange)
		if errors.Is(err, transcript.ErrNotFound) { // it was never on record
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// ofRun returns the exchanges of a run, or of the agent that is meant, without those of
// takes, oldest first.
func ofRun(ctx context.Context, r transcript.Reader, of *view.Target) ([]*transcript.Exchange, error) {
	agent := ""
	if of.Agent > 0 {
		run, err := of.View(ctx, r, time.Now())
		if err != nil {
			return nil, err
		}
		if of.Agent > len(run.Agents) {
			return nil, fmt.Errorf("find agent %d: %w", of.Agent, transcript.ErrNotFound)
		}
		agent = run.Agents[of.Agent-1].ID
	}
	takes, err := r.Takes(ctx, "")
	if err != nil && !errors.Is(err, transcript.ErrDamaged) {
		return nil, err
	}
	sent := map[string]bool{}
	for i := range takes {
		for _, s := range takes[i].Steps {
			sent[s.Exchange] = true
		}
	}
	var list []*transcript.Exchange
	for e, err := range r.Exchanges(ctx, transcript.Filter{Run: of.Run.ID, Oldest: true}) {
		if err != nil {
			return nil, err
		}
		if sent[e.ID] || agent != "" && e.Link.Agent != agent {
			continue
		}
		whole, err := r.Exchange(ctx, e.ID) // listings may leave out the chunks
		if err != nil {
			return nil, err
		}
		list = append(list, whole)
	}
	return list, nil
}

// forwarding returns a proxy that forwards and records requests, and what closes it.
func forwarding(ctx context.Context, o *options, path string) (http.Handler, func() error, error) {
	upstreams, err := parseUpstreams(o.upstreams)
	if err != nil {
		return nil, nil, err
	}
	s := &session{options: o, upstreams: upstreams, path: path, log: server.Log(o.stderr, o.logFormat)}
	if s.db, err = retake.Open(ctx, path, retake.Options{Log: s.log}); err != nil {
		return nil, nil, err
	}
	roots, err := o.rootCAs()
	if err == nil {
		opts := s.db.Recording()
		opts.Upstreams, opts.RootCAs, opts.Proxy, opts.Listen = orKnown(upstreams), roots, http.ProxyFromEnvironment, o.listen
		opts.AllowHosts, opts.AllowOrigins = o.hosts, o.origins
		s.relay, err = recorder.NewProxy(opts)
	}
	if err != nil {
		return nil, nil, errors.Join(err, s.db.Close())
	}
	end := func() error { return errors.Join(s.relay.Close(), s.db.Close()) }
	return s.relay, end, nil
}

// listenMock serves until ctx ends.
func listenMock(ctx context.Context, o *options, h *mock.Handler) error {
	l, err := server.Listen(o.listen)
	if err != nil {
		return fmt.Errorf("%w; --listen takes another address", err)
	}
	guard := recorder.Guard(recorder.Options{Listen: l.Addr().String(), Token: o.token, AllowHosts: o.hosts, AllowOrigins: o.origins}, h)
	server := &http.Server{Handler: guard, ErrorLog: quiet(h.Log), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	token := ""
	if o.token != "" {
		token = "/_t/TOKEN"
	}
	fmt.Fprintf(o.stderr, "answering on http://%s%s from %d exchange%s\n", l.Addr(), token, h.Recordings.Len(), plural(int64(h.Recordings.Len())))
	for _, c := range clients() {
		if c.Usual {
			fmt.Fprintf(o.stderr, "  %s=http://%s%s%s\n", c.Variable, l.Addr(), token, c.Path)
		}
	}
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	if err := server.Shutdown(wait); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}
