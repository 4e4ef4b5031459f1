package link

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/transcript"
)

func TestNodesWithoutIDs_AreTheChainWithoutCallIDs(t *testing.T) {
	d := &Subject{Turn: &transcript.Turn{Input: []transcript.Item{
		{Kind: transcript.System, Role: "system", Text: "be brief"},
		{Kind: transcript.MessageItem, Role: "user", Text: "read a and b"},
		{Kind: transcript.ToolCall, CallID: "call_1", Name: "read", ArgumentsRaw: `{"path":"a"}`},
		{Kind: transcript.ToolCall, Name: "read", ArgumentsRaw: `{"path":"b"}`},
		{Kind: transcript.ToolResult, CallID: "call_1", Text: "A"},
		{Kind: transcript.ToolResult, Text: "B", IsError: true},
		{Kind: transcript.MessageItem, Role: "assistant", Text: "both read"},
	}}}
	d.Keys, d.Where = transcript.Keys(d.Turn.Input), ChainIndex(d.Turn.Input)
	want := transcript.Chain(transcript.Node{}, transcript.KeysWithoutIDs(d.Turn.Input))
	if len(want) != 6 {
		t.Fatalf("%d items are in the chain, want 6", len(want))
	}
	for range 2 {
		if diff := cmp.Diff(want, d.nodesWithoutIDs()); diff != "" {
			t.Error(diff)
		}
	}
}
