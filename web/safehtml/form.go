package safehtml

import (
	"regexp"
	"strings"
)

// Form is the format that a text is rendered as.
type Form int

// The known forms.
const (
	Text     Form = iota // just text
	JSON                 // laid out in lines, one value each (encoding/json.Indent)
	Markdown             // what models write
	Terminal             // with the colours of a terminal
	Diff                 // a unified diff
	Patch                // lines with signs, all of which are changes
	code                 // from here on: code in the languages that are known
)

// FormOf returns the form of a tool's text, unless it is JSON, which only a parser
// can detect.
func FormOf(s string) Form {
	switch {
	case strings.HasPrefix(s, "*** Begin Patch"):
		return Patch
	case strings.Contains(s, "@@ -") && hunk.MatchString(s):
		return Diff
	case strings.Contains(s, "\x1b["):
		return Terminal
	}
	return Text
}

var (
	hunk      = regexp.MustCompile(`(?m)^@@ -\d+(,\d+)? \+\d+(,\d+)? @@`)
	structure = regexp.MustCompile("(?m)^(#{1,6} \\S|\\s{0,3}([-*+]|\\d{1,3}[.)]) \\S|\\s{0,3}```|> \\S|\\|.+\\|$)|`[^`\\n]+`|\\*\\*\\S")
)

// Words returns the form of a text written by people or models: Markdown if it
// contains any.
func Words(s string) Form {
	if structure.MatchString(s) {
		return Markdown
	}
	return Text
}

// Show renders a text in its form. With folds, a reader can close parts of it.
func Show(f Form, s string, folds bool) Shown {
	m := &markup{}
	switch f {
	case JSON:
		m.json(s, folds)
	case Markdown:
		m.markdown(s)
	default:
		m.shown(f, s)
	}
	return m.html()
}

// shown renders a text without parts of its own.
func (m *markup) shown(f Form, s string) {
	switch f {
	case Terminal:
		m.terminal(s)
	case Diff, Patch:
		m.diff(s, f == Patch)
	default:
		if f < code || int(f-code) >= len(languages) {
			m.text(s)
			break
		}
		m.listing(&languages[f-code], s)
	}
}

// Name returns the class of the form.
func (f Form) Name() string {
	if f >= code {
		return "src"
	}
	return [...]string{"", "json", "md", "term", "udiff", "udiff"}[f]
}
