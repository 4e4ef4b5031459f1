package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

func newTakes(a *app) *cobra.Command {
	all := false
	c := &cobra.Command{
		Use:   "takes [REF]",
		Short: "List replays: of a run, of an exchange, or all",
		Long: `takes lists replays: from where, with which edits, how far each went and why it
stopped. inspect show t4 shows the transcript of one, with the source of each tool
result. Of a minimisation only the smallest request is listed; --all and --json
also list its candidates.`,
		Example: `  inspect takes
  inspect takes r12
  inspect takes x34 --json | jq '.[] | select(.stop_reason=="open_calls").take'`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return a.takes(c.Context(), args, all) },
	}
	c.Flags().BoolVar(&all, "all", false, "also list the candidates of minimisations")
	return c
}

func (a *app) takes(ctx context.Context, args []string, all bool) error {
	db, err := a.open()
	if err != nil {
		return err
	}
	defer db.Close()
	var of *view.Target
	if len(args) > 0 {
		if of, err = a.locate(ctx, db, args[0]); err != nil {
			return err
		}
	}
	list, err := view.TakesOf(ctx, db, of)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(a.err, "no takes yet: inspect replay makes one")
		return nil
	}
	table := a.table("take", "of", "time", "mode", "steps", "last", "outcome", "stopped", "arm", "about")
	table.right, table.narrow = []string{"steps"}, []string{"mode", "time", "last", "stopped"}
	candidates := 0
	for _, t := range list {
		if t.Arm == transcript.CandidateArm && !all {
			candidates++
			continue
		}
		last := ""
		if t.LastN > 0 {
			last = view.Ref(t.LastN)
		}
		table.row(t.Ref, t.OriginRef, a.time(t.CreatedAt), string(t.Mode), strconv.Itoa(len(t.Steps)), last, string(t.Outcome), string(t.StopReason), word(t.Arm), a.takeAbout(t))
	}
	if candidates > 0 {
		fmt.Fprintf(a.err, "%s of minimisations %s not listed (--all)\n", counted(candidates, "candidate"), isAre(candidates))
	}
	return table.print()
}

// mostEdits bounds the listed edits of a take.
const mostEdits = 4

// takeAbout describes the changes of a take and their reason.
func (a *app) takeAbout(t *view.Take) string {
	parts := []string{word(t.Reason)}
	for i := range t.Edits {
		if left := len(t.Edits) - i; i >= mostEdits && left > 1 {
			parts = append(parts, counted(left, "more edit"))
			break
		}
		parts = append(parts, editWord(&t.Edits[i]))
	}
	if t.Parent != "" {
		parts = append(parts, "resumed")
	}
	return cut(join(parts), 200)
}

// editWord describes an edit in few words.
func editWord(e *transcript.Edit) string {
	what := e.CallID
	switch {
	case e.Op == transcript.SetModel:
		what = e.Text
	case e.Op == transcript.SetParam:
		what = e.Text + "=" + string(e.Value)
	case what == "":
		what = e.At
	}
	return strings.TrimSpace(word(strings.ReplaceAll(e.Op, "_", " ") + " " + what))
}

// takeRef finds the take of a reference.
func (a *app) takeRef(ctx context.Context, r transcript.Reader, ref string) (*transcript.Take, error) {
	digits, ok := strings.CutPrefix(ref, "t")
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 1 {
		return nil, usageError{fmt.Errorf("%q is not a take: takes are named t1, t2 … (inspect takes)", ref)}
	}
	take, err := r.TakeN(ctx, n)
	if errors.Is(err, transcript.ErrNotFound) {
		return nil, notFound(fmt.Sprintf("no take %s; inspect takes lists them", ref))
	}
	return take, err
}
