package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/view"
)

func newCache(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "cache [RUN]",
		Short: "Show where a prompt-cache prefix broke, and what that cost",
		Long: `cache shows for each step of a run how much of its prompt came from the provider's
cache. Where the previous prompt is no longer a prefix of this one, it names the
first difference, in the order in which prompts are put together: model, tools,
system prompt, history. Where the request only appends and the cache was lost all
the same, it says how long ago the previous request was.

"Paid again" is the part of the previous prompt that was not read from the cache:
in tokens as the provider reports them, and what they cost beyond the cached price.

Exit status: 0 nothing broke, 1 something did, 2 wrong usage, 3 not found.`,
		Example: `  inspect cache
  inspect cache r12
  inspect cache r12 --json | jq '.steps[] | select(.broke)'`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return a.cache(c.Context(), first(args, "last")) },
	}
}

func (a *app) cache(ctx context.Context, ref string) error {
	table, err := a.prices()
	if err != nil {
		return err
	}
	db, run, err := a.openRun(ctx, ref)
	if err != nil {
		return err
	}
	defer db.Close()
	c, err := run.Cache(ctx, db, table)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(c)
	} else {
		err = a.printCache(c)
	}
	if err == nil && broken(c) > 0 {
		return errFindings
	}
	return err
}

func broken(c *view.Cache) int {
	n := 0
	for i := range c.Steps {
		if c.Steps[i].Broke != nil {
			n++
		}
	}
	return n
}

func (a *app) printCache(c *view.Cache) error {
	p := a.printer(false)
	t := a.table("step", "prompt|prompt_tokens", "cached|cached_tokens", "again|paid_again_tokens", "usd|paid_again_usd", "where", "broke at|broke_at")
	t.narrow = []string{"usd", "where"}
	t.right = []string{"prompt", "cached", "again", "usd"}
	for i := range c.Steps {
		s := &c.Steps[i]
		again, usd, where, at := "", "", "", ""
		if s.Broke != nil {
			where, at = s.Broke.Where, breakLine(s.Broke)
			if s.PaidAgain > 0 {
				again = a.tokens(s.PaidAgain)
				usd = a.dollars(s.USD, false)
			}
		}
		t.row(s.Step, a.count64(s.Prompt), a.count64(s.Cached), p.style(again, yellow), usd, p.style(where, yellow), at)
	}
	if err := t.print(); err != nil || !a.terminal() {
		return err
	}
	share := "no cached tokens reported"
	if c.Prompt > 0 && c.Cached > 0 {
		share = fmt.Sprintf("%d %% of %s prompt tokens came from the cache", c.Cached*100/c.Prompt, number(c.Prompt))
	}
	p.line("")
	facts := []string{share, counted(broken(c), "break")}
	if c.PaidAgain > 0 {
		facts = append(facts, compact(c.PaidAgain)+" tokens paid again, "+a.dollars(c.USD, c.LowerBound))
	}
	p.line("%s", join(facts))
	if c.Sampled {
		p.dimly("the run is large and compressed: only requests were read that links or reported tokens make suspicious")
	}
	return p.failed
}

// count64 formats a count, "" if it is unknown.
func (a *app) count64(n *int64) string {
	if n == nil {
		return ""
	}
	if a.terminal() {
		return number(*n)
	}
	return strconv.FormatInt(*n, 10)
}

func breakLine(b *view.CacheBreak) string {
	line := word(b.Item)
	if b.Line > 0 {
		line += fmt.Sprintf(", line %d", b.Line)
	}
	if b.Was == "" && b.Now == "" {
		return line
	}
	was, now := onlyDifferent(word(b.Was), word(b.Now))
	switch {
	case now == "":
		return line + ": gone, was " + strconv.Quote(was)
	case was == "":
		return line + ": new " + strconv.Quote(now)
	}
	return fmt.Sprintf("%s: %q was %q", line, now, was)
}

// onlyDifferent shortens two texts to the difference and a little before it.
func onlyDifferent(a, b string) (string, string) {
	const before, after = 20, 40
	x, y := []rune(a), []rune(b)
	i := 0
	for i < len(x) && i < len(y) && x[i] == y[i] {
		i++
	}
	part := func(r []rune) string {
		from, to := max(0, i-before), min(len(r), i+after)
		s := string(r[min(from, to):to])
		if from > 0 {
			s = "…" + s
		}
		if to < len(r) {
			s += "…"
		}
		return s
	}
	return part(x), part(y)
}
