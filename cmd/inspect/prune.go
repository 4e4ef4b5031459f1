package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// pruneOptions are the flags of prune.
type pruneOptions struct {
	olderThan, maxSize string
	keepRuns           int
	dryRun, yes        bool
}

func newPrune(a *app) *cobra.Command {
	var o pruneOptions
	c := &cobra.Command{
		Use:   "prune (--older-than AGE | --max-size SIZE | --keep-runs N | REF…)",
		Short: "Remove exchanges for good and free their space",
		Long: `prune removes exchanges with everything that only they have: bodies, calls and
their results, replays, runs and agents that have no exchange left, and their part
of the search index. Everything else stays whole; an exchange that continues a
removed one says so.

It works in short steps while a recorder records and others read. It can be
interrupted at any time: the same command continues with what is left to do.

--older-than takes an age such as 30d, 12h or 2w, or a day or time
(2026-03-31, 2026-03-31T12:00:00Z), and goes by when an exchange began, or by when
it ended if only that is known. Imported exchanges without either stay: remove them
by REF.
--max-size removes the oldest exchanges until the database is at most that large.
--keep-runs keeps that many of the newest runs. All exchanges of a run that is named
are removed. Pinned runs (inspect pin) always stay.`,
		Example: `  inspect prune --older-than 30d --dry-run
  inspect prune --max-size 2GB --yes
  inspect prune --keep-runs 200 --yes
  inspect prune r12 x13`,
		RunE: func(c *cobra.Command, args []string) error { return a.prune(c.Context(), o, args) },
	}
	c.Flags().StringVar(&o.olderThan, "older-than", "", "remove what began before then")
	c.Flags().StringVar(&o.maxSize, "max-size", "", "remove the oldest until the database is at most this large, such as 2GB")
	c.Flags().IntVar(&o.keepRuns, "keep-runs", 0, "keep only this many of the newest runs")
	c.Flags().BoolVarP(&o.dryRun, "dry-run", "n", false, "print what would be removed, and remove nothing")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	return c
}

func (a *app) prune(ctx context.Context, o pruneOptions, refs []string) error {
	s, err := o.selection(len(refs), time.Now())
	if err != nil {
		return usageError{err}
	}
	if !o.dryRun && !o.yes && !a.asks() {
		return usageError{errors.New("not a terminal: add --yes to remove, or --dry-run to see what would be removed")}
	}
	db, err := a.openToPrune(o.dryRun)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := a.choose(ctx, db, &s, refs); err != nil {
		return err
	}
	plan, err := db.Plan(ctx, s)
	if err != nil {
		return err
	}
	a.tellUndated(plan)
	if o.dryRun {
		return a.printPlan(plan)
	}
	if !o.yes && len(plan.Numbers) > 0 {
		if ok, err := a.ask(planLine("Remove", plan)+"? [y/N] ", "nothing was removed"); err != nil || !ok {
			return err
		}
	}
	return a.runPrune(ctx, db, plan)
}

// choose adds the named exchanges and runs.
func (a *app) choose(ctx context.Context, db *store.DB, s *store.Selection, refs []string) error {
	for _, ref := range refs {
		if t, err := view.Locate(ctx, db, ref); err == nil && t.Exchange == nil {
			marks, err := db.Marks(ctx, t.Run.ID)
			if err != nil {
				return err
			}
			if marks.Pinned {
				return usageError{fmt.Errorf("%s is pinned: \"inspect unpin %s\" first", ref, ref)}
			}
			s.Runs = append(s.Runs, t.Run.ID)
			continue
		}
		n, err := a.numberOf(ctx, db, ref)
		if err != nil {
			return err
		}
		s.Numbers = append(s.Numbers, n)
	}
	return nil
}

// selection reads the flags; named is the number of named exchanges.
func (o *pruneOptions) selection(named int, now time.Time) (s store.Selection, err error) {
	ways := min(named, 1)
	for _, given := range []bool{o.olderThan != "", o.maxSize != "", o.keepRuns != 0} {
		if given {
			ways++
		}
	}
	switch {
	case ways == 0:
		return s, errors.New(`name what to remove: --older-than, --max-size, --keep-runs, runs or exchanges; see "inspect prune --help"`)
	case ways > 1:
		return s, errors.New("--older-than, --max-size, --keep-runs, and what is named exclude each other")
	case o.keepRuns < 0:
		return s, fmt.Errorf("--keep-runs is %d, must be 1 or more", o.keepRuns)
	case o.keepRuns > 0:
		s.KeepRuns = o.keepRuns
	case o.olderThan != "":
		s.Before, err = moment(o.olderThan, now)
	case o.maxSize != "":
		s.MaxBytes, err = bytesOf(o.maxSize)
	}
	return s, err
}

// openToPrune opens an existing database, read-only for a dry run.
func (a *app) openToPrune(dryRun bool) (*store.DB, error) {
	if dryRun {
		return a.open()
	}
	return a.openToWrite()
}

// openToWrite opens an existing database.
func (a *app) openToWrite() (*store.DB, error) {
	path, err := a.path()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return a.open() // its error has a hint
	}
	return store.Open(path, store.Options{Memory: 1 << 20})
}

