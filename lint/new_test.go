package lint_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// whatIsNew leaves out of a step what the step before held.
func whatIsNew(s lint.Step, before *lint.Step) lint.Step {
	t := *s.Turn
	t.Input = nil
	s.New = true
	chain, begun := 0, false
	for _, it := range s.Turn.Input {
		begun = begun || !it.IsSetting()
		if it.Kind == transcript.ToolDefinition || it.Kind == transcript.System && !begun {
			s.Settings = append(s.Settings, it)
			continue
		}
		if chain >= before.Exchange.Link.InLen {
			t.Input = append(t.Input, it)
		}
		if it.InChain() {
			chain++
		}
	}
	s.Turn = &t
	return s
}

// A run that is read by what is new in each step gives what it gives when each
// request is read whole.
func TestJudge_WhatIsNewIsEnough(t *testing.T) {
	n := 0
	for _, c := range codeCases() {
		for _, run := range [][]exchange{c.run, c.near} {
			var whole, short lint.Judge
			steps := stepsOf(c.dialect, run)
			for i, s := range steps {
				whole.Step(s)
				if i > 0 && s.Exchange.Link.Shared == steps[i-1].Exchange.Link.OutLen && s.Turn.PreviousID == "" {
					n++
					s = whatIsNew(s, &steps[i-1])
				}
				short.Step(s)
			}
			if diff := cmp.Diff(whole.Findings(), short.Findings(), cmpopts.IgnoreUnexported(lint.Finding{})); diff != "" {
				t.Errorf("%s: %s", c.code, diff)
			}
		}
	}
	if n == 0 {
		t.Fatal("no step continues another one")
	}
}
