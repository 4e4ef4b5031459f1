package view

import (
	"context"
	"slices"
	"time"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/transcript"
)

// Comparison shows two or more runs side by side.
type Comparison struct {
	Runs  []Compared `json:"runs"`
	Tools []string   `json:"tools"` // that any of them called
}

// Compared is one run of a comparison.
type Compared struct {
	*Side
	CallsByTool map[string]int `json:"calls_by_tool"`
	Answer      string         `json:"answer"` // the last text of its main agent
	// LeftAt is the first difference from the first run; nil for none.
	LeftAt *Leaving `json:"left_at"`
}

// Leaving describes where a run departs from another.
type Leaving struct {
	FirstStep string        `json:"first_step"` // in the first run, "" after its end
	Step      string        `json:"step"`
	Fate      analysis.Fate `json:"fate"`
	Was       string        `json:"was"`
	Now       string        `json:"now"`
	SameActs  int           `json:"same_acts"` // in total, not only before
}

// NewComparison compares runs, steps or exchanges with the first of them.
func NewComparison(ctx context.Context, r transcript.Reader, targets []*Target, o DiffOptions, now time.Time) (*Comparison, error) {
	c := &Comparison{Runs: []Compared{}, Tools: []string{}}
	for _, t := range targets {
		one := Compared{Side: &Side{}, CallsByTool: map[string]int{}}
		if err := one.read(ctx, r, t, o, now); err != nil {
			return nil, err
		}
		one.count()
		for name := range one.CallsByTool {
			if !slices.Contains(c.Tools, name) {
				c.Tools = append(c.Tools, name)
			}
		}
		if len(c.Runs) > 0 {
			one.leaves(c.Runs[0].Side, o)
		}
		c.Runs = append(c.Runs, one)
	}
	slices.Sort(c.Tools)
	return c, nil
}

func (c *Compared) count() {
	for i := range c.acts {
		a := &c.acts[i]
		switch {
		case a.Item.Kind == transcript.ToolCall:
			c.CallsByTool[a.Item.Name]++
		case a.Item.Kind == transcript.MessageItem && a.Item.Role == "assistant" && a.Depth == 0:
			c.Answer = a.Item.Text
		}
	}
}

func (c *Compared) leaves(first *Side, o DiffOptions) {
	d := &Diff{A: *first, B: *c.Side}
	d.compare(o)
	if d.Divergence == nil {
		return
	}
	a := &d.Acts[*d.Divergence]
	c.LeftAt = &Leaving{Fate: a.Fate, SameActs: d.Same}
	if a.A != nil {
		c.LeftAt.FirstStep, c.LeftAt.Was = a.A.Step, gistOf(a.A)
	}
	for i := *d.Divergence; i < len(d.Acts) && c.LeftAt.FirstStep == ""; i++ {
		if next := d.Acts[i].A; next != nil {
			c.LeftAt.FirstStep = next.Step
		}
	}
	if a.B != nil {
		c.LeftAt.Step, c.LeftAt.Now = a.B.Step, gistOf(a.B)
	}
	if l := c.LeftAt; l.Was == l.Now && a.A != nil && a.B != nil && a.Result != nil {
		l.Was, l.Now = gistOfResult(a.A), gistOfResult(a.B)
	}
}

// gistOfResult describes a call and its result in short.
func gistOfResult(r *ActRef) string {
	const longest = 80
	call := gistOf(r)
	if short := transcript.Head(call, longest); short != call {
		call = short + "…"
	}
	if r.Result == nil {
		return call + " → no result"
	}
	return call + " → " + r.Result.Text
}

// gistOf describes an act in short: a call by name and arguments, anything else by
// its text.
func gistOf(r *ActRef) string {
	switch r.Item.Kind {
	case transcript.ToolCall:
		return r.Item.Name + " " + r.Item.ArgumentsRaw
	case transcript.System:
		return "system prompt"
	}
	return r.Item.Text
}
