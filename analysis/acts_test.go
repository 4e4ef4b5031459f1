package analysis

import (
	"encoding/json"
	"fmt"
	"github.com/retake-debugger/retake/transcript"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// conversation makes a run of so many steps: a text and a call with its result
// each. ids begin its call ids.
func conversation(ids string, steps int) []Act {
	list := []Act{{Item: &transcript.Item{Kind: transcript.MessageItem, Role: "user", Text: "Fix it"}}}
	for n := range steps {
		list = append(list, step(ids, n)...)
	}
	return append(list, Act{Item: &transcript.Item{Kind: transcript.MessageItem, Role: "assistant", Text: "All done."}})
}

// step is one of eight that come again and again, so that position alone would
// not tell them apart.
func step(ids string, n int) []Act {
	id := fmt.Sprint(ids, n)
	args := fmt.Sprintf(`{"path":"file%d.go"}`, n%8)
	return []Act{
		{Item: &transcript.Item{Kind: transcript.MessageItem, Role: "assistant", Text: fmt.Sprintf("I look at file %d.", n%8)}},
		{Item: &transcript.Item{Kind: transcript.ToolCall, CallID: id, Name: []string{"read", "edit", "test"}[n%3], ArgumentsRaw: args, Arguments: json.RawMessage(args)},
			Result: &transcript.Item{Kind: transcript.ToolResult, CallID: id, Text: fmt.Sprintf("content %d", n%5)}},
	}
}

func fates(list []Aligned) map[Fate]int {
	count := map[Fate]int{}
	for _, l := range list {
		count[l.Fate]++
	}
	return count
}

func TestAlignActs_KeepsAllElseAligned(t *testing.T) {
	const steps = 60
	a := conversation("call_", steps)
	at := func(n int) int { return 1 + 2*n }
	extra := []Act{
		{Item: &transcript.Item{Kind: transcript.MessageItem, Role: "assistant", Text: "Something else comes to mind."}},
		{Item: &transcript.Item{Kind: transcript.ToolCall, CallID: "x", Name: "search", ArgumentsRaw: `{"q":"new"}`}, Result: &transcript.Item{Kind: transcript.ToolResult, Text: "nothing"}},
	}
	for n := range steps - 1 {
		b := conversation("toolu_", steps)
		for name, tt := range map[string]struct {
			b    []Act
			want map[Fate]int
		}{
			"equal":    {b, map[Fate]int{Same: len(a)}},
			"inserted": {slices.Insert(slices.Clone(b), at(n), extra...), map[Fate]int{Same: len(a), Added: 2}},
			"deleted":  {slices.Delete(slices.Clone(b), at(n), at(n)+2), map[Fate]int{Same: len(a) - 2, Removed: 2}},
			"swapped":  {slices.Concat(b[:at(n)], b[at(n+1):at(n+2)], b[at(n):at(n+1)], b[at(n+2):]), map[Fate]int{Same: len(a) - 2, Removed: 2, Added: 2}},
		} {
			list := AlignActs(a, tt.b, Sameness{Errors: true, Parts: true})
			if got := fates(list); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Fatalf("step %d %s: %v, want %v", n, name, got, tt.want)
			}
			for _, l := range list {
				if name == "swapped" && l.Fate != Same && !l.Moved {
					t.Fatalf("step %d: %v is not said to have moved", n, l)
				}
			}
			checkOrder(t, list, len(a), len(tt.b))
		}
	}
}

// checkOrder tells whether every act of either side is there once and in order.
func checkOrder(t *testing.T, list []Aligned, a, b int) {
	t.Helper()
	i, k := 0, 0
	for _, l := range list {
		if l.A >= 0 && l.A != i || l.B >= 0 && l.B != k {
			t.Fatalf("%v stands where %d and %d should be next", l, i, k)
		}
		if l.A >= 0 {
			i++
		}
		if l.B >= 0 {
			k++
		}
	}
	if i != a || k != b {
		t.Fatalf("%d and %d acts in the diff, want %d and %d", i, k, a, b)
	}
}

