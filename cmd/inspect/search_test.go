package main

import (
	"testing"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// Whoever speaks is named as in show, by the provider's own word.
func TestSearch_NamesWhoSpeaksAsTheProviderDoes(t *testing.T) {
	for want, h := range map[string]view.Hit{
		"developer":    {Kind: transcript.System, Role: "developer"},
		"system":       {Kind: transcript.System, Role: "system"},
		"system +2":    {Kind: transcript.System, Again: 2},
		"user":         {Kind: transcript.MessageItem, Role: "user"},
		"result write": {Kind: transcript.ToolResult, Role: "tool", Name: "write"},
	} {
		if got := hitWhat(&h); got != want {
			t.Errorf("%+v is called %q, want %q", h, got, want)
		}
	}
}
