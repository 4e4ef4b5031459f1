package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// The errors of references.
var (
	ErrBadRef    = errors.New("not a reference")
	ErrAmbiguous = errors.New("fits more than one")
	ErrIsRun     = errors.New("is a run, not an exchange") // where an exchange is expected
	ErrIsNoRun   = errors.New("is in no run")              // where a run is expected
)

// shortestPart is the minimum length of a part of an id.
const shortestPart = 4

// Target is what a reference means: a run, a step of one, or an exchange.
type Target struct {
	Run      *transcript.Run
	Agent    int                  // number of the named agent in the run, 0 for none
	Step     int                  // number of the step, 0 for the whole run
	Exchange *transcript.Exchange // the named exchange, or the step's last attempt; nil for a whole run
	Take     *transcript.Take     // the named take; nil for none
	read     *Run                 // if it was needed to resolve the reference
}

// View reads the run of the target.
func (t *Target) View(ctx context.Context, r transcript.Reader, now time.Time) (*Run, error) {
	if t.read == nil {
		return NewRun(ctx, r, t.Run, now)
	}
	rows, err := Runs(ctx, r, transcript.RunFilter{IDs: []string{t.Run.ID}}, now)
	if err == nil && len(rows) == 1 {
		t.read.RunRow = rows[0]
	}
	return t.read, nil
}

// Locate finds what a reference means:
//
//	r12          a run; last the latest one, last~2 the one two before it
//	r12.3        the third step of its first main agent
//	r12/a2       its second agent; r12/a2.3 that one's third step
//	x12          an exchange; x:last the latest one, x:last~2
//	t4           a take: the last exchange that it sent
//	0196b0aa     a part of the id of a run or an exchange that no other has
//
// Locate returns ErrNotFound, ErrAmbiguous or ErrBadRef for an invalid reference.
func Locate(ctx context.Context, r transcript.Reader, ref string) (*Target, error) {
	if back, ok := lastRef(ref, "x:last"); ok {
		e, err := nthLast(ctx, r, ref, back)
		return &Target{Exchange: e}, err
	}
	if n, ok := number(ref, "x"); ok {
		e, err := r.ExchangeN(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("find %s: %w", ref, err)
		}
		return &Target{Exchange: e}, nil
	}
	if n, ok := number(ref, "t"); ok {
		return byTake(ctx, r, n)
	}
	if name, agent, step, ok := runRef(ref); ok {
		return inRun(ctx, r, name, agent, step)
	}
	return byPart(ctx, r, ref)
}

// Resolve finds the exchange of a reference; ErrIsRun if it names a whole run.
func Resolve(ctx context.Context, r transcript.Reader, ref string) (*transcript.Exchange, error) {
	t, err := Locate(ctx, r, ref)
	if err != nil {
		return nil, err
	}
	if t.Exchange == nil {
		return nil, fmt.Errorf("%q %w", ref, ErrIsRun)
	}
	return t.Exchange, nil
}

// ResolveRun finds the run of a reference, or the run of its exchange.
func ResolveRun(ctx context.Context, r transcript.Reader, ref string) (*transcript.Run, error) {
	t, err := Locate(ctx, r, ref)
	if err != nil || t.Run != nil {
		return t.run(), err
	}
	if t.Exchange.Link.Run == "" {
		return nil, fmt.Errorf("%s %w: %w", ref, ErrIsNoRun, transcript.ErrNotFound)
	}
	return r.Run(ctx, t.Exchange.Link.Run)
}

func (t *Target) run() *transcript.Run {
	if t == nil {
		return nil
	}
	return t.Run
}

// runRef parses a reference to a run. ok is false if the text is none.
func runRef(ref string) (name string, agent, step int, ok bool) {
	name, rest, dotted := strings.Cut(ref, ".")
	if dotted {
		if step, ok = positive(rest); !ok {
			return "", 0, 0, false
		}
	}
	name, rest, slashed := strings.Cut(name, "/")
	if slashed {
		digits, isAgent := strings.CutPrefix(rest, "a")
		if agent, ok = positive(digits); !ok || !isAgent {
			return "", 0, 0, false
		}
	}
	_, isNumber := number(name, "r")
	_, isLast := lastRef(name, "last")
	return name, agent, step, isNumber || isLast
}

func positive(digits string) (int, bool) {
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0 && digits[0] != '+'
}

