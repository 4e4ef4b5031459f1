package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/cmd/internal/usage"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

func newSearch(a *app) *cobra.Command {
	var s view.Search
	var literal bool
	var sort string
	c := &cobra.Command{
		Use:   "search QUERY…",
		Short: "Find text in messages, tool calls, results, reasoning, prompts, errors",
		Long: `search finds every item that contains the text, literally and ignoring case. An item
is one hit, at the exchange that introduced it, no matter how often it is sent again.
Repetitions in replays of a run are one hit with their number: the original, if it
matches. For texts shorter than three characters, and for exchanges that are not
indexed yet, search reads the exchanges themselves and says so.

Filters in the query narrow the search:
` + filterHelp() + `
A query with only filters lists all matching items.`,
		Example: `  inspect search 'connection refused'
  inspect search panic tool:bash is:error after:7d
  inspect search --words parser comma
  inspect search --literal 'model:x'
  inspect search --json needle | jq '.[].exchange'`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if s.Limit < 0 {
				return usageError{fmt.Errorf("--limit is %d, must be 0 (all) or more", s.Limit)}
			}
			if err := usage.OneOf("--sort", sort, []string{"newest", "best"}); err != nil {
				return usageError{err}
			}
			text, words := strings.Join(args, " "), s.Words
			if literal {
				s.SearchQuery = transcript.SearchQuery{Text: text}
			} else {
				var err error
				if s.SearchQuery, err = view.ParseQuery(text, time.Now()); err != nil {
					return usageError{fmt.Errorf("%w; --literal looks for the words as they are", err)}
				}
			}
			s.Words, s.Best = words, sort == "best"
			db, err := a.open()
			if err != nil {
				return err
			}
			defer db.Close()
			found, err := view.Find(c.Context(), db, s)
			if err != nil {
				return whatIsMissing(err, s.Run)
			}
			return a.printFound(found, s)
		},
	}
	c.Flags().IntVar(&s.Limit, "limit", 20, "at most this many, 0 for all")
	c.Flags().StringVar(&sort, "sort", "newest", "newest or best first")
	c.Flags().BoolVar(&s.Words, "words", false, "find items that contain all the words, whole, in any order")
	c.Flags().BoolVar(&literal, "literal", false, "treat the whole query as text, without filters")
	return c
}

func filterHelp() string {
	var b strings.Builder
	for _, f := range view.FilterWords {
		fmt.Fprintf(&b, "  %-20s  %s\n", f[0], f[1])
	}
	return b.String()
}

func (a *app) printFound(found *view.Found, s view.Search) error {
	a.sayHow(found, s)
	if a.json {
		if err := a.printJSON(found.Hits); err != nil {
			return err
		}
	} else if len(found.Hits) > 0 {
		if err := a.printHits(found.Hits); err != nil {
			return err
		}
	}
	if len(found.Hits) == 0 {
		fmt.Fprintln(a.err, "inspect: nothing found")
	}
	return nil
}

// sayHow prints notes that the hits themselves do not show.
func (a *app) sayHow(found *view.Found, s view.Search) {
	switch found.Scan {
	case "no index":
		fmt.Fprintln(a.err, "inspect: built without FTS5 and so without a search index: every exchange was read")
	case "short":
		fmt.Fprintln(a.err, "inspect: shorter than three characters, so every exchange was read")
	}
	if n := found.Unindexed; n > 0 {
		fmt.Fprintf(a.err, "inspect: the search index is %d exchange%s behind; those were read directly\n", n, plural(int(n)))
	}
	switch {
	case found.More && s.Best:
		fmt.Fprintf(a.err, "inspect: the best %d of the newest %d; --limit 0 lists all of these\n", s.Limit, found.Compared)
	case found.More:
		fmt.Fprintf(a.err, "inspect: the newest %d; --limit 0 lists all\n", s.Limit)
	}
}

