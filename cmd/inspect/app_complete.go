package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/cmd/internal/usage"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// Completion has to be instant: it reads only the latest runs and exchanges, and
// stops soon.
const (
	completeWithin = time.Second
	completeMost   = 100
)

// complete adds shell completion for the values of arguments and flags.
func (a *app) complete(root *cobra.Command) {
	words := map[string][]string{"dialect": dialects, "outcome": outcomes, "by": statsBy, "sort": view.CallOrders}
	stored := map[string]func(*view.RunRow) []string{
		"model": func(r *view.RunRow) []string { return r.Models },
		"tag":   func(r *view.RunRow) []string { return r.Tags },
	}
	for _, c := range root.Commands() {
		if strings.Contains(c.Use, "REF") || strings.Contains(c.Use, "RUN") || strings.HasPrefix(c.Use, "diff ") {
			c.ValidArgsFunction = a.references
		}
		for flag, known := range words {
			if c.Flags().Lookup(flag) != nil && !(c.Name() == "search" && flag == "sort") {
				_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp)) // fails only if done twice
			}
		}
		for flag, of := range stored {
			if c.Flags().Lookup(flag) != nil {
				_ = c.RegisterFlagCompletionFunc(flag, a.storedWords(of))
			}
		}
	}
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args = cobra.ArbitraryArgs
			c.RunE = func(c *cobra.Command, args []string) error {
				if len(args) > 0 {
					return usageError{usage.Command(c, args[0])}
				}
				return c.Help()
			}
		}
	}
}

// references completes references of runs, steps, exchanges and replays.
func (a *app) references(c *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(c.Context(), completeWithin)
	defer cancel()
	db, err := a.open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer db.Close()
	var list []cobra.Completion
	offer := func(ref, about string) {
		if strings.HasPrefix(ref, begun) {
			list = append(list, cobra.CompletionWithDesc(ref, cut(word(about), 60)))
		}
	}
	run, _, ofStep := strings.Cut(begun, ".")
	switch {
	case ofStep:
		a.offerSteps(ctx, db, run, offer)
	case strings.HasPrefix(begun, "x"):
		offer("x:last", "the latest exchange")
		rows, _ := view.Rows(ctx, db, transcript.Filter{Limit: completeMost})
		for i := range rows {
			offer(rows[i].Ref(), what(&rows[i]))
		}
	case strings.HasPrefix(begun, "t"):
		takes, _ := db.Takes(ctx, "")
		takes = slices.DeleteFunc(takes, func(t transcript.Take) bool { return t.Arm == transcript.CandidateArm })
		for _, t := range takes[max(0, len(takes)-completeMost):] {
			offer(fmt.Sprintf("t%d", t.N), "a replay")
		}
	default:
		offer("last", "the latest run")
		rows, _ := view.Runs(ctx, db, transcript.RunFilter{Limit: completeMost}, time.Now())
		for i := range rows {
			offer(rows[i].Ref(), rows[i].Name)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// offerSteps completes the steps of a run.
func (a *app) offerSteps(ctx context.Context, r transcript.Reader, ref string, offer func(ref, about string)) {
	run, err := view.ResolveRun(ctx, r, ref)
	if err != nil {
		return
	}
	v, err := view.NewRun(ctx, r, run, time.Now())
	if err != nil {
		return
	}
	for _, agent := range v.Agents {
		for _, s := range agent.Steps {
			about := strings.Join(s.Tools, ", ")
			if about == "" {
				about = s.Preview
			}
			offer(s.Ref, about)
		}
	}
}

// storedWords completes values from the latest runs: models, tags.
func (a *app) storedWords(of func(*view.RunRow) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(c.Context(), completeWithin)
		defer cancel()
		db, err := a.open()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer db.Close()
		var list []cobra.Completion
		rows, _ := view.Runs(ctx, db, transcript.RunFilter{Limit: completeMost}, time.Now())
		for i := range rows {
			for _, w := range of(&rows[i]) {
				if w = word(w); strings.HasPrefix(w, begun) && !slices.Contains(list, w) {
					list = append(list, w)
				}
			}
		}
		slices.Sort(list)
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}
