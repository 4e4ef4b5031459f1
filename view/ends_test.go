package view

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/transcript"
)

func TestEnds_AnAgentStandsBeforeThoseThatItStarted(t *testing.T) {
	step := func(id, run, agent string) *transcript.Exchange {
		return &transcript.Exchange{ID: id, Link: transcript.Link{Run: run, Agent: agent}}
	}
	steps := []*transcript.Exchange{
		step("1", "r1", "main"), step("2", "r2", "other"), step("3", "r1", "sub"),
		step("4", "r2", "other"), step("5", "r1", "main"),
	}
	last := []*transcript.Exchange{steps[2], steps[3], steps[4]}
	byBeginning(last, steps)
	var got []string
	for _, e := range last {
		got = append(got, e.ID)
	}
	if diff := cmp.Diff([]string{"5", "3", "4"}, got); diff != "" {
		t.Error(diff)
	}
}
