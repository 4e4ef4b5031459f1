package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/view"
)

func newContext(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "context [RUN]",
		Short: "Show what fills the context window, step by step",
		Long: `context shows what each request of a run contains: system prompt, tools, what the
user and the model said, calls, and results by tool.

The tokens of a step are those that the provider counted. A ~ means that it
reported none, and four bytes count as one token. The share of a part is always an
estimate by its bytes: in a pipe only bytes are printed.

Exit status: 0 fine, 2 wrong usage, 3 not found.`,
		Example: `  inspect context
  inspect context r12
  inspect context r12 --json | jq '.steps[-1].parts'`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return a.context(c.Context(), first(args, "last")) },
	}
}

func (a *app) context(ctx context.Context, ref string) error {
	db, run, err := a.openRun(ctx, ref)
	if err != nil {
		return err
	}
	defer db.Close()
	w, err := run.Window(ctx, db)
	switch {
	case err != nil:
		return err
	case a.json:
		return a.printJSON(w)
	case a.terminal():
		return a.showWindow(w)
	}
	t := a.table("step", "tokens", "estimated", "bytes", "part", "items", "part_bytes")
	for i := range w.Steps {
		s := &w.Steps[i]
		for _, part := range s.Parts {
			t.row(s.Step, strconv.FormatInt(s.Tokens, 10), strconv.FormatBool(s.Estimated), strconv.FormatInt(s.Bytes, 10), partName(&part), strconv.Itoa(part.Items), strconv.FormatInt(part.Bytes, 10))
		}
	}
	return t.print()
}

func partName(p *view.Part) string {
	switch {
	case p.Result && p.Name == "":
		return "results"
	case p.Result:
		return "results of " + word(p.Name)
	}
	return word(p.Name)
}

// stepsShown bounds the steps of a long run that are shown: the first and the last
// ones, and some between.
const stepsShown = 40

// showWindow draws a bar for each step and lists the content of the last one.
func (a *app) showWindow(w *view.Window) error {
	p := a.printer(false)
	if len(w.Steps) == 0 {
		p.line("no steps")
		return p.failed
	}
	most, refs := int64(1), 4
	for i := range w.Steps {
		most, refs = max(most, w.Steps[i].Tokens), max(refs, len(w.Steps[i].Step))
	}
	every := max(1, (len(w.Steps)+stepsShown-1)/stepsShown)
	room := min(60, max(10, p.columns-refs-2-9-2-24))
	for i := range w.Steps {
		s := &w.Steps[i]
		if i%every != 0 && i != len(w.Steps)-1 {
			continue
		}
		about := " "
		if s.Estimated {
			about = "~"
		}
		line := fmt.Sprintf("%-*s  %s%8s  %s", refs, s.Step, about, compact(s.Tokens), p.fill(s, room, most))
		grown := ""
		if len(s.Parts) > 0 {
			grown = partName(&s.Parts[0]) + " " + percent(s.Parts[0].Bytes, s.Bytes)
		}
		p.line("%s  %s", line, p.style(cut(grown, max(8, p.columns-refs-2-9-2-room-2)), dim))
	}
	if every > 1 {
		p.line("%s", p.style(fmt.Sprintf("every %d. of %s; --json has all", every, counted(len(w.Steps), "step")), dim))
	}
	last := len(w.Steps) - 1
	for w.Steps[last].Agent != w.Steps[0].Agent {
		last--
	}
	p.windowParts(&w.Steps[last])
	return p.failed
}

func percent(part, of int64) string {
	if of == 0 {
		return ""
	}
	return fmt.Sprintf("%d %%", part*100/of)
}

// partSigns are the signs of the kinds of parts, distinct even without colours.
var partSigns = []struct{ name, sign, style string }{
	{"system", "▒", dim}, {"tools", "░", dim}, {"user", "▓", bold}, {"assistant", "▓", green}, {"calls", "▚", cyan}, {"reasoning", "▞", dim}, {"results", "█", yellow}, {"other", "·", ""},
}

// fill draws the content of a window, in the order of partSigns.
func (p *printer) fill(s *view.WindowStep, room int, most int64) string {
	whole := int(int64(room) * s.Tokens / most)
	bytes := map[string]int64{}
	for i := range s.Parts {
		name := s.Parts[i].Name
		if s.Parts[i].Result {
			name = "results"
		}
		bytes[name] += s.Parts[i].Bytes
	}
	out := ""
	used := 0
	var sum int64
	for _, k := range partSigns {
		sum += bytes[k.name]
		end := 0
		if s.Bytes > 0 {
			end = int(int64(whole) * sum / s.Bytes)
		}
		out += p.style(strings.Repeat(k.sign, end-used), k.style)
		used = end
	}
	return out + strings.Repeat(" ", max(0, room-used))
}

func (p *printer) windowParts(s *view.WindowStep) {
	p.line("")
	counted := map[bool]string{true: ", estimated", false: " that the provider counted"}[s.Estimated]
	p.line("%s holds %s of text and data in %s tokens%s", p.style(s.Step, bold), size(int(s.Bytes)), number(s.Tokens), counted)
	p.dimly("what each part takes of them is by its bytes")
	for i := range s.Parts {
		part := &s.Parts[i]
		name := part.Name
		if part.Result {
			name = "results"
		}
		at := slices.IndexFunc(partSigns, func(k struct{ name, sign, style string }) bool { return k.name == name })
		k := partSigns[max(at, 0)]
		p.line("  %s %6s  %10s  ~%8s  %s%s", p.style(k.sign, k.style), percent(part.Bytes, s.Bytes), size(int(part.Bytes)), compact(part.Tokens), cut(partName(part), max(10, p.columns-46)), p.style(fmt.Sprintf(" ×%d", part.Items), dim))
	}
}
