package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/ingest/reindex"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// longestMark bounds names, tags and notes.
const longestMark = 10_000

func newName(a *app) *cobra.Command {
	var remove bool
	c := &cobra.Command{
		Use:   "name REF NAME…",
		Short: "Name a run; --remove restores its own name",
		Example: `  inspect name r12 the parser bug, first try
  inspect name last --remove`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			text, err := markText(args[1:], remove, "a name")
			if err != nil {
				return err
			}
			return a.mark(c.Context(), args[:1], func(m *transcript.Marks) { m.Name = text })
		},
	}
	c.Flags().BoolVar(&remove, "remove", false, "remove the name")
	return c
}

func newNote(a *app) *cobra.Command {
	var remove, add bool
	c := &cobra.Command{
		Use:     "note REF TEXT…",
		Short:   "Write a note on a run; --add appends to the one it has",
		Example: "  inspect note r12 'gives up too early, see step 4'\n  inspect note r12 --add 'fixed in r15'\n  inspect note r12 --remove",
		Args:    arguments(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			text, err := markText(args[1:], remove, "a note")
			if err != nil {
				return err
			}
			return a.mark(c.Context(), args[:1], func(m *transcript.Marks) {
				if add && m.Note != "" {
					text = m.Note + "\n" + text
				}
				m.Note = text
			})
		},
	}
	c.Flags().BoolVar(&remove, "remove", false, "remove the note")
	c.Flags().BoolVar(&add, "add", false, "append to the existing note")
	return c
}

// markText joins the words of a name or a note.
func markText(words []string, remove bool, what string) (string, error) {
	text := strings.TrimSpace(strings.Join(words, " "))
	switch {
	case remove && text != "":
		return "", usageError{fmt.Errorf("--remove takes %s away: leave the text out", what)}
	case !remove && text == "":
		return "", usageError{fmt.Errorf("give %s, or --remove", what)}
	case len(text) > longestMark:
		return "", usageError{fmt.Errorf("%s of %s is too long", what, size(len(text)))}
	}
	return text, nil
}

func newTag(a *app) *cobra.Command {
	var remove bool
	c := &cobra.Command{
		Use:     "tag REF TAG…",
		Short:   "Tag a run; --remove removes tags",
		Example: "  inspect tag r12 good regression\n  inspect tag r12 --remove good\n  inspect ls --tag regression",
		Args:    arguments(cobra.MinimumNArgs(2)),
		RunE:    func(c *cobra.Command, args []string) error { return a.tag(c.Context(), args[0], args[1:], remove) },
	}
	c.Flags().BoolVar(&remove, "remove", false, "remove these tags")
	return c
}

func newUntag(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "untag REF TAG…", Short: "Remove tags from a run",
		Example: "  inspect untag r12 good",
		Args:    arguments(cobra.MinimumNArgs(2)),
		RunE:    func(c *cobra.Command, args []string) error { return a.tag(c.Context(), args[0], args[1:], true) },
	}
}

func (a *app) tag(ctx context.Context, ref string, tags []string, remove bool) error {
	for _, t := range tags {
		if t == "" || len(t) > 100 || strings.ContainsFunc(t, func(r rune) bool { return unicode.IsSpace(r) || r == ',' || hidden(r) }) {
			return usageError{fmt.Errorf("%q is not a tag: use a word without spaces and commas", t)}
		}
	}
	return a.mark(ctx, []string{ref}, func(m *transcript.Marks) {
		m.Tags = slices.DeleteFunc(m.Tags, func(t string) bool { return slices.Contains(tags, t) })
		if !remove {
			m.Tags = append(m.Tags, tags...)
		}
	})
}

func newPin(a *app) *cobra.Command {
	var remove bool
	c := &cobra.Command{
		Use: "pin REF…", Short: "Pin runs: prune never removes them",
		Example: "  inspect pin r12 r14\n  inspect pin --remove r12",
		Args:    arguments(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			return a.mark(c.Context(), args, func(m *transcript.Marks) { m.Pinned = !remove })
		},
	}
	c.Flags().BoolVar(&remove, "remove", false, "unpin them")
	return c
}

func newUnpin(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "unpin REF…", Short: "Unpin runs",
		Example: "  inspect unpin r12",
		Args:    arguments(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			return a.mark(c.Context(), args, func(m *transcript.Marks) { m.Pinned = false })
		},
	}
}

