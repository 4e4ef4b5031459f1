package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/recorder"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// target is one place that a request goes to. Empty members leave it as it was.
type target struct {
	model    string
	upstream string
	to       transcript.Dialect
}

// targets reads --model, --upstream and --to: at least one target.
func (f *replayFlags) targets() ([]target, error) {
	switch transcript.Dialect(f.to) {
	case "", transcript.Chat, transcript.Responses, transcript.Messages:
	default:
		return nil, usageError{fmt.Errorf("--to %q: want chat, responses or messages", f.to)}
	}
	list := []target{{upstream: f.upstream, to: transcript.Dialect(f.to)}}
	for i, name := range f.edits.models {
		t := target{upstream: f.upstream, to: transcript.Dialect(f.to)}
		var where string
		if t.model, where = modelAt(name); where != "" {
			t.upstream = where
		}
		if i == 0 {
			list = list[:0]
		}
		list = append(list, t)
	}
	return list, nil
}

// modelAt splits MODEL@UPSTREAM. Some models have an @ in their names.
func modelAt(name string) (model, upstream string) {
	if at := strings.LastIndex(name, "@"); at > 0 {
		if where := name[at+1:]; provider(where) != nil || strings.Contains(where, "://") {
			return name[:at], where
		}
	}
	return name, ""
}

// provider gives where the API of a well-known provider begins, nil for none.
func provider(name string) *url.URL {
	for _, p := range recorder.Providers() {
		if p.Name == name {
			return p.URL
		}
	}
	return nil
}

// name says what a target is, for people.
func (t *target) name() string {
	name := t.model
	if name == "" {
		name = "the recorded model"
	}
	if t.upstream != "" {
		name += " at " + t.upstream
	}
	return name
}

// aim turns a request towards a target, and tells what could not be carried: the
// model is an edit of the request. A provider that speaks one dialect alone is spoken
// to in it.
func (t *target) aim(ctx context.Context, r transcript.Reader, req *replay.Request) ([]dialect.Loss, error) {
	to := t.to
	if to == "" {
		to = req.Speaks()
		switch {
		case t.upstream == "anthropic":
			to = transcript.Messages
		case provider(t.upstream) != nil && to == transcript.Messages:
			to = transcript.Chat
		}
	}
	var losses []dialect.Loss
	if to != req.Speaks() {
		err := req.Whole(ctx, r) // another provider holds none of the history
		if err == nil {
			losses, err = req.ConvertTo(to, "")
		}
		if err != nil {
			return nil, err
		}
	}
	switch base := provider(t.upstream); {
	case t.upstream == "":
	case base != nil:
		return losses, req.SendToProvider(base)
	default:
		if err := req.SendTo(t.upstream); err != nil {
			return nil, usageError{err}
		}
	}
	return losses, nil
}

// aim turns the request of one take towards the target that the flags name.
func (x *replaying) aim(r transcript.Reader) error {
	targets, err := x.f.targets()
	if err != nil {
		return err
	}
	spoke := x.req.Speaks()
	losses, err := targets[0].aim(x.ctx, r, x.req)
	if err != nil {
		return err
	}
	if x.resumed != nil && x.req.Speaks() != spoke {
		return usageError{fmt.Errorf("--resume goes on in the dialect of the take, %s: to convert it, replay one of its steps (inspect show %s names them)", spoke, x.f.resume)}
	}
	x.tellLosses(targets[0].name(), losses)
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
