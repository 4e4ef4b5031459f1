package tool_test

import (
	"context"
	"testing"
	"time"

	"github.com/retake-debugger/retake/replay/tool"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		command   string
		yes, fail bool
	}{
		{"grep -q done", true, false},
		{"grep -q nothing", false, false},
		{`test "$RETAKE_TAKE" = t4`, true, false},
		{"exit 3", false, false},
		{"true", true, false}, // that does not read its input
		{"no-such-command-anywhere", false, true},
		{"kill -9 $$", false, true},
		{"sleep 60", false, true},
	} {
		limit := time.Minute
		if c.command == "sleep 60" {
			limit = time.Millisecond
		}
		yes, err := tool.Check(context.Background(), c.command, "all done\n", limit, "RETAKE_TAKE=t4")
		if yes != c.yes || (err != nil) != c.fail {
			t.Errorf("%s: %v (%v), want %v", c.command, yes, err, c.yes)
		}
	}
}
