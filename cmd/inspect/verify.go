package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/ingest/reindex"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/view"
)

func newVerify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Verify that every body comes back byte for byte",
		Long: `verify rebuilds both bodies of every exchange from what is stored, compares them
with the lengths and hashes taken when they were recorded, checks the database file
itself, and derives again what the exchanges mean and how they are linked. Exit
status 1 if anything is wrong.

What another version derived may differ without being damaged: "inspect reindex"
derives it with this one.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			db, err := a.open()
			if err != nil {
				return err
			}
			defer db.Close()
			a.tellWaiting()
			checked, problems, err := a.verify(c.Context(), db)
			if err != nil {
				return err
			}
			if a.json {
				if err := a.printJSON(map[string]any{"exchanges": checked, "problems": problems}); err != nil {
					return err
				}
			} else {
				for _, p := range problems {
					fmt.Fprintln(a.out, visible(problemLine(p)))
				}
				fmt.Fprintf(a.out, "%d exchange%s checked, %d problem%s\n", checked, plural(checked), len(problems), plural(len(problems)))
			}
			if len(problems) > 0 {
				return errFindings
			}
			return nil
		},
	}
}

// verify checks the bytes, then the derived data.
func (a *app) verify(ctx context.Context, db *store.DB) (checked int, problems []store.Problem, err error) {
	p := a.progress()
	defer p.clear()
	problems, err = db.Verify(ctx, func(done, total int) {
		checked = done
		p.show("checking bodies", int64(done), int64(total))
	})
	if fileDamaged(problems) {
		fmt.Fprintln(a.err, "inspect: the file is damaged, so what was derived of the bodies was not checked")
	} else if err == nil {
		problems, err = a.rederive(ctx, db, p, problems)
	}
	if err != nil && ctx.Err() == nil && len(problems) > 0 { // damage that hides more
		problems, err = append(problems, store.Problem{Part: "database", Text: "could not be checked to the end: " + err.Error()}), nil
	}
	if problems == nil {
		problems = []store.Problem{}
	}
	return checked, problems, err
}

// fileDamaged reports whether SQLite found damage. Data joined through damaged
// indexes derives differently, and slowly.
func fileDamaged(problems []store.Problem) bool {
	return slices.ContainsFunc(problems, func(p store.Problem) bool { return p.Part == "database" })
}

// rederive adds the derived data that differs now.
func (a *app) rederive(ctx context.Context, db *store.DB, p *progress, problems []store.Problem) ([]store.Problem, error) {
	differences, err := reindex.Compare(ctx, db, func(done, newest int64) { p.show("deriving again", done, newest) })
	for _, d := range differences {
		problems = append(problems, store.Problem{Exchange: d.Exchange, N: d.N, Part: "derived", Text: d.String() + `; see "inspect reindex"`})
	}
	return problems, err
}

func problemLine(p store.Problem) string {
	if p.N == 0 {
		return fmt.Sprintf("%s: %s", p.Part, p.Text)
	}
	if p.Exchange == "" {
		return fmt.Sprintf("%s %s: %s", view.Ref(p.N), p.Part, p.Text)
	}
	return fmt.Sprintf("%s (%s) %s: %s", view.Ref(p.N), p.Exchange, p.Part, p.Text)
}
