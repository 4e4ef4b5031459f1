package formats_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/transcript"
)

func conversation() []transcript.Item {
	return []transcript.Item{
		{Kind: transcript.System, Text: "You help."},
		{Kind: transcript.ToolDefinition, Name: "f"},
		{Kind: transcript.MessageItem, Role: "user", Text: "<b>Go</b>"},
		{Kind: transcript.Reasoning, Text: "hm"},
		{Kind: transcript.MessageItem, Role: "assistant", Text: "On it."},
		{Kind: transcript.ToolCall, CallID: "a", Name: "f", ArgumentsRaw: `{"n":9007199254740993}`},
		{Kind: transcript.ToolCall, CallID: "b", Name: "g"},
		{Kind: transcript.ToolResult, CallID: "a", Text: "one"},
		{Kind: transcript.ToolResult, CallID: "b", Text: "two", IsError: true},
		{Kind: transcript.MessageItem, Role: "assistant", Text: "Done."},
	}
}

func TestFewShot(t *testing.T) {
	tests := []struct {
		dialect transcript.Dialect
		want    string
		left    []string
	}{
		{transcript.Responses, `[
			{"role":"user","content":"<b>Go</b>"},
			{"role":"assistant","content":"On it.","tool_calls":[
				{"id":"a","type":"function","function":{"name":"f","arguments":"{\"n\":9007199254740993}"}},
				{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]},
			{"role":"tool","content":"one","tool_call_id":"a"},
			{"role":"tool","content":"two","tool_call_id":"b"},
			{"role":"assistant","content":"Done."}]`, []string{"reasoning (1)", "the error mark of results (1)"}},
		{transcript.Messages, `[
			{"role":"user","content":[{"type":"text","text":"<b>Go</b>"}]},
			{"role":"assistant","content":[{"type":"text","text":"On it."},
				{"type":"tool_use","id":"a","name":"f","input":{"n":9007199254740993}},{"type":"tool_use","id":"b","name":"g","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"one"},{"type":"tool_result","tool_use_id":"b","content":"two","is_error":true}]},
			{"role":"assistant","content":[{"type":"text","text":"Done."}]}]`, []string{"reasoning (1)"}},
	}
	for _, tt := range tests {
		t.Run(string(tt.dialect), func(t *testing.T) {
			got, left, err := formats.FewShot(tt.dialect, conversation())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(canonical(t, []byte(tt.want)), canonical(t, got)); diff != "" {
				t.Errorf("messages differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.left, left); diff != "" {
				t.Errorf("left out (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFewShot_RefusesWhatHasNoTranscript(t *testing.T) {
	if _, _, err := formats.FewShot(transcript.Unknown, nil); err == nil {
		t.Error("no error for an unknown dialect")
	}
}

func canonical(t *testing.T, raw []byte) string {
	t.Helper()
	c, err := transcript.Canonical(raw)
	if err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	pretty, _ := json.MarshalIndent(json.RawMessage(c), "", " ")
	return string(pretty)
}
