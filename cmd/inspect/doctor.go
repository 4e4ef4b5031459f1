package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake"
	"github.com/retake-debugger/retake/recorder/spool"
	"github.com/retake-debugger/retake/store"
)

// The results of a check.
const (
	stateOK      = "ok"
	stateNote    = "note"    // for information
	stateProblem = "problem" // to be fixed
)

// check is one line of doctor.
type check struct {
	Check string `json:"check"`
	State string `json:"state"`
	Text  string `json:"text"`
}

func newDoctor(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check the database, its spool and this program for problems",
		Long: `doctor checks the database file and its permissions, its schema and whether it is
damaged, the free space on its disk, and the spool beside it: whether a recorder
is running, and whether one that was killed left exchanges behind. It changes
nothing. Exit status 1 if there is a problem.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			path, err := a.path()
			if err != nil {
				return err
			}
			d := &doctor{path: path}
			d.examine(c.Context())
			d.spool()
			d.room()
			if err := a.printChecks(d.checks); err != nil {
				return err
			}
			for _, c := range d.checks {
				if c.State == stateProblem {
					return errFindings
				}
			}
			return nil
		},
	}
}

func (a *app) printChecks(checks []check) error {
	if a.json {
		return a.printJSON(checks)
	}
	p := a.printer(true)
	for _, c := range checks {
		state := map[string]string{stateOK: p.style(stateOK, green) + "     ", stateNote: p.style(stateNote, yellow) + "   ", stateProblem: p.style(stateProblem, red)}[c.State]
		lines, _ := p.prose(c.Text, 22, 100)
		p.line("%s  %-11s  %s", state, c.Check, lines[0])
		for _, line := range lines[1:] {
			p.line("%22s%s", "", line)
		}
	}
	return p.failed
}

type doctor struct {
	path   string
	checks []check
}

func (d *doctor) say(state, check_, format string, args ...any) {
	d.checks = append(d.checks, check{check_, state, fmt.Sprintf(format, args...)})
}

func (d *doctor) examine(ctx context.Context) {
	x, err := store.Examine(ctx, d.path)
	if errors.Is(err, fs.ErrNotExist) {
		d.say(stateNote, "database", "none at %s yet: record something first (recorder --help), or name another with --db", d.path)
		return
	}
	if err != nil {
		d.say(stateProblem, "database", "%v", err)
		return
	}
	d.opens(x)
	d.permissions(x)
	if x.Readable || x.Opens == nil {
		d.damage(x)
		d.contents(x)
	}
	if x.Opens == nil {
		d.indexed(ctx)
	}
}

// indexed checks the progress of the search index.
func (d *doctor) indexed(ctx context.Context) {
	db, err := store.OpenReader(d.path)
	if err != nil {
		d.say(stateProblem, "search", "%v", err)
		return
	}
	defer db.Close()
	s, err := db.SearchState(ctx)
	switch {
	case err != nil:
		d.say(stateProblem, "search", "%v", err)
	case s.Few() && s.Lag > 0:
		d.say(stateOK, "search", "%s: so few that search reads them instead of an index", counted(int(s.Lag), "exchange"))
	case s.Lag > 0:
		are := map[bool]string{true: "is", false: "are"}[s.Lag == 1]
		d.say(stateNote, "search", "%s %s not in the search index yet: search reads them; a running recorder takes them in", counted(int(s.Lag), "exchange"), are)
	default:
		d.say(stateOK, "search", "all exchanges are in the search index")
	}
}

func (d *doctor) opens(x *store.Examination) {
	switch {
	case errors.Is(x.Opens, store.ErrNewerSchema):
		d.say(stateProblem, "database", "%s, %s; its schema %d was written by a newer version, this one knows %d: update this program", d.path, size(int(x.Bytes)), x.Version, x.Newest)
	case errors.Is(x.Opens, store.ErrOlderSchema):
		d.say(stateProblem, "database", "%s, %s; %v: export it with that version (\"inspect export --format archive\") and import the archive into a new file", d.path, size(int(x.Bytes)), x.Opens)
	case x.Opens != nil && x.Readable:
		d.say(stateProblem, "database", "%s, %s, is damaged (%v): the recorder cannot write to it, what is left of it can be read. Save that with \"inspect export\", then move the file away", d.path, size(int(x.Bytes)), x.Opens)
	case x.Opens != nil:
		d.say(stateProblem, "database", "%s, %s, cannot be read: %v", d.path, size(int(x.Bytes)), x.Opens)
	case x.Version < x.Newest:
		d.say(stateNote, "database", "%s, %s, schema %d; it is brought up to %d when it is opened next", d.path, size(int(x.Bytes)), x.Version, x.Newest)
	default:
		d.say(stateOK, "database", "%s, %s, schema %d, %s exchange%s", d.path, size(int(x.Bytes)), x.Version, number(x.Exchanges), plural(int(x.Exchanges)))
	}
}

func (d *doctor) permissions(x *store.Examination) {
	if x.Mode&0o077 != 0 {
		d.say(stateNote, "permissions", "others on this machine may read the database (mode %04o): chmod 600 %s", x.Mode, d.path)
	} else {
		d.say(stateOK, "permissions", "only you can read the database")
	}
}

func (d *doctor) damage(x *store.Examination) {
	if len(x.Problems) == 0 {
		d.say(stateOK, "integrity", "SQLite finds no damage; \"inspect verify\" proves every body")
		return
	}
	for i, text := range x.Problems {
		if i == 5 {
			d.say(stateProblem, "integrity", "and %d more", len(x.Problems)-i)
			break
		}
		d.say(stateProblem, "integrity", "%s", visible(oneLine(text)))
	}
	d.say(stateProblem, "integrity", "\"inspect verify\" tells which exchanges are affected; the others can be read and exported")
}

const (
	muchFree = 64 << 20  // free bytes in the database that are worth releasing
	muchLog  = 192 << 20 // bytes of a log that some reader must be keeping from being checkpointed
)

func (d *doctor) contents(x *store.Examination) {
	if x.Lossy > 0 {
		d.say(stateNote, "lossy", "of %s exchange%s something was lost when recorded: the disk was full or too slow", number(x.Lossy), plural(int(x.Lossy)))
	}
	if x.Free > muchFree {
		d.say(stateNote, "free", "%s in the database are free to be used again; any \"inspect prune\" gives them back", size(int(x.Free)))
	}
	if x.Log > muchLog {
		d.say(stateNote, "log", "the log beside the database has %s: some program reads, or has read, for very long", size(int(x.Log)))
	} else {
		d.say(stateOK, "log", "the write-ahead log beside the database has %s", size(int(x.Log)))
	}
}

func (d *doctor) spool() {
	dir := retake.SpoolDir(d.path)
	if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o077 != 0 {
		d.say(stateNote, "permissions", "others on this machine may look into the spool (mode %04o): chmod 700 %s", info.Mode().Perm(), dir)
	}
	w, err := spool.Abandoned(dir)
	switch {
	case err != nil:
		d.say(stateProblem, "spool", "%v", err)
	case w.Running > 0:
		d.say(stateOK, "recorder", "%d program%s record%s into this database", w.Running, plural(w.Running), map[bool]string{true: "s"}[w.Running == 1])
	default:
		d.say(stateOK, "recorder", "none runs on this database")
	}
	if w.Exchanges > 0 {
		d.say(stateProblem, "spool", "%s", waitingLine(w))
	}
	if w.Damaged > 0 {
		d.say(stateProblem, "spool", "%s", damagedLine(w))
	}
	if err == nil && w.Exchanges == 0 && w.Damaged == 0 {
		d.say(stateOK, "spool", "nothing was left behind")
	}
}

// littleRoom is the free space below which doctor warns.
const littleRoom = 256 << 20

func (d *doctor) room() {
	free, ok := freeSpace(d.path)
	switch {
	case !ok:
	case free < littleRoom:
		d.say(stateProblem, "disk", "only %s are free: recording is about to lose what does not fit", size(int(free)))
	default:
		d.say(stateOK, "disk", "%s are free", size(int(free)))
	}
}
