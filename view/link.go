package view

import (
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// Link describes the evidence for what an exchange continues.
type Link struct {
	By       string             `json:"by"`
	Evidence string             `json:"evidence"`
	Change   *transcript.Change `json:"change,omitempty"` // from its parent; nil if it only extends it
}

func newLink(l *transcript.Link) Link {
	link := Link{By: l.By, Evidence: l.Evidence}
	if c := l.Change; c.Handoff || c.Compacted || c.Rewritten || c.System || c.Tools || c.Model != "" || c.Dialect != "" || c.Upstream != "" {
		link.Change = &c
	}
	return link
}

// Turns describes where a run changes its agent or course. It is empty for a step
// that only extends the one before. Changed prompts, tools and items are part of
// the step.
func (l *Link) Turns() []string {
	c := l.Change
	if c == nil {
		return nil
	}
	var said []string
	passed := fmt.Sprintf("%s passed on, %s dropped, %s added", amount(c.Passed), amount(c.Dropped), amount(c.Added))
	switch {
	case c.Handoff:
		said = append(said, "hand-off to another agent: "+passed)
	case c.Compacted:
		said = append(said, "compacted, a summary stands for the conversation: "+passed)
	case c.Rewritten:
		said = append(said, "history edited: "+passed)
	}
	for _, was := range []struct{ what, before string }{{"model", c.Model}, {"API", c.Dialect}, {"upstream", c.Upstream}} {
		if was.before != "" {
			said = append(said, was.what+" changed, was "+was.before)
		}
	}
	return said
}

func amount(l transcript.Amount) string {
	if l.Items == 0 && l.Bytes == 0 {
		return "nothing"
	}
	var parts []string
	for _, n := range []struct {
		count int
		one   string
	}{{l.Messages, "message"}, {l.Results, "tool result"}} {
		if n.count == 1 {
			parts = append(parts, "1 "+n.one)
		} else if n.count > 1 {
			parts = append(parts, fmt.Sprintf("%d %ss", n.count, n.one))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "text")
	}
	about := fmt.Sprintf(" (%d B", l.Bytes)
	if l.Tokens > 0 {
		about += fmt.Sprintf(", about %d tokens", l.Tokens)
	}
	return strings.Join(parts, ", ") + about + ")"
}
