package web

import (
	"encoding/json"
	"testing"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web/safehtml"
)

func TestColours_OfResultsByTheirCalls(t *testing.T) {
	for _, c := range []struct {
		tool, arguments, language string
		failed                    bool
	}{
		{"read_file", `{"path":"a/b.go"}`, "go", false},
		{"Read", `{"file_path":"/x/y.py","offset":10}`, "py", false},
		{"mcp__fs__read_text_file", `{"path":"x.rs"}`, "rs", false},
		{"str_replace_based_edit_tool", `{"command":"view","path":"x.ts"}`, "ts", false},
		{"str_replace_based_edit_tool", `{"command":"create","path":"x.ts"}`, "", false},
		{"read_file", `{"path":"a/b.go"}`, "", true}, // it says what went wrong
		{"read_file", `{"path":"a/b"}`, "", false},
		{"grep", `{"path":"a/b.go","pattern":"x"}`, "", false},
		{"Write", `{"file_path":"a.go","content":"x"}`, "", false},
		{"bash", `{"command":"cat src/a.c"}`, "c", false},
		{"bash", `{"command":"sed -n 1,200p src/a.js"}`, "js", false},
		{"bash", `{"command":"head -n 20 'a.sql'"}`, "sql", false},
		{"bash", `{"command":"cat a.go | wc -l"}`, "", false},
		{"bash", `{"command":"cat a.go b.py"}`, "", false},
		{"bash", `{"command":"sed -i s/a/b/ a.go"}`, "", false},
		{"bash", `{"command":"go test ./x.go"}`, "", false},
		{"read_file", `[1]`, "", false}, {"read_file", `{"path":3}`, "", false}, {"", ``, "", false},
	} {
		call := &transcript.Item{Kind: transcript.ToolCall, Name: c.tool, Arguments: json.RawMessage(c.arguments)}
		if got := formOfResult(call, &transcript.Item{Kind: transcript.ToolResult, IsError: c.failed}); got != safehtml.Named(c.language) {
			t.Errorf("%s %s is shown as form %d, want %q", c.tool, c.arguments, got, c.language)
		}
	}
}

func TestColours_OfArguments(t *testing.T) {
	for _, c := range []struct{ arguments, name, language string }{
		{`{"command":"ls -l"}`, "command", "sh"},
		{`{"command":"view","path":"a.go"}`, "command", ""},
		{`{"path":"a.go","content":"package a"}`, "content", "go"},
		{`{"title":"a.go","content":"package a"}`, "content", ""},
		{`{"content":"#!/bin/sh\nls"}`, "content", "sh"},
		{`{"sql":"select 1"}`, "sql", "sql"},
		{`{"prompt":"find all goroutines"}`, "prompt", ""},
	} {
		found := false
		for _, f := range newBudget().fields(json.RawMessage(c.arguments), "/whole") {
			if f.Name == c.name {
				found = true
				if f.Value.Form != safehtml.Named(c.language) {
					t.Errorf("%s: %s is shown as form %d, want %q", c.arguments, c.name, f.Value.Form, c.language)
				}
			}
		}
		if !found {
			t.Errorf("%s: no %s", c.arguments, c.name)
		}
	}
}
