package transcript_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

// plainPairs is PairItems said plainly: for each result it looks at all calls.
func plainPairs(items []transcript.Item) []transcript.Match {
	var out []transcript.Match
	var rounds []int // of the calls in out
	round, inCall := 0, false
	fits := func(m transcript.Match, it *transcript.Item) bool {
		c := &items[max(0, m.Call)]
		if m.Call < 0 || m.State == transcript.Duplicate {
			return false
		}
		if it.CallID != "" {
			return c.CallID == it.CallID
		}
		return !c.ServerSide && (it.Name == "" || c.Name == it.Name)
	}
	for i := range items {
		it := &items[i]
		switch it.Kind {
		case transcript.ToolCall:
			if !inCall {
				round, inCall = round+1, true
			}
			out, rounds = append(out, transcript.Match{Call: i, Result: -1, State: transcript.Unanswered}), append(rounds, round)
		case transcript.ToolResult:
			inCall = inCall && it.ServerSide
			open, done := -1, -1
			for k, m := range out {
				switch {
				case !fits(m, it):
				case m.State == transcript.Paired:
					done = k
				case open < 0 || rounds[k] > rounds[open]:
					open = k
				}
			}
			by := map[bool]string{true: "id", false: "position"}[it.CallID != ""]
			switch {
			case open >= 0:
				out[open].Result, out[open].State, out[open].By = i, transcript.Paired, by
				continue
			case done >= 0 && by == "id":
				out = append(out, transcript.Match{Call: out[done].Call, Result: i, State: transcript.Duplicate, By: by})
			default:
				out = append(out, transcript.Match{Call: -1, Result: i, State: transcript.OrphanResult})
			}
			rounds = append(rounds, 0)
		case transcript.MessageItem:
			inCall = inCall && it.Role == "assistant"
		}
	}
	return slices.DeleteFunc(out, func(m transcript.Match) bool {
		return m.State == transcript.Unanswered && items[m.Call].ServerSide
	})
}

func TestPairItems_AgreesWithItsPlainForm(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	name := func(names ...string) string { return names[random.IntN(len(names))] }
	for range 3000 {
		var items []transcript.Item
		for range random.IntN(25) {
			it := said(name("user", "assistant"), "hm")
			switch random.IntN(5) {
			case 0, 1:
				it = call(name("", "a", "b"), name("", "f", "g"))
			case 2, 3:
				it = result(name("", "a", "b", "c"))
				it.Name = name("", "f", "g")
			}
			it.ServerSide = it.Kind != transcript.MessageItem && random.IntN(6) == 0
			items = append(items, it)
		}
		if diff := cmp.Diff(plainPairs(items), transcript.PairItems(items), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("pairs of %+v differ (-plain +got):\n%s", items, diff)
		}
	}
}

// BenchmarkPairItems pairs a long history: of ids that are all different, and of
// one that comes again in each round.
func BenchmarkPairItems(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		unique, same := make([]transcript.Item, 0, 2*n), make([]transcript.Item, 0, 2*n)
		for i := range n {
			id := fmt.Sprintf("call_%d", i)
			unique = append(unique, call(id, "f"), result(id))
			same = append(same, call("call_0", "f"), result("call_0"))
		}
		for ids, items := range map[string][]transcript.Item{"unique": unique, "same": same} {
			b.Run(fmt.Sprintf("%s/%d", ids, n), func(b *testing.B) {
				for b.Loop() {
					transcript.PairItems(items)
				}
			})
		}
	}
}
