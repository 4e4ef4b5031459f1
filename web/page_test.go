package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
	"github.com/retake-debugger/retake/web"
)

// transcriptOf puts one text into every field that a page shows.
func transcriptOf(s string) *view.Transcript {
	reason, raw := s, json.RawMessage(quote(s))
	row := view.Row{
		ID: "0196f0aa-0000-7000-8000-000000000001", N: 2, StartedAt: &day, Upstream: s, Dialect: transcript.Dialect(s), Method: s, URL: s,
		Status: 500, Model: s, ResponseModel: s + "2", FinishReason: &reason, Outcome: transcript.Outcome(s), Lossy: true,
		Error: &transcript.Error{Type: s, Code: s, Message: s}, Usage: &transcript.Usage{InputTotal: 10, CacheRead: 5, Output: 3, Reasoning: 1},
		CostUSD: &reason, Preview: s, Link: view.Link{By: s, Evidence: s}, Warnings: []string{s},
	}
	place := func(body, at string) transcript.Place {
		return transcript.Place{Exchange: s, Body: body, At: at + s}
	}
	item := func(kind transcript.Kind) transcript.Item {
		return transcript.Item{Kind: kind, Role: s, CallID: s, Name: s, Text: s, ArgumentsRaw: s, At: s, Raw: raw, Parts: []string{s}}
	}
	result := item(transcript.ToolResult)
	fields := item(transcript.ToolCall)
	fields.Arguments = json.RawMessage(`{` + quote(s) + `:` + quote(s) + `,"n":[` + quote(s) + `,1.10]}`)
	call, res := place("response", "/c"), place("request", "/r")
	pair := func(state transcript.State) *transcript.Pair {
		return &transcript.Pair{CallID: s, Name: s, State: state, Call: &call, Result: &res, By: s}
	}
	x := &view.Exchange{Row: row, Input: []transcript.Item{item(transcript.ToolDefinition)}}
	t := &view.Transcript{Exchange: x, Missing: true, Parent: &row, Children: []view.Row{row, row}, Takes: []view.Row{row}, TakeOf: &row, Tools: []string{s},
		Edits: []transcript.Edit{{Op: s, CallID: s, At: s, Was: s, Text: s}}}
	for _, kind := range []transcript.Kind{transcript.System, transcript.MessageItem, transcript.Reasoning, transcript.Compaction, transcript.Other, transcript.Kind(s)} {
		t.Entries = append(t.Entries, view.Entry{Item: item(kind), Place: place("request", "/"), Source: "x2"})
	}
	t.Entries = append(t.Entries,
		view.Entry{Item: item(transcript.ToolCall), Place: place("request", "/a"), Source: "x1", Pair: pair(transcript.Unanswered)},
		view.Entry{Item: fields, Place: call, Source: "x1", Batch: 2, Pair: pair(transcript.Paired), Result: &result, ResultSource: "x3", ResultNew: true, AlsoIn: []string{"x4"}, Edit: &t.Edits[0]},
		view.Entry{Item: fields, Place: place("request", "/b"), Source: "x2", Batch: 2, Pair: pair(transcript.Unanswered), New: true},
		view.Entry{Item: result, Place: res, Source: "x2", Pair: pair(transcript.Duplicate)},
		view.Entry{Item: result, Place: res, Source: "x2", Pair: pair(transcript.OrphanResult)},
		view.Entry{Item: item(transcript.MessageItem), Place: place("response", "/"), Source: "x2", Output: true, New: true},
	)
	return t
}

func FuzzTranscriptPage_TextIsNeverMarkup(f *testing.F) {
	for _, s := range []string{"", payload, reordering, `" onload="x`, "' autofocus onfocus='x", "javascript:alert(1)", "{{.}}", "${x}", "</title><img src=x>", "\n\n", "[", `{"a":1}`,
		"</details></main><script src=//evil.example/x.js></script>", "\xff\x00", strings.Repeat("<b>", 3000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, err := web.RenderTranscript(transcriptOf(s), false)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range markup(parse(t, string(text))) {
			t.Errorf("%s of %q", bad, s)
		}
	})
}

// A long history: what is new is there in full, the rest is folded, cut or left
// out, and the page says so.
func TestTranscript_LongHistoryStaysSmall(t *testing.T) {
	tr := longTranscript(2000, 60_000)
	text, err := web.RenderTranscript(tr, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 2_000_000 {
		t.Errorf("the page has %d bytes, want at most 2 MB", len(text))
	}
	p := parse(t, string(text))
	wantText(t, p.id("history"), "Show 1880 earlier entries")
	wantText(t, p.id("answer"), "the answer")
	if !strings.Contains(p.id("new").text(), strings.Repeat("new words ", 4000)) {
		t.Error("the new message is not there in full")
	}
	if got := len(p.class("cutoff")); got == 0 {
		t.Error("values are cut and nothing says so")
	}
	for _, cut := range p.class("cutoff") {
		if !strings.Contains(cut.text(), "60.0 kB in all. Show all") {
			t.Fatalf("a cut value says %q", cut.text())
		}
	}
	text, err = web.RenderTranscript(tr, true)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(parse(t, string(text)).class("pair")); got != 1999 {
		t.Errorf("%d pairs with the whole history, want 1999", got)
	}
}

// longTranscript has n entries of history, each with a result of size bytes.
func longTranscript(n, size int) *view.Transcript {
	row := view.Row{ID: "0196f0aa-0000-7000-8000-000000000009", N: 9, StartedAt: &day, Outcome: transcript.OK, Complete: true}
	t := &view.Transcript{Exchange: &view.Exchange{Row: row}, Parent: &view.Row{N: 8}}
	at := func(body string, i int) *transcript.Place {
		return &transcript.Place{Exchange: row.ID, Body: body, At: fmt.Sprintf("/messages/%d", i)}
	}
	result := &transcript.Item{Kind: transcript.ToolResult, CallID: "call_0", Text: strings.Repeat("0123456 \"", size/9+1)[:size]}
	for i := range n {
		call := transcript.Item{Kind: transcript.ToolCall, Role: "assistant", CallID: "call_0", Name: "read", Arguments: json.RawMessage(`{"path":"a"}`)}
		t.Entries = append(t.Entries, view.Entry{Item: call, Place: *at("request", 2*i), Source: "x8", Result: result, ResultSource: "x9",
			Pair: &transcript.Pair{State: transcript.Paired, By: "id", Call: at("request", 2*i), Result: at("request", 2*i+1)}})
	}
	t.Entries[0] = view.Entry{Item: transcript.Item{Kind: transcript.MessageItem, Role: "user", Text: "begin"}, Source: "x9"}
	return appendNew(t)
}

func appendNew(t *view.Transcript) *view.Transcript {
	t.Entries = append(t.Entries,
		view.Entry{Item: transcript.Item{Kind: transcript.MessageItem, Role: "user", Text: strings.Repeat("new words ", 4000)}, Source: "x9", New: true},
		view.Entry{Item: transcript.Item{Kind: transcript.MessageItem, Role: "assistant", Text: "the answer"}, Source: "x9", Output: true, New: true})
	return t
}
