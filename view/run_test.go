package view

import (
	"testing"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

func TestStatus_AnImportedRunRunsOnlyWhileItIsRecorded(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for _, c := range []struct {
		imported transcript.Grade
		outcome  transcript.Outcome
		calls    int
		want     Status
	}{
		{"", transcript.OK, 1, Running}, {"", transcript.HTTPError, 0, Running}, {"", transcript.OK, 0, Finished},
		{transcript.Rebuilt, transcript.OK, 1, Unfinished}, {transcript.Rebuilt, transcript.HTTPError, 0, Broken}, {transcript.Rebuilt, transcript.OK, 0, Finished},
		{transcript.Rebuilt, transcript.InProgress, 0, Running},
	} {
		s := transcript.RunSum{Steps: 1, EndedAt: now.Add(-time.Second), Imported: c.imported}
		s.Last.Outcome, s.Last.Calls = c.outcome, c.calls
		if got := statusOf(&s, now); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

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