// numberOf returns the number of a reference, also for an unreadable exchange.
func (a *app) numberOf(ctx context.Context, db *store.DB, ref string) (int64, error) {
	e, err := a.resolve(ctx, db, ref)
	if errors.Is(err, transcript.ErrDamaged) && strings.HasPrefix(ref, "x") {
		if n, err := strconv.ParseInt(ref[1:], 10, 64); err == nil {
			return n, nil
		}
	}
	if err != nil {
		return 0, err
	}
	return e.N, nil
}

// asks reports whether a person can answer a question.
func (a *app) asks() bool {
	in, ok := a.in.(*os.File)
	out, ok2 := a.err.(*os.File)
	return ok && ok2 && term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
}

// ask asks a question. Unless the answer is yes, it prints the consequence.
func (a *app) ask(question, no string) (bool, error) {
	fmt.Fprint(a.err, question)
	answer, err := bufio.NewReader(a.in).ReadString('\n')
	if err != nil && answer == "" {
		fmt.Fprintln(a.err)
		return false, nil
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	fmt.Fprintln(a.err, "inspect: "+no)
	return false, nil
}

// planLine describes what is removed.
func planLine(verb string, plan *store.Plan) string {
	n, about := int64(len(plan.Numbers)), ""
	if plan.Estimated && n > 0 {
		about = "about "
	}
	s := fmt.Sprintf("%s %s%s of %s exchange%s", verb, about, number(n), number(plan.Total), plural(int(plan.Total)))
	if n > 0 {
		first, last := view.Ref(plan.Numbers[0]), view.Ref(plan.Numbers[n-1])
		if n == 1 {
			s += " (" + first + ")"
		} else if plan.Numbers[n-1]-plan.Numbers[0] == n-1 {
			s += fmt.Sprintf(" (%s to %s%s)", first, about, last)
		} else {
			s += fmt.Sprintf(" (between %s and %s)", first, last)
		}
	}
	if plan.Pinned > 0 {
		s += fmt.Sprintf(", leave %s of pinned runs,", number(plan.Pinned))
	}
	s = fmt.Sprintf("%s and give back about %s of %s", s, size(int(plan.Bytes)), size(int(plan.Size)))
	if plan.Free > 0 {
		s += fmt.Sprintf(", and %s that are free already", size(int(plan.Free)))
	}
	return s
}

// tellUndated prints how many exchanges stay because their time is unknown.
func (a *app) tellUndated(plan *store.Plan) {
	if n := plan.Undated; n > 0 {
		stay, them := "stay", "them"
		if n == 1 {
			stay, them = "stays", "it"
		}
		fmt.Fprintf(a.err, "inspect: %s exchange%s of unknown time %s; remove %s by REF\n", number(n), plural(int(n)), stay, them)
	}
}

func (a *app) printPlan(plan *store.Plan) error {
	if a.json {
		return a.printJSON(map[string]any{"dry_run": true, "exchanges": len(plan.Numbers), "of": plan.Total, "bytes": plan.Bytes, "size": plan.Size, "free": plan.Free,
			"estimated": plan.Estimated, "numbers": notNil(plan.Numbers), "pinned": plan.Pinned, "undated": plan.Undated})
	}
	_, err := fmt.Fprintln(a.out, planLine("would remove", plan))
	return err
}

func notNil(numbers []int64) []int64 {
	if numbers == nil {
		return []int64{}
	}
	return numbers
}

// pruneSteps are the labels of the steps of a prune.
var pruneSteps = map[string]string{"exchanges": "removing exchanges", "search": "merging the search index, step", "history": "looking at what is kept, up to", "packs": "packing what is kept", "space": "giving space back"}

func (a *app) runPrune(ctx context.Context, db *store.DB, plan *store.Plan) error {
	p := a.progress()
	did, err := db.Prune(ctx, plan, func(s store.PruneProgress) { p.show(pruneSteps[s.Step], s.Done, s.Total) })
	p.clear()
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted after %s exchange%s; run the same command to continue", number(did.Exchanges), plural(int(did.Exchanges)))
		}
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"dry_run": false, "exchanges": did.Exchanges, "of": plan.Total, "bytes": did.Before - did.After, "size": did.After, "free": did.Free, "file": did.File,
			"pinned": plan.Pinned, "undated": plan.Undated})
	}
	if plan.Pinned > 0 {
		fmt.Fprintf(a.err, "inspect: %s exchange%s of pinned runs left; inspect unpin lets them go\n", number(plan.Pinned), plural(int(plan.Pinned)))
	}
	if did.File > did.After {
		fmt.Fprintf(a.err, "inspect: the file still has %s; it shrinks once no reader uses its former content\n", size(int(did.File)))
	}
	free := ""
	if did.Free > 0 {
		free = fmt.Sprintf(", and %s that were free before", size(int(did.Free)))
	}
	_, err = fmt.Fprintf(a.out, "removed %s exchange%s; the database has %s, %s less%s\n",
		number(did.Exchanges), plural(int(did.Exchanges)), size(int(did.After)), size(int(did.Before-did.After)), free)
	return err
}
