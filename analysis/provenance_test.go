package analysis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/transcript"
)

func TestCompare(t *testing.T) {
	withText := func(it transcript.Item, text string) transcript.Item {
		it.Text = text
		return it
	}
	hi, yes := said("user", "hi"), said("assistant", "yes")
	f, r := call("c", "f"), withText(result("c"), "long")
	sys := transcript.Item{Kind: transcript.System, Text: "Monday"}
	items := func(list ...transcript.Item) []transcript.Item { return list }
	tests := []struct {
		name        string
		before, now []transcript.Item
		want        string // k: kept, n: new, r: rewritten, d: dropped
	}{
		{"nothing before", nil, items(hi), "n0"},
		{"one more", items(hi, yes), items(hi, yes, said("user", "more")), "k0 k1 n2"},
		{"the same", items(hi, yes), items(hi, yes), "k0 k1"},
		{"a result cut short", items(hi, f, r, yes), items(hi, f, withText(r, "sh…"), yes), "k0 k1 r2 k3"},
		{"a call and its result dropped", items(hi, f, r, yes), items(hi, yes), "k0 d d k1"},
		{"another system prompt", items(sys, hi), items(transcript.Item{Kind: transcript.System, Text: "Tuesday"}, hi), "r0 k1"},
		{"all replaced by a summary", items(hi, f, r, yes), items(said("user", "Summary: f was called.")), "r0 d d d"},
		{"a reminder put in the middle", items(hi, yes), items(hi, said("user", "note"), yes), "k0 n1 k2"},
		{"moved", items(hi, f, r), items(f, r, hi), "d k0 k1 n2"},
		{"twice", items(hi), items(hi, hi), "k0 n1"},
		{"another call id", items(hi, call("a", "f")), items(hi, call("b", "f")), "k0 r1"},
		{"another call", items(hi, call("a", "f")), items(hi, call("b", "g")), "k0 n1 d"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range analysis.Compare(tt.before, tt.now) {
				s := string(p.Origin[0])
				if p.Item >= 0 {
					s += fmt.Sprint(p.Item)
				}
				got = append(got, s)
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("%s, want %s", s, tt.want)
			}
		})
	}
}

// Every item of both sides is told of once, in order.
func FuzzCompare(f *testing.F) {
	f.Add("abcabc", "abxbc")
	f.Add("", "aa")
	f.Add("aaaa", "aa")
	f.Fuzz(func(t *testing.T, before, now string) {
		list := func(s string) (items []transcript.Item) {
			for _, r := range s[:min(len(s), 60)] {
				items = append(items, said([]string{"user", "assistant"}[r&1], string(r)))
			}
			return items
		}
		a, b := list(before), list(now)
		i, k := 0, 0
		for _, p := range analysis.Compare(a, b) {
			if p.Was >= 0 {
				if p.Was != i {
					t.Fatalf("before: %d comes after %d", p.Was, i-1)
				}
				i++
			}
			if p.Item >= 0 {
				if p.Item != k {
					t.Fatalf("now: %d comes after %d", p.Item, k-1)
				}
				k++
			}
			if p.Origin == analysis.Kept && a[p.Was].Text != b[p.Item].Text {
				t.Fatalf("kept %q as %q", a[p.Was].Text, b[p.Item].Text)
			}
		}
		if i != len(a) || k != len(b) {
			t.Fatalf("told of %d of %d and %d of %d items", i, len(a), k, len(b))
		}
	})
}

func TestSettings_AlikeWhatChangesByItself(t *testing.T) {
	system := func(text string, tools ...string) transcript.Settings {
		items := []transcript.Item{{Kind: transcript.System, Text: text}}
		for _, name := range tools {
			items = append(items, transcript.Item{Kind: transcript.ToolDefinition, Name: name})
		}
		return transcript.SettingsOf(items)
	}
	const long = "You are an agent.\nBe brief.\nUse tools.\nNever guess.\nAsk when in doubt.\n"
	tests := []struct {
		name        string
		a, b        transcript.Settings
		same, alike bool
	}{
		{"a date", system(long + "Today is Monday, 2 March 2026."), system(long + "Today is Tuesday, 3 March 2026."), true, true},
		{"a nonce", system("x-anthropic-billing-header: cch=ab;\n" + long), system("x-anthropic-billing-header: cch=cd;\n" + long), true, true},
		{"one more line", system(long), system(long + "Remember the milk."), false, true},
		{"another agent", system(long), system("You write poems.\nThey rhyme.\nThey are short.\nThey are sad."), false, false},
		{"another agent of one line", system("You triage requests."), system("You are a billing agent."), false, false},
		{"none", system(""), system(long), false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if same := tt.a.System == tt.b.System; same != tt.same {
				t.Errorf("the same: %v", same)
			}
			if alike := tt.a.Alike(tt.b); alike != tt.alike {
				t.Errorf("alike: %v", alike)
			}
		})
	}
	if a, b := system("", "f", "g"), system("", "g", "f"); a != b || a == system("", "f") {
		t.Error("tools count by their names, in any order")
	}
}

// A history that is longer than anybody reads is still aligned: two items that
// were rewritten far from each other leave those between them kept.
func TestCompare_OfALongHistory(t *testing.T) {
	const n = 6000
	before := make([]transcript.Item, n)
	for i := range before {
		before[i] = transcript.Item{Kind: transcript.MessageItem, Role: "user", Text: fmt.Sprint("line ", i)}
	}
	now := slices.Clone(before)
	now[1].Text, now[n-2].Text = "changed", "changed too"
	count := map[analysis.Origin]int{}
	for _, p := range analysis.Compare(before, now) {
		count[p.Origin]++
	}
	if count[analysis.Kept] != n-2 || count[analysis.Rewritten] != 2 || len(count) != 2 {
		t.Errorf("%v, want %d kept and 2 rewritten", count, n-2)
	}
}

func call(id, name string) transcript.Item {
	return transcript.Item{Kind: transcript.ToolCall, Role: "assistant", CallID: id, Name: name}
}

func result(id string) transcript.Item {
	return transcript.Item{Kind: transcript.ToolResult, CallID: id}
}

func said(role, text string) transcript.Item {
	return transcript.Item{Kind: transcript.MessageItem, Role: role, Text: text}
}