// mark changes the user's data about runs, and prints the new state.
func (a *app) mark(ctx context.Context, refs []string, change func(*transcript.Marks)) error {
	db, err := a.openToWrite()
	if err != nil {
		return err
	}
	defer db.Close()
	var ids []string
	for _, ref := range refs {
		run, err := a.resolveRun(ctx, db, ref)
		if err != nil {
			return err
		}
		ids = append(ids, run.ID)
	}
	err = db.Update(ctx, func(tx transcript.Tx) error {
		for _, id := range ids {
			m, err := tx.Marks(ctx, id)
			if err != nil {
				return err
			}
			change(m)
			if err := tx.PutMarks(id, m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.tellRuns(ctx, db, ids)
}

// tellRuns prints the user's data about runs.
func (a *app) tellRuns(ctx context.Context, r transcript.Reader, ids []string) error {
	rows, err := view.Runs(ctx, r, transcript.RunFilter{IDs: ids}, time.Now())
	if err != nil {
		return err
	}
	slices.Reverse(rows)
	if a.json {
		return a.printJSON(rows)
	}
	p := a.printer(false)
	for i := range rows {
		run := &rows[i]
		marks := []string{word(strings.Join(run.Tags, ", "))}
		if run.Pinned {
			marks = append([]string{"pinned"}, marks...)
		}
		p.line("%s  %s", p.style(run.Ref(), bold), join(append([]string{word(run.Name)}, marks...)))
		if run.Note != "" {
			p.labelled("     ", "note", cyan, run.Note, linesSaid)
		}
	}
	return p.failed
}

func newLink(a *app) *cobra.Command {
	var remove bool
	c := &cobra.Command{
		Use:   "link REF (REF | RUN)",
		Short: "Set what an exchange continues, or which run it belongs to",
		Long: `link makes the first exchange or step continue the second one or, if that is a run,
start an agent of its own there. Exchanges that continue it move along. This
overrides what was inferred, for good: reindex keeps it. --remove undoes it.`,
		Example: "  inspect link x40 x31\n  inspect link x40 r3\n  inspect link --remove x40",
		Args:    arguments(cobra.RangeArgs(1, 2)),
		RunE: func(c *cobra.Command, args []string) error {
			if remove != (len(args) == 1) {
				return usageError{errors.New("name what is to be linked and what it continues, or one exchange with --remove")}
			}
			if remove {
				return a.link(c.Context(), args[0], "", "")
			}
			return a.link(c.Context(), args[0], args[1], transcript.LinkTo)
		},
	}
	c.Flags().BoolVar(&remove, "remove", false, "return to what is inferred")
	return c
}

func newUnlink(a *app) *cobra.Command {
	var remove bool
	c := &cobra.Command{
		Use:   "unlink REF",
		Short: "Make an exchange the start of a run of its own",
		Long: `unlink makes an exchange or step the start of a run of its own. Exchanges that
continue it move along. This overrides what was inferred, for good. --remove undoes
it.`,
		Example: "  inspect unlink x40\n  inspect unlink r3.2\n  inspect unlink --remove x40",
		Args:    arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if remove {
				return a.link(c.Context(), args[0], "", "")
			}
			return a.link(c.Context(), args[0], "", transcript.Unlink)
		},
	}
	c.Flags().BoolVar(&remove, "remove", false, "return to what is inferred")
	return c
}

// link stores the user's statement about an exchange and links the affected
// exchanges again. Without a verb it removes the statement.
func (a *app) link(ctx context.Context, ref, to string, verb transcript.Verb) error {
	db, err := a.openToWrite()
	if err != nil {
		return err
	}
	defer db.Close()
	e, err := a.resolve(ctx, db, ref)
	if err != nil {
		return err
	}
	word := &transcript.Override{Exchange: e.ID, Verb: verb, At: time.Now()}
	if to != "" {
		if word.To, err = a.linkTarget(ctx, db, e, to); err != nil {
			return err
		}
	}
	if verb != "" {
		err = reindex.Override(ctx, db, word)
	} else if err = reindex.DropOverride(ctx, db, e.ID); errors.Is(err, transcript.ErrNotFound) {
		err = notFound(fmt.Sprintf("nothing was said of %s by link or unlink", view.Ref(e.N)))
	}
	if err != nil {
		return err
	}
	return a.tellLink(ctx, db, e.ID)
}

// linkTarget returns the id of the exchange that is to be continued.
func (a *app) linkTarget(ctx context.Context, db *store.DB, e *transcript.Exchange, ref string) (string, error) {
	t, err := a.locate(ctx, db, ref)
	switch {
	case err != nil:
		return "", err
	case t.Exchange == nil:
		return t.Run.ID, nil
	case t.Exchange.N >= e.N:
		return "", usageError{fmt.Errorf("%s came after %s: it cannot be what that continues", view.Ref(t.Exchange.N), view.Ref(e.N))}
	}
	return t.Exchange.ID, nil
}

// tellLink prints what an exchange continues now.
func (a *app) tellLink(ctx context.Context, db *store.DB, id string) error {
	e, err := db.Exchange(ctx, id)
	if err != nil {
		return err
	}
	row := view.NewRow(e)
	if a.json {
		return a.printJSON(row)
	}
	where := "is in no run"
	if run, err := db.Run(ctx, e.Link.Run); err == nil {
		where = "is in " + view.RunRef(run.N)
	}
	if e.Link.Step > 0 {
		where += fmt.Sprintf(", step %d", e.Link.Step)
	}
	if parent, err := db.Exchange(ctx, e.Link.Parent); err == nil {
		where += ", continues " + view.Ref(parent.N)
	}
	if e.Link.Evidence != "" {
		where += " (" + word(e.Link.Evidence) + ")"
	}
	_, err = fmt.Fprintf(a.out, "%s %s\n", row.Ref(), where)
	return err
}
