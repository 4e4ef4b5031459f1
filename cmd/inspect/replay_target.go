package main

import (
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// targets reads --model, --upstream and --to: at least one target.
func (f *replayFlags) targets() ([]replay.Target, error) {
	if f.to != "" && !dialect.Known(transcript.Dialect(f.to)) {
		return nil, usageError{fmt.Errorf("--to %q: want %s", f.to, dialect.Listed("or"))}
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

// target returns the address of a single request.
func (f *replayFlags) target() string {
	targets, err := f.targets()
	if err != nil {
		return ""
	}
	return targets[0].Name()
}

// tellLosses lists the losses of a conversion on standard error.
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
