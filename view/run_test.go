package view

import "testing"

func TestCommandOf_LeavesTheMomentOut(t *testing.T) {
	for label, want := range map[string]string{
		"python agent.py @ 2026-11-30T01:55:55.123456789Z": "python agent.py",
		"python agent.py @ 2026-11-30T01:55:55Z":           "python agent.py",
		"mail me @ noon":                                   "mail me @ noon", "nightly": "nightly", "": "", " @ 2026-11-30T01:55:55Z": " @ 2026-11-30T01:55:55Z",
	} {
		if got := commandOf(label); got != want {
			t.Errorf("%q: %q, want %q", label, got, want)
		}
	}
}
