package replay

import (
	"context"
	"fmt"
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// SourceSpec says where tool results of a plan's takes come from. Each take opens its own
// sources.
type SourceSpec struct {
	// From is the kind of source. Edits (FromEdit), the recording (FromRecording) and a model
	// that plays tools (FromModel) need no Open.
	From  transcript.Source
	Model string // of FromModel
	Tool  string // the one tool that it answers; "" for any
	Name  string // what an error calls it
	// Open starts the source for one take; done ends what it started.
	Open func(context.Context) (source Source, done func(), err error)
}

// usualSources are those of a plan that names none.
func usualSources() []SourceSpec {
	return []SourceSpec{{From: transcript.FromEdit}, {From: transcript.FromRecording}}
}

// recorded returns the sources of one take that need no Open.
func (y *Ready) recorded(later []transcript.Edit) map[transcript.Source]Source {
	edits, used := later, []*Call(nil)
	if y.Resumed != nil {
		edits, used = append(slices.Clone(y.Resumed.Edits), later...), y.Resumed.Used
	}
	edited, recorded := y.rest.Sources(edits, used)
	return map[transcript.Source]Source{transcript.FromEdit: edited, transcript.FromRecording: recorded}
}

func (p *Plan) sources() []SourceSpec {
	if p.Sources == nil {
		return usualSources()
	}
	return p.Sources
}

// open opens the sources of one take.
func (y *Ready) open(ctx context.Context, later []transcript.Edit) (list []Source, done func(), err error) {
	var ends []func()
	done = func() {
		for _, end := range ends {
			end()
		}
	}
	recorded := y.recorded(later)
	for _, s := range y.Plan.sources() {
		source := recorded[s.From]
		switch {
		case s.Open != nil:
			var end func()
			if source, end, err = s.Open(ctx); err != nil {
				done()
				if s.Name != "" {
					err = fmt.Errorf("start %s: %w", s.Name, err)
				}
				return nil, nil, err
			}
			ends = append(ends, end)
		case s.From == transcript.FromModel:
			source = &Simulated{Model: s.Model, Recorded: y.rest}
		}
		list = append(list, source)
	}
	return list, done, nil
}

// placeholders returns the sources of a take of which nothing is run. It notes in stood
// which calls got a placeholder.
func (y *Ready) placeholders(stood *[]Placeholder) []Source {
	recorded := y.recorded(y.Later)
	var list []Source
	for _, s := range y.Plan.sources() {
		if source := recorded[s.From]; source != nil {
			list = append(list, source)
		} else {
			list = append(list, notRun{s, stood})
		}
	}
	return list
}

// notRun stands in for a source that is not run. Which tools an MCP server has is not known
// before it runs.
type notRun struct {
	SourceSpec
	stood *[]Placeholder
}

// Covers implements Source.
func (n notRun) Covers(c *Call) bool { return n.Tool == "" || c.Is(n.Tool) }

// Answer implements Source.
func (n notRun) Answer(_ context.Context, c *Call) (*Result, error) {
	*n.stood = append(*n.stood, Placeholder{c, n.From})
	return &Result{Text: "(what " + string(n.From) + " gives)"}, nil
}
