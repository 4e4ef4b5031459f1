package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/view"
)

func newVerify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Prove that every body comes back byte for byte",
		Long: `verify rebuilds both bodies of every exchange from what is stored, holds them
against the lengths and hashes taken when they were recorded, and checks the
database file itself. Exit status 1 if anything is wrong.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			db, err := a.open()
			if err != nil {
				return err
			}
			defer db.Close()
			checked := 0
			problems, err := db.Verify(c.Context(), func(done, total int) {
				checked = done
				if a.terminal() && (done%256 == 0 || done == total) {
					fmt.Fprintf(a.err, "\r%d of %d exchanges", done, total)
				}
			})
			if a.terminal() {
				fmt.Fprint(a.err, "\r\x1b[K")
			}
			if err != nil {
				return err
			}
			if a.json {
				if problems == nil {
					problems = []store.Problem{}
				}
				if err := a.printJSON(map[string]any{"exchanges": checked, "problems": problems}); err != nil {
					return err
				}
			} else {
				for _, p := range problems {
					fmt.Fprintln(a.out, visible(problemLine(p)))
				}
				fmt.Fprintf(a.out, "%d exchanges checked, %d problem%s\n", checked, len(problems), plural(len(problems)))
			}
			if len(problems) > 0 {
				return errFindings
			}
			return nil
		},
	}
}

func problemLine(p store.Problem) string {
	if p.Exchange == "" {
		return fmt.Sprintf("%s: %s", p.Part, p.Text)
	}
	return fmt.Sprintf("%s (%s) %s: %s", view.Ref(p.N), p.Exchange, p.Part, p.Text)
}
