package transcript_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/transcript"
)

func call(id, name string) transcript.Item {
	return transcript.Item{Kind: transcript.ToolCall, Role: "assistant", CallID: id, Name: name}
}

func result(id string) transcript.Item {
	return transcript.Item{Kind: transcript.ToolResult, CallID: id}
}

func said(role, text string) transcript.Item {
	return transcript.Item{Kind: transcript.MessageItem, Role: role, Text: text}
}

func server(it transcript.Item) transcript.Item {
	it.ServerSide = true
	return it
}

func TestPairItems(t *testing.T) {
	const (
		paired     = transcript.Paired
		unanswered = transcript.Unanswered
		orphan     = transcript.OrphanResult
		duplicate  = transcript.Duplicate
	)
	tests := []struct {
		name  string
		items []transcript.Item
		want  []transcript.Match
	}{
		{"nothing", nil, nil},
		{"parallel calls are joined by id, not by order",
			[]transcript.Item{call("a", "f"), call("b", "f"), result("b"), result("a")},
			[]transcript.Match{{0, 3, paired, "id"}, {1, 2, paired, "id"}}},
		{"an id that restarts every round belongs to its round",
			[]transcript.Item{call("0", "f"), result("0"), call("0", "f"), result("0"), call("0", "f"), call("1", "f"), result("1"), result("0")},
			[]transcript.Match{{0, 1, paired, "id"}, {2, 3, paired, "id"}, {4, 7, paired, "id"}, {5, 6, paired, "id"}}},
		{"a repeated id goes to the latest open round",
			[]transcript.Item{call("0", "f"), said("user", "go on"), call("0", "f"), result("0")},
			[]transcript.Match{{0, -1, unanswered, ""}, {2, 3, paired, "id"}}},
		{"the same id twice in a round is answered first come first served",
			[]transcript.Item{call("x", "f"), call("x", "g"), result("x"), result("x")},
			[]transcript.Match{{0, 2, paired, "id"}, {1, 3, paired, "id"}}},
		{"a missing result leaves its call unanswered and a foreign one stands alone",
			[]transcript.Item{call("a", "f"), call("b", "f"), call("c", "f"), result("c"), result("a"), result("zzz")},
			[]transcript.Match{{0, 4, paired, "id"}, {1, -1, unanswered, ""}, {2, 3, paired, "id"}, {-1, 5, orphan, ""}}},
		{"a second result for an answered call is a duplicate",
			[]transcript.Item{call("a", "f"), result("a"), result("a")},
			[]transcript.Match{{0, 1, paired, "id"}, {0, 2, duplicate, "id"}}},
		{"results without ids are joined by position",
			[]transcript.Item{call("", "f"), call("", "f"), result(""), result("")},
			[]transcript.Match{{0, 2, paired, "position"}, {1, 3, paired, "position"}}},
		{"a late result still finds its call",
			[]transcript.Item{call("a", "f"), call("b", "f"), result("a"), said("assistant", "hm"), said("user", "well?"), result("b")},
			[]transcript.Match{{0, 2, paired, "id"}, {1, 5, paired, "id"}}},
		{"a call that the provider ran is never left unanswered",
			[]transcript.Item{server(call("s", "web_search")), call("a", "f")},
			[]transcript.Match{{1, -1, unanswered, ""}}},
		{"a provider's call and result are joined",
			[]transcript.Item{server(call("s", "web_search")), server(result("s"))},
			[]transcript.Match{{0, 1, paired, "id"}}},
		{"a result before its call does not answer it",
			[]transcript.Item{result("a"), call("a", "f")},
			[]transcript.Match{{-1, 0, orphan, ""}, {1, -1, unanswered, ""}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, transcript.PairItems(tt.items)); diff != "" {
				t.Errorf("pairs differ (-want +got):\n%s", diff)
			}
		})
	}
}
