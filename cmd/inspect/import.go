package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-debugger/retake/cmd/internal/mistake"
	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

func newImport(a *app) *cobra.Command {
	var format string
	names := []string{"auto", "archive"}
	for _, i := range formats.Importers() {
		names = append(names, i.Name)
	}
	c := &cobra.Command{
		Use:   "import FILE…",
		Short: "Take in archives, and transcripts of other programs",
		Long: `import stores what is in files as if it had been recorded: its runs, agents and
calls are found in the same way. Importing a file again adds nothing.

Formats: ` + strings.Join(names[1:], ", ") + `;
auto tells them apart. Beside a session of Claude Code lie those of its sub-agents,
which come along.

What came by import says so (ls, show, and "imported" in JSON) and what it is worth:
  exact      the bytes that went over the wire
  rebuilt    put together from what was kept: enough to be sent again
  view only  the same with parts missing, such as system prompt or tools

A line that cannot be read is told with its number, and the rest goes in; the exit
status is 1 then.`,
		Example: `  inspect import retake.archive
  inspect import ~/.claude/projects/*/*.jsonl
  inspect import --format openai-chat train.jsonl`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := mistake.OneOf("--format", format, names); err != nil {
				return usageError{err}
			}
			return a.importFiles(c.Context(), format, args)
		},
	}
	c.Flags().StringVar(&format, "format", "auto", "what the files are: one of the formats above")
	return c
}

// imported tells what became of a file.
type imported struct {
	File      string         `json:"file"`
	Format    string         `json:"format"`
	Exchanges int            `json:"exchanges"`       // that the file holds
	New       int            `json:"new"`             // of them, that were not there
	Runs      int            `json:"runs"`            // that they are in
	Calls     int            `json:"calls"`           // tool calls in the new ones
	Grades    map[string]int `json:"grades"`          // of the exchanges
	Bad       int            `json:"bad_lines"`       // lines, or elements, that were left out
	Otherwise int            `json:"otherwise"`       // of an archive: exchanges that are linked otherwise here
	Error     string         `json:"error,omitempty"` // why it was not read to its end

	runs map[string]bool
}

