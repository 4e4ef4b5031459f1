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

// sourceFlags name where tool results come from.
type sourceFlags struct {
	exec, http, mcp []string
	timeout         time.Duration
	ask             bool
	simulate        string
	order           []string
}

// sourceOrder is in which order sources are asked if nothing else is said.
var sourceOrder = []string{"edited", "recorded", "exec", "http", "mcp", "ask", "simulated"}

func (f *sourceFlags) add(flags *pflag.FlagSet) {
	f.addTools(flags)
	flags.BoolVar(&f.ask, "ask", false, "ask you for results that nothing else has")
	flags.StringVar(&f.simulate, "simulate", "", "MODEL: a model plays the tools that nothing else has results of")
	flags.StringSliceVar(&f.order, "sources", sourceOrder, "ask the sources in this order, and no others")
}

// addTools adds the flags that name what really runs.
func (f *sourceFlags) addTools(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.exec, "tool-exec", nil, "NAME=CMD: run CMD for calls of that tool, arguments on its standard input (repeatable)")
	flags.StringArrayVar(&f.http, "tool-http", nil, "NAME=URL: post the arguments of calls of that tool there (repeatable)")
	flags.StringArrayVar(&f.mcp, "tool-mcp", nil, "CMD: start this MCP server; it answers the tools that it lists (repeatable)")
	flags.DurationVar(&f.timeout, "tool-timeout", tool.DefaultTimeout, "how long a tool may take")
}

// check finds mistakes before anything is sent.
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

// sources makes the chain of sources of one take. What it starts ends with the
// function that it gives.
func (x *replaying) sources() ([]replay.Source, func(), error) {
	f := &x.f.sources
	var servers []*tool.MCP
	done := func() {
		for _, m := range servers {
			_ = m.Close() // the take is over
		}
	}
	edits, used := x.later, []*replay.Call(nil)
	if x.resumed != nil {
		edits, used = append(slices.Clone(x.resumed.Edits), edits...), x.resumed.Used
	}
	edited, recorded := x.tape.Player(edits, used)
	by := map[string][]replay.Source{"edited": {edited}, "recorded": {recorded}}
	for _, s := range f.exec {
		name, command, _ := strings.Cut(s, "=")
		by["exec"] = append(by["exec"], &tool.Exec{Name: name, Command: command, Timeout: f.timeout})
	}
	for _, s := range f.http {
		name, target, _ := strings.Cut(s, "=")
		by["http"] = append(by["http"], &tool.HTTP{Name: name, URL: target, Timeout: f.timeout})
	}
	for _, command := range f.mcp {
		m, err := tool.StartMCP(x.ctx, command)
		if err != nil {
			done()
			return nil, nil, err
		}
		m.Timeout = f.timeout
		servers = append(servers, m)
		by["mcp"] = append(by["mcp"], m)
	}
	if f.ask {
		by["ask"] = []replay.Source{&asking{in: bufio.NewReader(x.in), out: x.err}}
	}
	if f.simulate != "" {
		by["simulated"] = []replay.Source{&replay.Simulated{Model: f.simulate, Tape: x.tape}}
	}
	var list []replay.Source
	for _, name := range f.order {
		list = append(list, by[name]...)
	}
	return list, done, nil
}

// unrun gives the tools that were named to be run and were not, since the recording
// had their results.
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

// asking is a replay.Source: somebody types the results.
type asking struct {
	in    *bufio.Reader
	out   io.Writer
	lines chan string // that are read; closed at the end of the input
}

// Covers is that of a replay.Source.
func (a *asking) Covers(*replay.Call) bool { return true }

// read begins to read lines, beside whoever waits for them: a take may be stopped
// meanwhile.
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

// Answer takes lines up to one that is a dot. Where there is no more input the call
// stays open.
func (a *asking) Answer(ctx context.Context, c *replay.Call) (*replay.Result, error) {
	if a.lines == nil {
		a.read()
	}
	fmt.Fprintf(a.out, "\n%s %s\n%s\nits result, ended by a line with nothing but a dot (a first line \"!\" makes it an error):\n", word(c.Name), word(c.CallID), visible(string(c.Input())))
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
