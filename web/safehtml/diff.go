package safehtml

import (
	"strings"

	"github.com/retake-debugger/retake/analysis"
)

// diff shows a unified diff. Inside a hunk, and only there, a line with a sign is one
// that changed.
func (m *markup) diff(s string, inside bool) {
	for line := range strings.Lines(s) {
		text, end := strings.CutSuffix(line, "\n")
		switch {
		case strings.HasPrefix(text, "@@"):
			inside = true
			m.span("dh", text)
		case strings.HasPrefix(text, "diff --git ") || strings.HasPrefix(text, "Index: "):
			inside = false
			m.span("dh", text)
		case strings.HasPrefix(text, "--- ") || strings.HasPrefix(text, "+++ ") || strings.HasPrefix(text, "*** "):
			m.span("dh", text)
		case inside && strings.HasPrefix(text, "+"):
			m.span("da", text)
		case inside && strings.HasPrefix(text, "-"):
			m.span("dd", text)
		default:
			m.text(text)
		}
		if end {
			m.raw("\n")
		}
	}
}

// Spans shows the text inserted and deleted between two versions.
func Spans(list []analysis.Span) Shown {
	m := &markup{}
	for _, s := range list {
		switch s.Fate {
		case analysis.Removed:
			m.open("del", "")
			m.text(s.Text)
			m.close("del")
		case analysis.Added:
			m.open("ins", "")
			m.text(s.Text)
			m.close("ins")
		default:
			m.text(s.Text)
		}
	}
	return m.html()
}
