package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/retake-debugger/retake/recorder/spool"
)

// On a full disk a message says what to do about it.
func TestExplain_FullDisk(t *testing.T) {
	if got := explain(fmt.Errorf("remove exchanges: %w", syscall.ENOSPC)); !strings.Contains(got, "free some space on that disk first") {
		t.Error(got)
	}
}

// A count that was stopped says so.
func TestWaitingLine(t *testing.T) {
	for n, want := range map[int]string{
		1:      "1 exchange of a recorder that was killed is in its spool",
		9_999:  "9,999 exchanges of a recorder that was killed are in its spool",
		10_000: "10,000 or more exchanges of a recorder that was killed are in its spool",
	} {
		if got := waitingLine(spool.Waiting{Exchanges: n}); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