func TestAlignActs_TellsWhatChanged(t *testing.T) {
	call := func(name, args, result string) Act {
		return Act{Item: &transcript.Item{Kind: transcript.ToolCall, Name: name, ArgumentsRaw: args, Arguments: json.RawMessage(args)}, Result: &transcript.Item{Kind: transcript.ToolResult, Text: result}}
	}
	system := func(text string) Act { return Act{Item: &transcript.Item{Kind: transcript.System, Text: text}} }
	said := func(text string) Act {
		return Act{Item: &transcript.Item{Kind: transcript.MessageItem, Role: "assistant", Text: text}}
	}
	tests := []struct {
		name string
		a, b []Act
		s    Sameness
		want string
	}{
		{"another result", []Act{call("f", `{"n":1}`, "old")}, []Act{call("f", `{"n":1}`, "new")}, Sameness{}, "0:0 changed"},
		{"other arguments", []Act{call("f", `{"n":1}`, "x")}, []Act{call("f", `{"n":2}`, "x")}, Sameness{}, "0:0 changed"},
		{"arguments written otherwise", []Act{call("f", `{"n":1.50,"m":2}`, "x")}, []Act{call("f", `{ "m":2, "n":1.5}`, "x")}, Sameness{}, "0:0 same"},
		{"a digit of a long number", []Act{call("f", `{"id":2512292042121000001}`, "x")}, []Act{call("f", `{"id":2512292042121000002}`, "x")}, Sameness{}, "0:0 changed"},
		{"another tool", []Act{call("f", `{}`, "x")}, []Act{call("g", `{}`, "x")}, Sameness{}, "0:-1 removed, -1:0 added"},
		{"timestamps in results", []Act{call("f", `{}`, "at 2026-03-01T12:00:00Z")}, []Act{call("f", `{}`, "at 2026-03-01T12:00:09Z")}, Sameness{}, "0:0 same"},
		{"timestamps when exact", []Act{call("f", `{}`, "at 2026-03-01T12:00:00Z")}, []Act{call("f", `{}`, "at 2026-03-01T12:00:09Z")}, Sameness{Exact: true}, "0:0 changed"},
		{"a day alone is no noise", []Act{system("Today is 2026-03-01.")}, []Act{system("Today is 2026-03-02.")}, Sameness{}, "0:0 changed"},
		{"white space of system prompts", []Act{system("a\n\nb")}, []Act{system("a b")}, Sameness{}, "0:0 same"},
		{"the nearest text", []Act{said("The test fails."), said("I give up.")}, []Act{said("The test now fails again.")}, Sameness{}, "0:0 changed, 1:-1 removed"},
		{"a sub-agent's act is no main agent's", []Act{{Item: said("x").Item}}, []Act{{Item: said("x").Item, Depth: 1}}, Sameness{}, "0:-1 removed, -1:0 added"},
	}
	for _, tt := range tests {
		var got []string
		for _, l := range AlignActs(tt.a, tt.b, tt.s) {
			got = append(got, fmt.Sprintf("%d:%d %s", l.A, l.B, l.Fate))
		}
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, s, tt.want)
		}
	}
}

func TestAlignActs_ErrorMarksCountWhereBothHaveThem(t *testing.T) {
	act := func(failed bool) []Act {
		return []Act{{Item: &transcript.Item{Kind: transcript.ToolCall, Name: "f"}, Result: &transcript.Item{Kind: transcript.ToolResult, Text: "x", IsError: failed}}}
	}
	for count, want := range map[bool]Fate{true: Changed, false: Same} {
		if list := AlignActs(act(true), act(false), Sameness{Errors: count}); len(list) != 1 || list[0].Fate != want {
			t.Errorf("marks count %v: %v, want %s", count, list, want)
		}
	}
}

func TestDiffWords_GivesBothTextsBack(t *testing.T) {
	tests := []struct{ a, b, want string }{
		{"", "", ""},
		{"same", "same", "=same"},
		{"the old text", "the new text", "=the |-old|+new|= text"},
		{"a\nb\nc\n", "a\nB\nc\n", "=a\n|-b\n|+B\n|=c\n"},
		{"", "new", "+new"},
		{"2512292042121000001", "2512292042121000002", "-2512292042121000001|+2512292042121000002"},
		{"日本語", "日本人", "-日本語|+日本人"},
		{"is it so, my friend", "or is it quite otherwise with all of them", "-is it so, my friend|+or is it quite otherwise with all of them"},
	}
	for _, tt := range tests {
		var got []string
		for _, s := range DiffWords(tt.a, tt.b) {
			got = append(got, map[Fate]string{Same: "=", Removed: "-", Added: "+"}[s.Fate]+s.Text)
		}
		if s := strings.Join(got, "|"); s != tt.want {
			t.Errorf("%q %q: %s, want %s", tt.a, tt.b, s, tt.want)
		}
	}
}

func FuzzDiffWords(f *testing.F) {
	f.Add("the old text\nsecond", "the new text\nsecond line")
	f.Add("\xff a", "a \xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		var x, y strings.Builder
		for _, s := range DiffWords(a, b) {
			if s.Fate != Added {
				x.WriteString(s.Text)
			}
			if s.Fate != Removed {
				y.WriteString(s.Text)
			}
		}
		if x.String() != a || y.String() != b {
			t.Errorf("diff of %q and %q gives %q and %q", a, b, x.String(), y.String())
		}
	})
}

