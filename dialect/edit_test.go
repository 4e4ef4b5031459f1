package dialect

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/dialect/api"
	"github.com/retake-debugger/retake/transcript"
)

func TestSetResult_FindsTheResultOfTheLastCall(t *testing.T) {
	for _, c := range []struct {
		name, id, body, want string
		d                    transcript.Dialect
	}{
		{"chat string", "c1", `{"messages":[{"role":"tool","tool_call_id":"c1","content":"old"}]}`, `{"messages":[{"role":"tool","tool_call_id":"c1","content":"NEW"}]}`, transcript.Chat},
		{"one text part keeps its part", "c1", `{"messages":[{"content":[{"type":"text","text":"old"}],"role":"tool","tool_call_id":"c1"}]}`, `{"messages":[{"content":[{"type":"text","text":"NEW"}],"role":"tool","tool_call_id":"c1"}]}`, transcript.Chat},
		{"several parts become a string", "c1", `{"messages":[{"content":[{"type":"text","text":"a"},{"type":"image_url"}],"role":"tool","tool_call_id":"c1"}]}`, `{"messages":[{"content":"NEW","role":"tool","tool_call_id":"c1"}]}`, transcript.Chat},
		{"the last of a repeated id", "t:0", `{"messages":[{"role":"assistant","tool_calls":[{"id":"t:0","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"t:0","content":"r1"},{"role":"assistant","tool_calls":[{"id":"t:0","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"t:0","content":"r2"}]}`,
			`{"messages":[{"role":"assistant","tool_calls":[{"id":"t:0","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"t:0","content":"r1"},{"role":"assistant","tool_calls":[{"id":"t:0","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"t:0","content":"NEW"}]}`, transcript.Chat},
		{"not a second result of the same call", "a", `{"messages":[{"role":"assistant","tool_calls":[{"id":"a"}]},{"role":"tool","tool_call_id":"a","content":"r1"},{"role":"tool","tool_call_id":"a","content":"r2"}]}`,
			`{"messages":[{"role":"assistant","tool_calls":[{"id":"a"}]},{"role":"tool","tool_call_id":"a","content":"NEW"},{"role":"tool","tool_call_id":"a","content":"r2"}]}`, transcript.Chat},
		{"responses", "c1", `{"input":[{"type":"function_call_output","call_id":"c1","output":"old"}]}`, `{"input":[{"type":"function_call_output","call_id":"c1","output":"NEW"}]}`, transcript.Responses},
		{"messages", "t1", `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"old"}],"is_error":false}]}]}`, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"NEW"}],"is_error":false}]}]}`, transcript.Messages},
		{"messages without content", "t1", `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"}]}]}`, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"NEW"}]}]}`, transcript.Messages},
	} {
		got, err := SetResult(c.d, []byte(c.body), c.id, "NEW")
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v; want %s", c.name, got, err, c.want)
		}
		if _, err := SetResult(c.d, []byte(c.body), "nobody", "NEW"); !errors.Is(err, api.ErrNoResult) {
			t.Errorf("%s: no error but %v for an unknown id", c.name, err)
		}
	}
	if _, err := SetResultAt(transcript.Chat, []byte(`{"messages":[{"role":"user","content":"x"}]}`), "/messages/0", "y"); !errors.Is(err, api.ErrNoResult) {
		t.Errorf("a user message is taken for a result: %v", err)
	}
}

// What Continue makes holds the history, the answer and the results, with the
// keys that a client's own next request would have.
func TestContinue_AppendsAnswerAndResults(t *testing.T) {
	n := 0
	for _, c := range goldenCases(t) {
		turn := Decode(c.dialect, c.wire)
		if turn.Response == nil || turn.Error != nil || len(turn.Output) == 0 {
			continue
		}
		var results []api.Result
		for _, it := range turn.Output {
			if it.Kind == transcript.ToolCall && !it.ServerSide && it.Choice == 0 {
				results = append(results, api.Result{CallID: it.CallID, Text: "out of " + it.Name, IsError: it.Name == "now"})
			}
		}
		n++
		got, err := Continue(c.dialect, c.wire.Request, turn.Response, results)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		next := Decode(c.dialect, &api.Wire{Request: got})
		if len(next.Warnings) > len(turn.Warnings) {
			t.Errorf("%s: %q", c.name, next.Warnings)
		}
		if err := isContinued(turn, next, results); err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, got)
		}
	}
	if n == 0 {
		t.Fatal("no case found")
	}
}

func isContinued(turn, next *transcript.Turn, results []api.Result) error {
	var want []transcript.Key
	if turn.PreviousID == "" {
		want, _ = chainKeys(turn.Input)
		out, _ := chainKeys(turn.Output)
		want = append(want, out...)
	} else if next.PreviousID != turn.ResponseID {
		return fmt.Errorf("goes on from %q, not %q", next.PreviousID, turn.ResponseID)
	}
	have, items := chainKeys(next.Input)
	if !samePrefix(want, have) || len(have) != len(want)+len(results) {
		return fmt.Errorf("%d items, of which the first %d are not history and answer, or not %d results behind", len(have), len(want), len(results))
	}
	for i, r := range results {
		it := items[len(want)+i]
		if it.Kind != transcript.ToolResult || it.CallID != r.CallID || it.Text != r.Text && len(it.Parts) == 0 && !strings.Contains(string(it.Raw), "tool_search_output") {
			return fmt.Errorf("result %d is %s", i, it.Raw)
		}
	}
	return nil
}

func TestContinue_ReasoningGoesBackAsItCame(t *testing.T) {
	for dir, keep := range map[string][]string{
		"messages/tools_streamed":         {`"signature":"Eq=="`, `"data":"Rd=="`, `"n": 1.10`},
		"responses/tools_streamed":        {`"encrypted_content":"gA=="`, `"call_id":"call_1"`},
		"chat/reasoning_details_streamed": {`"signature":"sig=="`, `"data":"AAAA"`},
		"chat/no_index_crlf_streamed":     {`"thought_signature":"s=="`},
		"chat/custom_and_audio":           {`"audio":{"id":"audio_1"}`},
	} {
		found := false
		for _, c := range goldenCases(t) {
			if c.name != dir {
				continue
			}
			found = true
			got, err := Continue(c.dialect, c.wire.Request, Decode(c.dialect, c.wire).Response, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range keep {
				if !strings.Contains(string(got), k) {
					t.Errorf("%s: %s is not in %s", dir, k, got)
				}
			}
		}
		if !found {
			t.Errorf("%s: no such case", dir)
		}
	}
}
