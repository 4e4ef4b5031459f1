package transcript_test

import (
	"testing"

	"github.com/retake-debugger/retake/transcript"
)

func TestIdentify(t *testing.T) {
	tests := []struct {
		name   string
		header map[string][]string
		want   transcript.Identity
	}{
		{"nobody", map[string][]string{"User-Agent": {"x"}}, transcript.Identity{}},
		{"Claude Code, main", map[string][]string{"X-Claude-Code-Session-Id": {"s"}}, transcript.Identity{Session: "claude-code:s"}},
		{"Claude Code, sub-agent", map[string][]string{"X-Claude-Code-Session-Id": {"s"}, "X-Claude-Code-Agent-Id": {"a"}},
			transcript.Identity{Session: "claude-code:s", Agent: "claude-code:s/a", Parent: "claude-code:s/"}},
		{"Claude Code, nested", map[string][]string{"X-Claude-Code-Session-Id": {"s"}, "X-Claude-Code-Agent-Id": {"b"}, "X-Claude-Code-Parent-Agent-Id": {"a"}},
			transcript.Identity{Session: "claude-code:s", Agent: "claude-code:s/b", Parent: "claude-code:s/a"}},
		{"Codex", map[string][]string{"Session-Id": {"s"}, "Thread-Id": {"t"}, "X-Codex-Parent-Thread-Id": {"s"}},
			transcript.Identity{Session: "codex:s", Agent: "codex:t", Parent: "codex:s"}},
		{"opencode", map[string][]string{"X-Session-Id": {"c"}, "X-Parent-Session-Id": {"p"}}, transcript.Identity{Agent: "opencode:c", Parent: "opencode:p"}},
		{"a session that is a secret", map[string][]string{"X-Session-Id": {"[redacted] fp:1"}}, transcript.Identity{}},
	}
	for _, tt := range tests {
		if got := transcript.Identify(tt.header); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
