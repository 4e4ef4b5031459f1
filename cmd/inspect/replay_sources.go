package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/tool"
	"github.com/retake-debugger/retake/transcript"
)

// sourceFlags set the sources of tool results.
type sourceFlags struct {
	exec, http, mcp []string
	timeout         time.Duration
	ask             bool
	simulate        string
	order           []string
}

// sourceOrder is the default order in which sources are asked.
var sourceOrder = []string{"edited", "recorded", "exec", "http", "mcp", "ask", "simulated"}

func (f *sourceFlags) add(flags *pflag.FlagSet) {
	f.addTools(flags)
	flags.BoolVar(&f.ask, "ask", false, "ask you for results that no other source has")
	flags.StringVar(&f.simulate, "simulate", "", "MODEL: let a model play the tools that no other source has results of")
	flags.StringSliceVar(&f.order, "sources", sourceOrder, "ask these sources, in this order")
}

// addTools adds the flags of sources that really run tools.
func (f *sourceFlags) addTools(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.exec, "tool-exec", nil, "NAME=CMD: run CMD for calls of that tool, with the arguments on its standard input (repeatable)")
	flags.StringArrayVar(&f.http, "tool-http", nil, "NAME=URL: post the arguments of calls of that tool to URL (repeatable)")
	flags.StringArrayVar(&f.mcp, "tool-mcp", nil, "CMD: start this MCP server, which answers the tools that it lists (repeatable)")
	flags.DurationVar(&f.timeout, "tool-timeout", tool.DefaultTimeout, "time limit of a tool")
}

// check validates the flags before anything is sent.
func (f *sourceFlags) check() error {
	for _, s := range f.exec {
		if name, command, ok := strings.Cut(s, "="); !ok || name == "" || command == "" {
			return usageError{fmt.Errorf("--tool-exec %q: want NAME=CMD", s)}
		}
	}
	for _, s := range f.http {
		name, target, ok := strings.Cut(s, "=")
		u, err := url.Parse(target)
		if !ok || name == "" || err != nil || u.Host == "" {
			return usageError{fmt.Errorf("--tool-http %q: want NAME=URL", s)}
		}
	}
	for i, name := range f.order {
		if !slices.Contains(sourceOrder, name) || slices.Contains(f.order[:i], name) {
			return usageError{fmt.Errorf("--sources %q: want some of %s, each once", name, strings.Join(sourceOrder, ", "))}
		}
	}
	return nil
}

// specs returns the sources in the order in which they are asked.
func (f *sourceFlags) specs(x *replaying) []replay.SourceSpec {
	nothing := func() {}
	list := append(f.tools(), replay.SourceSpec{From: transcript.FromEdit}, replay.SourceSpec{From: transcript.FromRecording})
	if f.ask {
		list = append(list, replay.SourceSpec{From: transcript.FromAsk, Open: func(context.Context) (replay.Source, func(), error) {
			return &asking{in: bufio.NewReader(x.in), out: x.err}, nothing, nil
		}})
	}
	if f.simulate != "" {
		list = append(list, replay.SourceSpec{From: transcript.FromModel, Model: f.simulate})
	}
	ordered := []replay.SourceSpec{}
	for _, name := range f.order {
		for _, s := range list {
			if string(s.From) == name {
				ordered = append(ordered, s)
			}
		}
	}
	return ordered
}

// tools returns the sources that really run tools.
func (f *sourceFlags) tools() (list []replay.SourceSpec) {
	nothing := func() {}
	for _, s := range f.exec {
		name, command, _ := strings.Cut(s, "=")
		list = append(list, replay.SourceSpec{From: transcript.FromExec, Tool: name, Open: func(context.Context) (replay.Source, func(), error) {
			return &tool.Exec{Name: name, Command: command, Timeout: f.timeout}, nothing, nil
		}})
	}
	for _, s := range f.http {
		name, target, _ := strings.Cut(s, "=")
		list = append(list, replay.SourceSpec{From: transcript.FromHTTP, Tool: name, Open: func(context.Context) (replay.Source, func(), error) {
			return &tool.HTTP{Name: name, URL: target, Timeout: f.timeout}, nothing, nil
		}})
	}
	for _, command := range f.mcp {
		list = append(list, replay.SourceSpec{From: transcript.FromMCP, Open: func(ctx context.Context) (replay.Source, func(), error) {
			m, err := tool.StartMCP(ctx, command)
			if err != nil {
				return nil, nil, err
			}
			m.Timeout = f.timeout
			return m, func() { _ = m.Close() }, nil // the take is over
		}})
	}
	return list
}

// unrun returns the tools that were named but not run, because the recording had their
// results.
func (f *sourceFlags) unrun(results []transcript.TakeResult) []string {
	var names []string
	for _, s := range slices.Concat(f.exec, f.http) {
		name, _, _ := strings.Cut(s, "=")
		recorded, ran := false, false
		for i := range results {
			if results[i].Name == name {
				recorded = recorded || results[i].Source == transcript.FromRecording
				ran = ran || results[i].Source == transcript.FromExec || results[i].Source == transcript.FromHTTP
			}
		}
		if recorded && !ran {
			names = append(names, name)
		}
	}
	return names
}

// asking is a replay.Source: a person types the results.
type asking struct {
	in    *bufio.Reader
	out   io.Writer
	lines chan string // lines of the input; closed at its end
}

// Covers implements replay.Source.
func (a *asking) Covers(*replay.Call) bool { return true }

// read reads lines in the background, so that a take can be stopped while it waits for
// them.
func (a *asking) read() {
	a.lines = make(chan string)
	go func() {
		defer close(a.lines)
		for {
			line, err := a.in.ReadString('\n')
			if err != nil && line == "" {
				return
			}
			a.lines <- strings.TrimRight(line, "\r\n")
		}
	}()
}

// Answer reads lines up to one that is a dot. At the end of the input the call stays
// open.
func (a *asking) Answer(ctx context.Context, c *replay.Call) (*replay.Result, error) {
	if a.lines == nil {
		a.read()
	}
	fmt.Fprintf(a.out, "\n%s %s\n%s\nits result, ended by a line with only a dot (a first line \"!\" makes it an error):\n", word(c.Name), word(c.CallID), visible(string(c.Input())))
	var lines []string
	r := &replay.Result{Source: transcript.FromAsk}
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case line, ok := <-a.lines:
			switch {
			case !ok:
				return nil, nil
			case line == ".":
				r.Text = strings.Join(lines, "\n")
				return r, nil
			case line == "!" && lines == nil && !r.IsError:
				r.IsError = true
			default:
				lines = append(lines, line)
			}
		}
	}
}