// printHits prints a line for each hit: tab-separated for programs; for people with
// the match visible.
func (a *app) printHits(hits []view.Hit) error {
	p := a.printer(false)
	if !a.terminal() {
		p.line("ref\trun\ttime\tmodel\twhat\ttext")
		for i := range hits {
			h := &hits[i]
			before, match, after := snippet(h, 1<<20)
			p.line("%s\t%s\t%s\t%s\t%s\t%s%s%s", h.Ref(), h.RunRef, a.when(h.StartedAt), word(h.Model), hitWhat(h)+inReplays(h), before, p.mark(match), after)
		}
		return p.failed
	}
	widths := [3]int{}
	for i := range hits {
		widths[0] = max(widths[0], len(hits[i].Ref()))
		widths[1] = max(widths[1], displaywidth.String(cut(hitWhat(&hits[i]), widestWhat)))
		widths[2] = max(widths[2], len(hits[i].RunRef))
	}
	for i := range hits {
		h := &hits[i]
		what := cut(hitWhat(h), widestWhat)
		what += strings.Repeat(" ", widths[1]-displaywidth.String(what))
		if h.IsError {
			what = p.style(what, red)
		}
		replays := inReplays(h)
		before, match, after := snippet(h, max(p.columns-widths[0]-widths[1]-widths[2]-len(a.when(h.StartedAt))-len(replays)-8, 20))
		p.line("%-*s  %-*s  %s  %s  %s%s%s%s", widths[0], h.Ref(), widths[2], h.RunRef, p.style(a.when(h.StartedAt), dim), what, before, p.mark(match), after, p.style(replays, dim))
	}
	return p.failed
}

// inReplays returns how many replays of the run said the same.
func inReplays(h *view.Hit) string {
	if h.Replays == 0 {
		return ""
	}
	return fmt.Sprintf(" +%d replay%s", h.Replays, plural(h.Replays))
}

// widestWhat is the width of the column of items.
const widestWhat = 22

// mark highlights a match.
func (p *printer) mark(s string) string {
	if !p.colours && s != "" {
		return "«" + s + "»"
	}
	return p.style(s, bold+";"+yellow)
}

// hitWhat names the item of a hit: its author or its tool.
func hitWhat(h *view.Hit) string {
	what := map[transcript.Kind]string{
		transcript.ToolCall: "call", transcript.ToolResult: "result", transcript.ToolDefinition: "tool", transcript.System: "system",
	}[h.Kind]
	switch {
	case h.Kind == transcript.MessageItem && h.Role != "", h.Kind == transcript.System && h.Role == "developer":
		what = h.Role // the provider's own term
	case what == "":
		what = string(h.Kind)
	}
	if h.Name != "" {
		what += " " + h.Name
	}
	if h.Again > 0 {
		what += fmt.Sprintf(" +%d", h.Again)
	}
	return word(what)
}

// snippet fits the text around a match into that many columns, with the match
// visible.
func snippet(h *view.Hit, columns int) (before, match, after string) {
	before, match, after = onLine(h.Snippet.Before), onLine(h.Snippet.Match), onLine(h.Snippet.After)
	before = strings.TrimLeft(before, " ")
	room := columns - displaywidth.String(match) - 2 // for marks
	if room < 8 {
		return "", cut(match, columns-2), ""
	}
	wide := displaywidth.String(before)
	if left := max(room/3, room-displaywidth.String(after)); wide > left {
		before = "…" + cutLeft(before, left-1)
		wide = displaywidth.String(before)
	}
	return before, match, cut(after, max(room-wide, 0))
}

// onLine puts a part of a recorded text on one line and keeps white space at its
// ends.
func onLine(s string) string {
	var b strings.Builder
	space := false
	for _, r := range visible(s) {
		if r == ' ' || r == '\n' || r == '\t' {
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		}
		space = false
		b.WriteRune(r)
	}
	return b.String()
}

// cutLeft keeps the last columns of a line.
func cutLeft(s string, columns int) string {
	over, from := displaywidth.String(s)-columns, 0
	for g := displaywidth.StringGraphemes(s); over > 0 && g.Next(); over -= g.Width() {
		from += len(g.Value())
	}
	return s[from:]
}