func (a *app) importFiles(ctx context.Context, format string, files []string) error {
	path, err := a.path()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	for _, f := range files {
		if _, err := os.Stat(f); err != nil {
			return err
		}
	}
	db, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	dir, err := os.MkdirTemp("", "retake-import-")
	if err != nil {
		return fmt.Errorf("make scratch folder: %w", err)
	}
	defer os.RemoveAll(dir)
	salt := make([]byte, 16)
	rand.Read(salt)
	im := &importing{app: a, ctx: ctx, db: db, dir: dir, format: format, redact: redact.New(salt), bar: a.progress()}
	defer im.close()
	var all []*imported
	for _, f := range files {
		did, err := im.file(f)
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

func (a *app) printImported(all []*imported) error {
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
			var grades []string
			for _, g := range []transcript.Grade{transcript.Exact, transcript.Rebuilt, transcript.ViewOnly} {
				if i.Grades[string(g)] > 0 {
					grades = append(grades, string(g))
				}
			}
			p.line("%s: %s, %s exchange%s in %d run%s, %s new (%s)", visible(i.File), i.Format, number(int64(i.Exchanges)), plural(i.Exchanges), i.Runs, plural(i.Runs), number(int64(i.New)), strings.Join(grades, ", "))
			if i.Otherwise > 0 {
				p.line("  %d of them are linked otherwise than they were: what they continue is not in the archive", i.Otherwise)
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
	*app
	ctx       context.Context
	db        *store.DB
	dir       string // of scratch files
	format    string
	redact    *redact.Redactor
	bar       *progress
	committer ingest.Committer
	open      []*os.File
	batch     []*transcript.Capture
	bytes     int64
}

// A batch is committed when it has so many exchanges or bytes.
const (
	importBatch = 64
	importBytes = 8 << 20
)

func (im *importing) close() {
	for _, f := range im.open {
		f.Close()
	}
	im.open = nil
}

// file takes in a file with those that belong to it.
func (im *importing) file(path string) (*imported, error) {
	defer im.close()
	did := &imported{File: path, Grades: map[string]int{}, runs: map[string]bool{}}
	s, head, err := im.source(path, did)
	if err != nil {
		return nil, err
	}
	if im.format == "archive" || im.format == "auto" && formats.FitsArchive(head) {
		did.Format = "archive"
		return did, im.archive(s, did)
	}
	list := formats.Importers()
	n := slices.IndexFunc(list, func(i *formats.Importer) bool { return i.Name == im.format || im.format == "auto" && i.Fits(head) })
	if n < 0 {
		did.Format, did.Error = "unknown", "it is in no format that is known"
		fmt.Fprintf(im.err, "inspect: %s: %s; --format names one\n", visible(path), did.Error)
		return did, nil
	}
	did.Format = list[n].Name
	streams := []captures{list[n].Read(s)}
	for _, beside := range im.beside(path, did.Format) {
		s, _, err := im.source(beside, did)
		if err != nil {
			return nil, err
		}
		streams = append(streams, list[n].Read(s))
	}
	for c, err := range inTime(streams) {
		if err == nil {
			err = im.take(c, did)
		}
		if err != nil {
			return nil, err
		}
	}
	return did, im.commit(did)
}

// beside gives the sessions of the sub-agents of one of Claude Code.
func (im *importing) beside(path, format string) []string {
	if format != "claude-code" {
		return nil
	}
	list, err := filepath.Glob(filepath.Join(escapeGlob(strings.TrimSuffix(path, filepath.Ext(path))), "subagents", "*.jsonl"))
	if err != nil {
		return nil
	}
	return list
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// source opens a file.
func (im *importing) source(path string, did *imported) (*formats.Source, []byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	im.open = append(im.open, f)
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		return nil, nil, usageError{fmt.Errorf("%s is a folder: name the files in it", path)}
	}
	reader := bufio.NewReaderSize(&watched{f, info.Size(), 0, im.bar, filepath.Base(path)}, formats.HeadBytes)
	head, err := reader.Peek(formats.HeadBytes)
	if err != nil && err != io.EOF {
		return nil, nil, fmt.Errorf("read %s: %w", path, err)
	}
	s := &formats.Source{Ctx: im.ctx, Name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), ModTime: info.ModTime(), Reader: reader, Redact: im.redact, Scratch: im.scratch}
	s.Bad = func(number int64, err error) {
		did.Bad++
		im.bar.clear()
		fmt.Fprintf(im.err, "inspect: %s:%d: %s\n", visible(path), number, visible(oneLine(err.Error())))
	}
	return s, head, nil
}

// scratch makes a scratch file.
func (im *importing) scratch() (formats.Tape, error) {
	f, err := os.CreateTemp(im.dir, "tape-")
	if err == nil {
		im.open = append(im.open, f)
		err = os.Remove(f.Name()) // gone when it is closed
	}
	return f, err
}

// watched tells how far a file is read.
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

// take adds an exchange to the batch.
func (im *importing) take(c *transcript.Capture, did *imported) error {
	did.Exchanges++
	did.Grades[string(c.Imported)]++
	im.batch = append(im.batch, c)
	im.bytes += c.Request.Size() + c.Response.Size()
	if len(im.batch) < importBatch && im.bytes < importBytes {
		return nil
	}
	return im.commit(did)
}

// commit stores the batch.
func (im *importing) commit(did *imported) error {
	batch := im.batch
	im.batch, im.bytes = nil, 0
	stored, err := im.committer.Commit(im.ctx, im.db, batch)
	if err != nil {
		return err
	}
	did.New += len(stored)
	for _, e := range stored {
		did.Calls += e.Calls
	}
	for _, c := range batch {
		e, err := im.db.Exchange(im.ctx, c.ID)
		if err != nil {
			return err
		}
		did.runs[e.Link.Run] = true
	}
	did.Runs = len(did.runs)
	return nil
}
