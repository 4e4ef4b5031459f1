package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/cmd/internal/usage"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// Exit statuses, the same for all commands. They are part of the interface. An
// empty list or search result is a success; a missing reference or file is
// exitNotFound.
const (
	exitOK       = 0
	exitFindings = 1 // findings, differences, damage; or the command failed
	exitUsage    = 2
	exitNotFound = 3
)

// errFindings ends a command that has already printed what it found.
var errFindings = errors.New("findings")

// usageError is an error in the arguments.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// console is the input and output of a command.
type console struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
}

// app is shared by all commands.
type app struct {
	console
	db         string
	json       bool
	pricesFile string
	noPager    bool
}

// open opens the database for reading.
func (a *app) open() (*store.DB, error) {
	path, err := a.path()
	if err != nil {
		return nil, err
	}
	db, err := store.OpenReader(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound(fmt.Sprintf("no database at %s: record something first (recorder --help), or name another with --db", path))
	}
	if err == nil && db.Cut() {
		fmt.Fprintln(a.err, `inspect: the end of the database is missing; what was there is left out ("inspect doctor" has details)`)
	}
	return db, err
}

func (a *app) path() (string, error) {
	if a.db != "" {
		return a.db, nil
	}
	path, err := retake.DefaultPath(a.getenv)
	if err != nil {
		return "", fmt.Errorf("%w; name a database with --db", err)
	}
	return path, nil
}

// colour reports whether the output is a terminal that shows colours.
func (a *app) colour() bool {
	return a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb" && a.terminal()
}

func (a *app) terminal() bool {
	if _, ok := a.out.(*pager); ok {
		return true
	}
	f, ok := a.out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// width returns the columns of the output. If it is no terminal, it returns
// $COLUMNS.
func (a *app) width() int {
	if n, err := strconv.Atoi(a.getenv("COLUMNS")); err == nil && n > 20 && !a.terminal() {
		return n
	}
	f, ok := a.out.(*os.File)
	if p, behind := a.out.(*pager); behind {
		f, ok = p.screen, true
	}
	if ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 20 {
			return w
		}
	}
	return 120
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "inspect",
		Short: "Read, check and replay what the recorder stored",
		Long: `inspect reads the database that the recorder writes, even while it is being written.

References: r12 is a run by its number, last the latest, last~2 the one two
before it; r12.3 its third step, r12/a2.3 that of its second agent. x12 is an
exchange, x:last the latest; t4 what a replay sent. A unique part of an id works
too.

Exit status, of all commands: 0 fine, also when a list or a search finds nothing;
1 findings, differences or damage, or the work could not be done; 2 wrong usage;
3 no such reference or file.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{usage.Command(c, args[0])}
			}
			return nil
		},
		RunE:             func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRun: func(c *cobra.Command, _ []string) { a.turnPages(c) },
		SilenceErrors:    true, SilenceUsage: true,
	}
	root.Version = retake.Version()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddCommand(newPrune(a), newReindex(a), newStats(a), newDoctor(a), newLint(a))
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usageError{usage.Flag(c, err)} })
	root.SetHelpCommand(usage.Help(func(err error) error { return usageError{err} }))
	root.PersistentFlags().StringVar(&a.db, "db", "", "database file (default $RETAKE_DB, else $XDG_DATA_HOME/retake/retake.db)")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print one JSON document")
	root.PersistentFlags().StringVar(&a.pricesFile, "prices", "", "file with your own prices (default $RETAKE_PRICES, else $XDG_CONFIG_HOME/retake/prices.json)")
	root.PersistentFlags().BoolVar(&a.noPager, "no-pager", false, "do not page long output (default: $PAGER, else less, on a terminal)")
	root.AddCommand(newCalls(a), newDiff(a), newCompare(a), newTiming(a), newContext(a), newCache(a), newTail(a))
	root.AddCommand(newLs(a), newShow(a), newTree(a), newName(a), newTag(a), newUntag(a), newNote(a), newPin(a), newUnpin(a), newLink(a), newUnlink(a), newSearch(a), newExport(a), newUnredact(a), newImport(a), newReplay(a), newMinimise(a), newTakes(a), newVerify(a), newWeb(a))
	a.complete(root)
	return root
}

// arguments turns a wrong number of arguments into a usage error.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check(c, args) != nil {
			return usageError{usage.Arguments(c, args, check)}
		}
		return nil
	}
}

func exitCode(err error) int {
	switch {
	case errors.As(err, new(usageError)), errors.Is(err, view.ErrBadRef), errors.Is(err, view.ErrAmbiguous), errors.Is(err, view.ErrIsRun):
		return exitUsage
	case errors.Is(err, transcript.ErrDamaged):
		return exitFindings
	case errors.Is(err, transcript.ErrNotFound), errors.Is(err, replay.ErrNoResult), errors.Is(err, fs.ErrNotExist):
		return exitNotFound
	}
	return exitFindings
}

// explain formats an error and, where it helps, what to do about it.
func explain(err error) string {
	switch {
	case errors.Is(err, errFindings):
		return ""
	case errors.Is(err, view.ErrBadRef):
		return err.Error() + `. Runs are named r12, last or by a part of their id ("inspect ls"), steps r12.3, exchanges x12 or x:last ("inspect ls --exchanges")`
	case errors.Is(err, view.ErrIsRun):
		return err.Error() + "; name one of its steps, such as " + firstStep(err) + `, or an exchange ("inspect tree" lists both)`
	case errors.Is(err, view.ErrAmbiguous):
		return err.Error() + `; give more of it, or its number from "inspect ls"`
	case errors.Is(err, replay.ErrLossy), errors.Is(err, replay.ErrCut), errors.Is(err, replay.ErrUndecodable):
		return err.Error() + ", so it cannot be sent again"
	case errors.Is(err, replay.ErrHeld):
		return err.Error() + "; without edits --once sends the request as it is"
	case errors.Is(err, replay.ErrOpenCalls):
		return err.Error() + "; give it with --set-result CALL_ID=TEXT, or name a source (--tool-exec, --tool-http, --tool-mcp, --ask, --simulate)"
	case store.IsFull(err):
		return err.Error() + "; free some space on that disk first: a prune, too, needs room for its log before it gives any back"
	case errors.Is(err, transcript.ErrDamaged):
		return err.Error() + `; "inspect doctor" tells what is left`
	case errors.Is(err, store.ErrNewerSchema):
		return err.Error() + "; a newer version of this program wrote it: update inspect"
	case errors.Is(err, store.ErrOlderSchema):
		return err.Error() + `; export it with that version ("inspect export --format archive") and import the archive with this one into a new file`
	}
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return aboutFile(file)
	}
	return err.Error()
}

// aboutFile formats an error about a file.
func aboutFile(err *fs.PathError) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("no file %q", err.Path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("%q: this user may not %s it", err.Path, err.Op)
	}
	return fmt.Sprintf("%s %q: %v", err.Op, err.Path, err.Err)
}

// firstStep returns the reference of a step of the run that an error names.
func firstStep(err error) string {
	_, ref, _ := strings.Cut(err.Error(), `"`)
	ref, _, _ = strings.Cut(ref, `"`)
	return ref + ".1"
}
