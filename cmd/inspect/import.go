package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/cmd/internal/usage"
	"github.com/retake-debugger/retake/files"
	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

func newImport(a *app) *cobra.Command {
	var format string
	names := append([]string{files.Auto}, files.Formats()...)
	c := &cobra.Command{
		Use:   "import FILE…",
		Short: "Import archives, and transcripts of other programs",
		Long: `import stores the content of files as if it had been recorded: runs, agents and
calls are found in the same way. Importing a file again adds nothing.

Formats: ` + strings.Join(names[1:], ", ") + `;
auto detects them. For a zip archive, import reads the files in it, but no archives
in it. With a session of Claude Code, it also imports those of its sub-agents, from the
folder of the same name.

Imported exchanges are marked (in ls, show, and as "imported" in JSON) with a grade:
  exact      the bytes that went over the wire
  rebuilt    rebuilt from a transcript: complete enough to be sent again
  view only  the same with parts missing, such as system prompt or tools

An unreadable line is reported with its number, and the rest is imported; the exit
status is then 1.`,
		Example: `  inspect import retake.archive
  inspect import ~/.claude/projects/*/*.jsonl
  inspect import --format openai-chat train.jsonl
  inspect import sessions.zip`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := usage.OneOf("--format", format, names); err != nil {
				return usageError{err}
			}
			return a.importFiles(c.Context(), format, args)
		},
	}
	c.Flags().StringVar(&format, "format", "auto", "format of the files: one of the formats above")
	return c
}

func (a *app) importFiles(ctx context.Context, format string, paths []string) error {
	path, err := a.path()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	for _, f := range paths {
		if _, err := os.Stat(f); err != nil {
			return err
		}
	}
	db, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	salt := make([]byte, 16)
	rand.Read(salt)
	im := &importing{app: a, bar: a.progress()}
	im.Import = files.Import{Store: db, Format: format, Redact: redact.New(salt), Bad: im.bad, Left: im.left}
	var all []*files.Imported
	for _, f := range paths {
		did, err := im.file(ctx, f)
		im.bar.clear()
		if err != nil {
			return err
		}
		all = append(all, did)
	}
	im.bar.show("indexing for search", 0, 0)
	_, err = ingest.Index(ctx, db)
	im.bar.clear()
	if err != nil && !errors.Is(err, transcript.ErrNoIndex) {
		return err
	}
	return a.printImported(all)
}

func (a *app) printImported(all []*files.Imported) error {
	failed := false
	for _, i := range all {
		failed = failed || i.Bad > 0 || i.Error != ""
	}
	if a.json {
		if err := a.printJSON(all); err != nil {
			return err
		}
	} else {
		p := a.printer(false)
		for _, i := range all {
			form := i.Format
			if i.Files > 0 {
				form = fmt.Sprintf("%s, %s file%s", form, number(int64(i.Files)), plural(i.Files))
			}
			p.line("%s: %s, %s exchange%s in %d run%s, %s new (%s)", visible(i.File), form, number(int64(i.Exchanges)), plural(i.Exchanges), i.Runs, plural(i.Runs), number(int64(i.New)), strings.Join(i.Worth(), ", "))
			if i.LeftOut > 0 {
				p.line("  %s file%s in it left out", number(int64(i.LeftOut)), plural(i.LeftOut))
			}
			if i.Otherwise > 0 {
				p.line("  %d of them are linked differently than before: what they continue is not in the archive", i.Otherwise)
			}
		}
		if p.failed != nil {
			return p.failed
		}
	}
	if failed {
		return errFindings
	}
	return nil
}

// importing is one run of import.
type importing struct {
	files.Import
	app  *app
	bar  *progress
	open []*os.File
	told int // files left out of an archive
}

// file imports a file with the files that belong to it.
func (im *importing) file(ctx context.Context, path string) (*files.Imported, error) {
	defer im.close()
	f, err := im.opened(path)
	if err != nil {
		return nil, err
	}
	f.Beside = func(format string) ([]files.File, error) { return im.beside(path, format) }
	im.told = 0
	did, err := im.Read(ctx, f)
	if err == nil && did.Error != "" {
		im.bar.clear()
		hint := ""
		if !did.Known() {
			hint = "; --format names one"
		}
		fmt.Fprintf(im.app.err, "inspect: %s: %s%s\n", visible(path), visible(did.Error), hint)
	}
	return did, err
}

func (im *importing) close() {
	for _, f := range im.open {
		f.Close()
	}
	im.open = nil
}

// beside returns the sub-agent sessions of a Claude Code session.
func (im *importing) beside(path, format string) ([]files.File, error) {
	if format != "claude-code" {
		return nil, nil
	}
	paths, err := filepath.Glob(filepath.Join(escapeGlob(strings.TrimSuffix(path, filepath.Ext(path))), "subagents", "*.jsonl"))
	if err != nil {
		return nil, nil
	}
	var list []files.File
	for _, p := range paths {
		f, err := im.opened(p)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// opened opens a file.
func (im *importing) opened(path string) (files.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return files.File{}, err
	}
	im.open = append(im.open, f)
	info, err := f.Stat()
	if err != nil {
		return files.File{}, err
	}
	if info.IsDir() {
		return files.File{}, usageError{fmt.Errorf("%s is a folder: name the files in it", path)}
	}
	base := filepath.Base(path)
	return files.File{Name: path, Base: strings.TrimSuffix(base, filepath.Ext(path)), Reader: &watched{f, info.Size(), 0, im.bar, base}}, nil
}

// left reports the first files of an archive that were left out.
func (im *importing) left(file, entry, why string) {
	const most = 20
	if im.told++; im.told > most {
		return
	}
	im.bar.clear()
	if fmt.Fprintf(im.app.err, "inspect: %s: %s: %s\n", visible(file), visible(entry), visible(oneLine(why))); im.told == most {
		fmt.Fprintf(im.app.err, "inspect: %s: …\n", visible(file))
	}
}

// bad prints what was left out of a file.
func (im *importing) bad(file string, number int64, err error) {
	im.bar.clear()
	fmt.Fprintf(im.app.err, "inspect: %s:%d: %s\n", visible(file), number, visible(oneLine(err.Error())))
}

// watched counts how far a file has been read.
type watched struct {
	io.Reader
	size, done int64
	bar        *progress
	name       string
}

func (c *watched) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.done += int64(n)
	c.bar.show("importing "+c.name+", bytes", c.done, c.size)
	return n, err
}
