package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// targets reads --model, --upstream and --to: at least one target.
func (f *replayFlags) targets() ([]replay.Target, error) {
	switch transcript.Dialect(f.to) {
	case "", transcript.Chat, transcript.Responses, transcript.Messages:
	default:
		return nil, usageError{fmt.Errorf("--to %q: want chat, responses or messages", f.to)}
	}
	list := []replay.Target{{Upstream: f.upstream, To: transcript.Dialect(f.to)}}
	for i, name := range f.edits.models {
		t := replay.Target{Upstream: f.upstream, To: transcript.Dialect(f.to)}
		var where string
		if t.Model, where = replay.ModelAt(name); where != "" {
			t.Upstream = where
		}
		if i == 0 {
			list = list[:0]
		}
		list = append(list, t)
	}
	return list, nil
}

// aim turns a request towards a target, and tells what could not be carried.
func aim(ctx context.Context, r transcript.Reader, t *replay.Target, req *replay.Request) ([]dialect.Loss, error) {
	losses, err := t.Aim(ctx, r, req)
	if errors.Is(err, replay.ErrUpstream) {
		err = usageError{err}
	}
	return losses, err
}

// aim turns the request of one take towards the target that the flags name.
func (x *replaying) aim(r transcript.Reader) error {
	targets, err := x.f.targets()
	if err != nil {
		return err
	}
	spoke := x.req.Speaks()
	losses, err := aim(x.ctx, r, &targets[0], x.req)
	if err != nil {
		return err
	}
	if x.resumed != nil && x.req.Speaks() != spoke {
		return usageError{fmt.Errorf("--resume goes on in the dialect of the take, %s: to convert it, replay one of its steps (inspect show %s names them)", spoke, x.f.resume)}
	}
	x.tellLosses(targets[0].Name(), losses)
	return nil
}

// tellLosses lists on standard error what a conversion could not carry.
func (a *app) tellLosses(name string, losses []dialect.Loss) {
	if len(losses) == 0 || a.json {
		return
	}
	const most = 20
	fmt.Fprintf(a.err, "not carried to %s:\n", visible(name))
	for i, l := range losses {
		if i == most {
			fmt.Fprintf(a.err, "  … and %d more (--json lists them all)\n", len(losses)-most)
			return
		}
		change := ""
		if l.From != "" || l.To != "" {
			change = cut(word(l.From), 40)
			if l.To != "" {
				change = strings.TrimSpace(change + " → " + cut(word(l.To), 40))
			}
		}
		fmt.Fprintf(a.err, "  %s\n", join([]string{string(l.Code), word(l.At), change, l.Why}))
	}
}