// inRun finds a run, or a step of one of its agents.
func inRun(ctx context.Context, r transcript.Reader, name string, agent, step int) (*Target, error) {
	run, err := findRun(ctx, r, name)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", name, err)
	}
	t := &Target{Run: run, Agent: agent, Step: step}
	if agent == 0 && step == 0 {
		return t, nil
	}
	v, err := NewRun(ctx, r, run, time.Time{})
	if err != nil {
		return nil, err
	}
	t.read = v
	if agent > len(v.Agents) || len(v.Agents) == 0 {
		return nil, fmt.Errorf("find agent %d of %s: %w", agent, v.Ref(), transcript.ErrNotFound)
	}
	if step == 0 {
		return t, nil
	}
	steps := v.Agents[max(agent, 1)-1].Steps
	i := slices.IndexFunc(steps, func(s *Step) bool { return s.N == step })
	if i < 0 {
		return nil, fmt.Errorf("find step %d of %s: %w", step, v.Ref(), transcript.ErrNotFound)
	}
	t.Exchange = steps[i].exchange
	return t, nil
}

func findRun(ctx context.Context, r transcript.Reader, name string) (*transcript.Run, error) {
	if n, ok := number(name, "r"); ok {
		return r.RunN(ctx, n)
	}
	back, _ := lastRef(name, "last")
	return nthLastRun(ctx, r, back)
}

// nthLastRun counts only runs with a step, unless there are none: model lists and
// the like are seldom meant.
func nthLastRun(ctx context.Context, r transcript.Reader, back int) (*transcript.Run, error) {
	const page = 20
	var latest *transcript.Run // if none has a step
	for before := int64(0); ; {
		list, err := r.Runs(ctx, transcript.RunFilter{Before: before, Limit: page})
		if err != nil {
			return nil, err
		}
		if before == 0 && back == 0 && len(list) > 0 {
			latest = &list[0].Run
		}
		for i := range list {
			switch {
			case list[i].Steps == 0:
			case back == 0:
				return &list[i].Run, nil
			default:
				back--
			}
		}
		if len(list) < page {
			break
		}
		before = list[len(list)-1].N
	}
	if latest == nil {
		return nil, transcript.ErrNotFound
	}
	return latest, nil
}

func number(ref, prefix string) (int64, bool) {
	digits, ok := strings.CutPrefix(ref, prefix)
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, ok && err == nil && n > 0
}

func byTake(ctx context.Context, r transcript.Reader, n int64) (*Target, error) {
	t, err := r.TakeN(ctx, n)
	if err != nil {
		return nil, fmt.Errorf("find t%d: %w", n, err)
	}
	for _, s := range slices.Backward(t.Steps) { // the last one may have been cut before it was stored
		if s.Step == 0 {
			continue
		}
		e, err := r.Exchange(ctx, s.Exchange)
		if err == nil || !errors.Is(err, transcript.ErrNotFound) {
			return &Target{Exchange: e, Take: t}, err
		}
	}
	return nil, fmt.Errorf("find t%d: it sent nothing: %w", n, transcript.ErrNotFound)
}

// mostBack bounds the n in last~n.
const mostBack = 1_000_000

func lastRef(ref, last string) (back int, ok bool) {
	rest, ok := strings.CutPrefix(ref, last)
	if !ok || rest == "" {
		return 0, ok
	}
	digits, ok := strings.CutPrefix(rest, "~")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 0 && n <= mostBack
}

func nthLast(ctx context.Context, r transcript.Reader, ref string, back int) (*transcript.Exchange, error) {
	for e, err := range r.Exchanges(ctx, transcript.Filter{Limit: back + 1}) {
		if err != nil {
			return nil, err
		}
		if back == 0 {
			return e, nil
		}
		back--
	}
	return nil, fmt.Errorf("find %s: %w", ref, transcript.ErrNotFound)
}

func byPart(ctx context.Context, r transcript.Reader, ref string) (*Target, error) {
	part := strings.ToLower(ref)
	if strings.Trim(part, "0123456789abcdef-") != "" {
		return nil, fmt.Errorf("find %q: %w", ref, ErrBadRef)
	}
	if len(ref) < shortestPart {
		return nil, fmt.Errorf("find %q: %w: a part of an id needs %d characters", ref, ErrBadRef, shortestPart)
	}
	exchanges, err := r.FindExchanges(ctx, part, 2)
	if err != nil {
		return nil, err
	}
	runs, err := r.FindRuns(ctx, part, 2)
	if err != nil {
		return nil, err
	}
	switch {
	case len(exchanges)+len(runs) == 0:
		return nil, fmt.Errorf("find %q: %w", ref, transcript.ErrNotFound)
	case len(exchanges)+len(runs) > 1:
		return nil, fmt.Errorf("find %q: %w", ref, ErrAmbiguous)
	case len(runs) == 1:
		run, err := r.Run(ctx, runs[0])
		return &Target{Run: run}, err
	}
	e, err := r.Exchange(ctx, exchanges[0])
	return &Target{Exchange: e}, err
}