func TestDiffJSON_KeepsDigits(t *testing.T) {
	tests := []struct{ a, b, want string }{
		{`{"id":2512292042121000001,"r":1.10}`, `{"r":1.1,"id":2512292042121000002}`, `/id 2512292042121000001 → 2512292042121000002`},
		{`{"huge":1e400}`, `{"huge":1e401}`, `/huge 1e400 → 1e401`},
		{`{"a":[1,2,3]}`, `{"a":[1,3]}`, `/a/1 2 → `},
		{`{"a":[1,2,3]}`, `{"a":[1,9,2,3]}`, `/a/1  → 9`},
		{`{"a":[{"x":1},{"y":2}]}`, `{"a":[{"x":1},{"y":3}]}`, `/a/1/y 2 → 3`},
		{`{"a":1}`, `{"a":"1"}`, `/a 1 → "1"`},
		{`{"a/b":1,"c":2}`, `{"c":2,"~":null}`, `/a~1b 1 → , /~0  → null`},
		{`[]`, `{}`, ` [] → {}`},
		{`{"t":"<b>"}`, `{"t":"<i>"}`, `/t "<b>" → "<i>"`},
	}
	for _, tt := range tests {
		list, ok := DiffJSON([]byte(tt.a), []byte(tt.b))
		var got []string
		for _, d := range list {
			got = append(got, fmt.Sprintf("%s %s → %s", d.At, d.Was, d.Now))
		}
		if s := strings.Join(got, ", "); !ok || s != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.a, tt.b, s, tt.want)
		}
	}
	if _, ok := DiffJSON([]byte(`{"a":1} {}`), []byte(`{}`)); ok {
		t.Error("two values passed for one")
	}
}

func BenchmarkAlignActs(b *testing.B) {
	x := conversation("a", 5000)
	y := slices.Delete(conversation("b", 5000), 5001, 5003)
	for b.Loop() {
		AlignActs(x, y, Sameness{})
	}
}

// An agent calls the same again and again: a result that is changed is the one that
// differs, whatever ids the calls have that come behind it.
func TestAlignActs_EqualCallsOfLaterAnswersStayInTheirOrder(t *testing.T) {
	acts := func(minted string, changed int) []Act {
		var list []Act
		for i := range 6 {
			id, text := strconv.Itoa(i), "sun"
			if i > 1 {
				id = minted + id
			}
			if i == changed {
				text = "storm"
			}
			list = append(list, Act{Item: &transcript.Item{Kind: transcript.ToolCall, CallID: id, Name: "weather", ArgumentsRaw: `{}`, Arguments: json.RawMessage(`{}`)},
				Result: &transcript.Item{Kind: transcript.ToolResult, CallID: id, Text: text}})
		}
		return append(list, Act{Item: &transcript.Item{Kind: transcript.MessageItem, Role: "assistant", Text: "done " + minted}})
	}
	for at := range 6 {
		for _, pair := range [][2][]Act{{acts("a", -1), acts("b", at)}, {acts("b", at), acts("a", -1)}} {
			list := AlignActs(pair[0], pair[1], Sameness{Errors: true, Parts: true})
			if got := fates(list); got[Same] != 5 || got[Changed] != 2 || list[at].Fate != Changed {
				t.Errorf("changed at %d: %v", at, list)
			}
		}
	}
}

// Of equal calls of one answer the one whose result was changed is the one that
// differs.
func TestAlignActs_EqualCallsStayThemselves(t *testing.T) {
	call := func(id, result string) Act {
		return Act{Item: &transcript.Item{Kind: transcript.ToolCall, CallID: id, Name: "weather", ArgumentsRaw: `{"city":"Paris"}`, Arguments: json.RawMessage(`{"city":"Paris"}`)},
			Result: &transcript.Item{Kind: transcript.ToolResult, CallID: id, Text: result}}
	}
	said := func(text string) Act {
		return Act{Item: &transcript.Item{Kind: transcript.MessageItem, Role: "assistant", Text: text}}
	}
	same, changed := call("a", "sun"), call("a", "rain")
	others := []Act{call("b", "sun"), call("c", "sun")}
	for at := range 3 {
		a, b := slices.Insert(slices.Clone(others), at, same), slices.Insert(slices.Clone(others), at, changed)
		a, b = append(a, said("It is dry.")), append(b, said("Take an umbrella."))
		for _, pair := range [][2][]Act{{a, b}, {b, a}} {
			list := AlignActs(pair[0], pair[1], Sameness{Errors: true, Parts: true})
			if got := fates(list); got[Same] != 2 || list[at].Fate != Changed {
				t.Errorf("changed at %d: %v", at, list)
			}
		}
	}
}
