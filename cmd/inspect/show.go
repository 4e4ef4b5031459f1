package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// showOptions are the flags of show.
type showOptions struct {
	full, agents, chunks, raw, context bool
	from, to                           int
	only                               []string
}

func newShow(a *app) *cobra.Command {
	var o showOptions
	c := &cobra.Command{
		Use:   "show [REF]",
		Short: "Show a run step by step, or an exchange with all that the model saw",
		Long: `show prints the transcript of a run, the latest one if none is named: step by step
what is new in each, every tool call with its result. Agents that a call started
are folded under it; --agents prints them where they start, and branches too.
Findings stand at the item that they are about (▲, see "inspect lint").

For an exchange, or a step with --context, it prints everything that the model saw,
what it answered, and for each tool call the result with the same call id, even if
a later request returned it. + marks what the history before did not contain. Calls
without a result and results without a call are marked.

Exit status: 0 fine, 2 wrong usage, 3 not found.`,
		Example: `  inspect show
  inspect show r12 --agents
  inspect show r12 --from 40 --to 45
  inspect show r12 --only tools
  inspect show r12.3 --context
  inspect show r12.3 --raw
  inspect show x12
  inspect show --json r12 | jq '.agents[0].steps[].outcome'
  inspect show --json x12 | jq '.pairs'`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			ref := "last"
			if len(args) > 0 {
				ref = args[0]
			}
			return a.show(c.Context(), ref, o)
		},
	}
	c.Flags().BoolVar(&o.full, "full", false, "print long texts in full, and all agents and branches")
	c.Flags().BoolVarP(&o.agents, "agents", "a", false, "print sub-agents and branches where they start")
	c.Flags().IntVar(&o.from, "from", 0, "of a run: start with this step")
	c.Flags().IntVar(&o.to, "to", 0, "of a run: end with this step")
	c.Flags().StringSliceVar(&o.only, "only", nil, "print only these: "+strings.Join(kindsShown, ", "))
	c.Flags().BoolVar(&o.raw, "raw", false, "print the exact JSON of each item")
	c.Flags().BoolVar(&o.context, "context", false, "of a step: print all that the model saw")
	c.Flags().BoolVar(&o.chunks, "chunks", false, "with --json, of an exchange: include the arrival time of each chunk of the answer")
	return c
}

func (a *app) show(ctx context.Context, ref string, o showOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	db, err := a.open()
	if err != nil {
		return err
	}
	defer db.Close()
	t, err := a.locate(ctx, db, ref)
	if err != nil {
		return err
	}
	ofRun := t.Run != nil && (t.Step == 0 || !a.json && !o.context)
	switch {
	case o.context && t.Exchange == nil:
		return usageError{fmt.Errorf("--context is about one step: name it, such as %s.1", ref)}
	case o.ranged() && (!ofRun || t.Step > 0):
		return usageError{fmt.Errorf("--from and --to are about the steps of a run, and %q is none", ref)}
	case ofRun:
		return a.showRun(ctx, db, t, o)
	}
	if err := a.showExchange(ctx, db, t.Exchange, o); err != nil || a.json || ref != "x:last" {
		return err
	}
	return a.showUnderWay(ctx, db, o)
}

// kindsShown are the values of --only.
var kindsShown = []string{"tools", "user", "assistant", "reasoning", "system"}

func (o *showOptions) check() error {
	for _, word := range o.only {
		if !slices.Contains(kindsShown, word) {
			return usageError{fmt.Errorf("--only %s: want one of %s", word, strings.Join(kindsShown, ", "))}
		}
	}
	if o.from < 0 || o.to < 0 || o.to > 0 && o.to < o.from {
		return usageError{fmt.Errorf("--from %d --to %d: steps count from 1, and --to is not before --from", o.from, o.to)}
	}
	return nil
}

// ranged reports whether only some of the steps are requested.
func (o *showOptions) ranged() bool { return o.from > 0 || o.to > 0 }

// part returns the requested steps of an agent.
func (o *showOptions) part(steps []*view.Step) []*view.Step {
	if !o.ranged() {
		return steps
	}
	return slices.DeleteFunc(slices.Clone(steps), func(s *view.Step) bool { return s.N < o.from || o.to > 0 && s.N > o.to })
}

// shows reports whether an entry is requested.
func (o *showOptions) shows(e *view.Entry) bool {
	if len(o.only) == 0 {
		return true
	}
	kind := e.Item.Role
	switch e.Item.Kind {
	case transcript.ToolCall, transcript.ToolResult, transcript.ToolDefinition:
		kind = "tools"
	case transcript.Reasoning:
		kind = "reasoning"
	case transcript.System:
		kind = "system"
	}
	return slices.Contains(o.only, kind)
}
