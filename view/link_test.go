package view

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/transcript"
)

func TestLink_TellsWhereARunTurns(t *testing.T) {
	few, one := transcript.Amount{Items: 5, Messages: 3, Results: 2, Bytes: 900, Tokens: 200}, transcript.Amount{Items: 1, Messages: 1, Bytes: 40}
	for _, c := range []struct {
		change transcript.Change
		want   []string
	}{
		{transcript.Change{Passed: few}, nil},
		{transcript.Change{System: true, Passed: few}, nil}, // the step tells it
		{transcript.Change{Handoff: true, System: true, Passed: few, Added: one},
			[]string{"hand-off to another agent: 3 messages, 2 tool results (900 B, about 200 tokens) passed on, nothing dropped, 1 message (40 B) added"}},
		{transcript.Change{Compacted: true, Passed: one, Dropped: few}, []string{"compacted, a summary stands for the conversation: " +
			"1 message (40 B) passed on, 3 messages, 2 tool results (900 B, about 200 tokens) dropped, nothing added"}},
		{transcript.Change{Model: "m-1", Dialect: "chat", Upstream: "a"}, []string{"model changed, was m-1", "API changed, was chat", "upstream changed, was a"}},
	} {
		link := newLink(&transcript.Link{By: transcript.ByHistory, Change: c.change})
		if diff := gocmp.Diff(c.want, link.Turns()); diff != "" {
			t.Errorf("%+v (-want +got)\n%s", c.change, diff)
		}
	}
}
