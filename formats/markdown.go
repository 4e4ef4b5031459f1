package formats

import (
	"fmt"
	"io"
	"strings"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// Markdown writes a conversation for people: texts as they are, calls followed by
// their results. An unfinished one is marked.
func Markdown(w io.Writer, c *Conversation, lost *Losses) error {
	var out strings.Builder
	e := c.Exchange
	fmt.Fprintf(&out, "# %s\n\n", headline(c))
	fmt.Fprintf(&out, "%s · %s · %s\n\n", c.Ref, codeSpan(modelOf(e)), when(e.StartedAt))
	if why := c.Unfinished(); why != "" {
		fmt.Fprintf(&out, "> **Unfinished:** %s.\n\n", why)
	}
	if c.Gap != history.Whole {
		fmt.Fprintf(&out, "> The beginning is missing: %s.\n\n", c.Gap)
	}
	if len(c.Tools) > 0 {
		names := make([]string, len(c.Tools))
		for i := range c.Tools {
			names[i] = codeSpan(c.Tools[i].Name)
		}
		fmt.Fprintf(&out, "Tools: %s\n\n", strings.Join(names, ", "))
	}
	for _, b := range c.beats(lost) {
		markdownBeat(&out, b, lost)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func headline(c *Conversation) string {
	title := strings.Join(strings.Fields(c.Title), " ")
	if runes := []rune(title); len(runes) > 100 {
		title = string(runes[:99]) + "…"
	}
	if title == "" {
		title = "Conversation"
	}
	return title
}

func modelOf(e *transcript.Exchange) string {
	if e.ResponseModel != "" {
		return e.ResponseModel
	}
	return e.Model
}

func markdownBeat(out *strings.Builder, b *beat, lost *Losses) {
	fmt.Fprintf(out, "## %s\n\n", map[string]string{"system": "System", "user": "User", "assistant": "Assistant"}[b.role])
	call := 0
	for _, it := range b.items {
		switch {
		case isCall(it):
			fmt.Fprintf(out, "**Call** %s\n\n%s\n", codeSpan(it.Name), fenced("json", arguments(it)))
			if r := b.results[call]; r == nil {
				out.WriteString("*No result.*\n\n")
			} else {
				fmt.Fprintf(out, "**Result**%s\n\n%s\n", map[bool]string{true: " (error)"}[r.IsError], fenced("", r.Text))
				leaveParts(r, lost)
			}
			call++
		case it.Kind == transcript.Reasoning && it.Text != "":
			fmt.Fprintf(out, "**Reasoning**\n\n%s\n", fenced("", it.Text))
		case it.Kind == transcript.Reasoning:
			lost.add("encrypted reasoning")
		case it.ServerSide && it.Kind == transcript.ToolCall:
			fmt.Fprintf(out, "**Call, run by the provider** %s\n\n%s\n", codeSpan(it.Name), fenced("json", arguments(it)))
		case it.ServerSide && it.Text != "":
			fmt.Fprintf(out, "**Result, by the provider**\n\n%s\n", fenced("", it.Text))
		case it.Kind == transcript.MessageItem, it.Kind == transcript.System, it.Kind == transcript.Compaction && it.Text != "":
			leaveParts(it, lost)
			if it.Text != "" {
				out.WriteString(it.Text + "\n\n")
			}
		default:
			fmt.Fprintf(out, "%s\n", fenced("json", string(it.Raw)))
		}
	}
}

// fenced puts a text into a code fence longer than any inside it.
func fenced(language, text string) string {
	longest, run := 2, 0
	for i := range len(text) {
		if text[i] == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := strings.Repeat("`", longest+1)
	return fence + language + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// codeSpan puts a short text into more backticks than it holds.
func codeSpan(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	return "`` " + strings.ReplaceAll(text, "``", "` `") + " ``"
}
