package view

import (
	"context"
	"time"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// Tools describes all tools in the newest runs, up to a limit of bytes, by name.
type Tools struct {
	Tools map[string]*Tool
	Runs  int  // that were read
	More  bool // other runs were not read: they are older or too large
}

// mostStepsRead bounds the steps of runs that are read for their tools.
const mostStepsRead = 1000

// NewTools reads the calls of the newest runs, up to a number of runs and of bytes.
func NewTools(ctx context.Context, r transcript.Reader, runs int, most int64, now time.Time) (*Tools, error) {
	list, err := r.Runs(ctx, transcript.RunFilter{Limit: runs + 1})
	if err != nil {
		return nil, err
	}
	g := toolsGathering{ctx: ctx, reader: r, left: most, tools: map[string]*toolGathering{}, definitions: map[string]map[string]bool{}}
	t := &Tools{Tools: map[string]*Tool{}, More: len(list) > runs}
	for i := range list[:min(len(list), runs)] {
		if list[i].Exchanges > mostStepsRead {
			t.More = true
			continue
		}
		run, err := NewRun(ctx, r, &list[i].Run, now)
		var read bool
		if err == nil {
			read, err = g.run(run)
		}
		if err != nil && ignoreLost(err) != nil {
			return nil, err
		}
		if t.More = t.More || !read; read {
			t.Runs++
		}
	}
	for name, of := range g.tools {
		of.finish()
		of.tool.Definitions = len(g.definitions[name])
		of.tool.Examples = nil
		t.Tools[name] = of.tool
	}
	return t, nil
}

type toolsGathering struct {
	ctx         context.Context
	reader      transcript.Reader
	left        int64 // bytes that may still be read
	tools       map[string]*toolGathering
	definitions map[string]map[string]bool // hashes, by the tool's name
}

// run reads a run unless it is too large.
func (g *toolsGathering) run(run *Run) (bool, error) {
	var weight int64
	for _, a := range run.Agents {
		for _, s := range a.Steps {
			weight += run.Weight(s)
		}
	}
	if weight > g.left {
		return false, nil
	}
	g.left -= weight
	calls, err := run.Calls(g.ctx, g.reader)
	if err != nil {
		return false, err
	}
	for i := range calls {
		if c := &calls[i]; c.isOne() {
			of(g.tools, c.Name, func() *toolGathering {
				return &toolGathering{tool: &Tool{Name: c.Name}, shapes: map[string]*Shape{}}
			}).call(ToolCall{run.Ref(), *c})
		}
	}
	return true, g.define(run)
}

// define records the tool definitions in the steps of a run.
func (g *toolsGathering) define(run *Run) error {
	q := history.NewReader(g.ctx, g.reader)
	for _, a := range run.Agents {
		for i, s := range a.Steps {
			if i > 0 && !s.exchange.Link.Change.Tools {
				continue
			}
			request, err := q.Request(s.exchange)
			if err != nil {
				if ignoreLost(err) != nil {
					return err
				}
				continue
			}
			for _, it := range q.Settings(request) {
				if it.Kind != transcript.ToolDefinition {
					continue
				}
				if g.definitions[it.Name] == nil {
					g.definitions[it.Name] = map[string]bool{}
				}
				g.definitions[it.Name][transcript.HashJSON(it.Raw)] = true
			}
		}
	}
	return nil
}
