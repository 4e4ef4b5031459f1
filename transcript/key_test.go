package transcript_test

import (
	"encoding/json"
	"testing"

	"github.com/retake-debugger/retake/transcript"
)

func TestKeyOf_IgnoresHowAnItemIsWritten(t *testing.T) {
	same := func(name string, a, b transcript.Item) {
		t.Run(name, func(t *testing.T) {
			if transcript.KeyOf(&a) != transcript.KeyOf(&b) {
				t.Error("keys differ, want equal")
			}
		})
	}
	a := transcript.Item{Kind: transcript.ToolCall, CallID: "c", Name: "f", ArgumentsRaw: `{"b": 1.50, "a": "ü"}`, ItemID: "fc_1", At: "/output/0"}
	b := transcript.Item{Kind: transcript.ToolCall, CallID: "c", Name: "f", ArgumentsRaw: `{"a":"\u00fc","b":1.50}`, At: "/input/3"}
	same("arguments", a, b)
	same("no arguments", transcript.Item{Kind: transcript.ToolCall, ArgumentsRaw: ""}, transcript.Item{Kind: transcript.ToolCall, ArgumentsRaw: "{}"})
	same("cache marks", other(`{"type":"x","cache_control":{"type":"ephemeral"},"n":[1,{"cache_control":1,"a":2}]}`), other(`{"n":[1,{"a":2}],"type":"x"}`))
	same("name on a result", transcript.Item{Kind: transcript.ToolResult, CallID: "c", Name: "f"}, transcript.Item{Kind: transcript.ToolResult, CallID: "c"})
}

func TestKeyOf_TellsMeaningsApart(t *testing.T) {
	base := transcript.Item{Kind: transcript.ToolCall, CallID: "c", Name: "f", ArgumentsRaw: `{"n":9007199254740993}`}
	items := map[string]func(*transcript.Item){
		"id":             func(it *transcript.Item) { it.CallID = "d" },
		"name":           func(it *transcript.Item) { it.Name = "g" },
		"a large number": func(it *transcript.Item) { it.ArgumentsRaw = `{"n":9007199254740992}` },
		"kind":           func(it *transcript.Item) { it.Kind = transcript.ToolResult },
		"an image":       func(it *transcript.Item) { it.Parts = []string{"aa"} },
		"error":          func(it *transcript.Item) { it.IsError = true },
		"broken JSON":    func(it *transcript.Item) { it.ArgumentsRaw = `{"n":9007199254740993` },
	}
	seen := map[transcript.Key]string{transcript.KeyOf(&base): "the item itself"}
	for name, change := range items {
		it := base
		change(&it)
		k := transcript.KeyOf(&it)
		if prev, ok := seen[k]; ok {
			t.Errorf("%s has the key of %s", name, prev)
		}
		seen[k] = name
	}
	// The border between two fields counts.
	x := transcript.Item{Kind: transcript.ToolCall, CallID: "ab", Name: "c"}
	y := transcript.Item{Kind: transcript.ToolCall, CallID: "a", Name: "bc"}
	if transcript.KeyOf(&x) == transcript.KeyOf(&y) {
		t.Error("fields run into each other")
	}
}

func TestChain_LeavesOutWhatClientsMayDrop(t *testing.T) {
	full := []transcript.Item{
		{Kind: transcript.System, Text: "today is Monday"}, said("user", "hi"),
		{Kind: transcript.Reasoning, Text: "hm"}, said("assistant", ""), call("a", "f"),
		{Kind: transcript.MessageItem, Role: "assistant", Text: "other choice", Choice: 1}, result("a"),
	}
	short := []transcript.Item{said("user", "hi"), call("a", "f"), result("a")}
	x, y := chain(transcript.Node{}, full), chain(transcript.Node{}, short)
	if len(x) != 3 || len(y) != 3 || x[2] != y[2] {
		t.Errorf("chains of %d and %d nodes, want the same three", len(x), len(y))
	}
	if z := chain(x[0], short[1:]); z[1] != y[2] {
		t.Error("a chain that is gone on with differs from one made at once")
	}
}

func chain(from transcript.Node, items []transcript.Item) []transcript.Node {
	return transcript.Chain(from, transcript.Keys(items))
}

func other(raw string) transcript.Item {
	return transcript.Item{Kind: transcript.Other, Raw: json.RawMessage(raw)}
}
