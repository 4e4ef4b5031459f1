package files

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/transcript"
)

// Auto finds out the format of a file by its beginning.
const Auto = "auto"

// ofArchives is the format of our own archives.
const ofArchives = "archive"

// unknown is the format of what no importer reads.
const unknown = "unknown"

// Import takes files in, one after the other.
type Import struct {
	Store  transcript.Store
	Format string // Auto, or one of Formats
	// MostScratch bounds the scratch files of one file in bytes: what is packed may
	// be large. 0 is no bound.
	MostScratch int64
	// MostUnpacked bounds what a zip archive unpacks to, in bytes; 0 is the usual bound.
	MostUnpacked int64
	Redact       *redact.Redactor // takes the credentials out of headers and URLs
	// Bad is told of what was left out of a file: a line or an element, by its number
	// from 1.
	Bad func(file string, number int64, err error)
	// Left, if not nil, is told of a file in a zip archive that was left out.
	Left func(file, entry, why string)

	committer ingest.Committer
}

// File is a file to be taken in.
type File struct {
	Name   string // by which it is told of
	Base   string // without its folder and ending: tells runs apart that say nothing of themselves
	Reader io.Reader
	// Beside gives the files that belong to one of that format; nil for none.
	Beside func(format string) ([]File, error)
}

// Imported tells what became of a file.
type Imported struct {
	File      string         `json:"file"`
	Format    string         `json:"format"`
	Exchanges int            `json:"exchanges"`          // that the file holds
	New       int            `json:"new"`                // of them, that were not there
	Runs      int            `json:"runs"`               // that they are in
	Calls     int            `json:"calls"`              // tool calls in the new ones
	Grades    map[string]int `json:"grades"`             // of the exchanges
	Bad       int            `json:"bad_lines"`          // lines, or elements, that were left out
	Files     int            `json:"files,omitempty"`    // of a zip archive: that were taken in
	LeftOut   int            `json:"left_out,omitempty"` // of a zip archive: files that were not
	Otherwise int            `json:"otherwise"`          // of an archive: exchanges that are linked otherwise here
	Error     string         `json:"error,omitempty"`    // why it was not read to its end

	runs runList
}

// Known tells whether the format of the file is one that is read.
func (d *Imported) Known() bool { return d.Format != unknown }

// RunIDs gives the runs in which its exchanges are, as they came.
func (d *Imported) RunIDs() []string { return d.runs.list }

// Worth gives the grades of its exchanges, the best first.
func (d *Imported) Worth() []string {
	var grades []string
	for _, g := range []transcript.Grade{transcript.Exact, transcript.Rebuilt, transcript.ViewOnly} {
		if d.Grades[string(g)] > 0 {
			grades = append(grades, string(g))
		}
	}
	return grades
}

// runList are runs, each once.
type runList struct {
	list []string
	has  map[string]bool
}

func (r *runList) add(id string) {
	if r.has[id] {
		return
	}
	if r.has == nil {
		r.has = map[string]bool{}
	}
	r.has[id] = true
	r.list = append(r.list, id)
}

// Formats are the names of what can be taken in, archives first.
func Formats() []string {
	names := []string{ofArchives}
	for _, i := range formats.Importers() {
		names = append(names, i.Name)
	}
	return names
}

// A batch is committed when it has so many exchanges or bytes.
const (
	batchExchanges = 64
	batchBytes     = 8 << 20
)

// taking is one file being taken in.
type taking struct {
	*Import
	ctx     context.Context
	file    *File
	entry   bool // it is a file in a zip archive
	did     *Imported
	scratch []*os.File
	used    int64 // bytes of scratch files
	batch   []*transcript.Capture
	bytes   int64
}

// Take takes in a file with those that belong to it. What it tells is right after an
// error, too: then what was committed before stays.
func (im *Import) Take(ctx context.Context, f File) (*Imported, error) {
	t := &taking{Import: im, ctx: ctx, file: &f, did: &Imported{File: f.Name, Grades: map[string]int{}}}
	defer t.close()
	if err := t.run(); err != nil {
		return t.did, fmt.Errorf("import %s: %w", f.Name, err)
	}
	return t.did, nil
}

func (im *taking) close() {
	for _, f := range im.scratch {
		f.Close()
	}
}

func (im *taking) run() error {
	s, head, err := im.source(im.file)
	if err != nil {
		return err
	}
	switch {
	case im.entry && isPacked(head):
		im.did.Format, im.did.Error = unknown, "archives in an archive are not followed"
		return nil
	case fitsZip(head):
		return im.zip(s.Reader)
	}
	if im.Format == ofArchives || im.Format == Auto && formats.FitsArchive(head) {
		im.did.Format = ofArchives
		return im.archive(s)
	}
	format := im.importer(head)
	if format == nil {
		im.did.Format, im.did.Error = unknown, "it is in no format that is known"
		return nil
	}
	im.did.Format = format.Name
	streams := []captures{format.Read(s)}
	if im.file.Beside != nil {
		beside, err := im.file.Beside(im.did.Format)
		if err != nil {
			return err
		}
		for i := range beside {
			s, _, err := im.source(&beside[i])
			if err != nil {
				return err
			}
			streams = append(streams, format.Read(s))
		}
	}
	for c, err := range inTime(streams) {
		if err != nil { // what was read until then goes in
			return cmp.Or(im.commit(), err)
		}
		if err := im.take(c); err != nil {
			return err
		}
	}
	return im.commit()
}

// importer gives what reads a file with that beginning, nil if nothing does.
func (im *Import) importer(head []byte) *formats.Importer {
	if im.Format == ofArchives || im.Format == Auto && formats.FitsArchive(head) {
		return nil
	}
	list := formats.Importers()
	n := slices.IndexFunc(list, func(i *formats.Importer) bool { return i.Name == im.Format || im.Format == Auto && i.Fits(head) })
	if n < 0 {
		return nil
	}
	return list[n]
}

// source reads a file; its beginning comes along.
func (im *taking) source(f *File) (*formats.Source, []byte, error) {
	reader := bufio.NewReaderSize(f.Reader, formats.HeadBytes)
	head, err := reader.Peek(formats.HeadBytes)
	if err != nil && err != io.EOF {
		return nil, nil, fmt.Errorf("read %s: %w", f.Name, err)
	}
	s := &formats.Source{Ctx: im.ctx, Name: f.Base, Reader: reader, Redact: im.Redact, Scratch: im.tape}
	s.Bad = func(number int64, err error) {
		im.did.Bad++
		im.Bad(f.Name, number, err)
	}
	return s, head, nil
}

// take adds an exchange to the batch.
func (im *taking) take(c *transcript.Capture) error {
	im.did.Exchanges++
	im.did.Grades[string(c.Imported)]++
	im.batch = append(im.batch, c)
	im.bytes += c.Request.Size() + c.Response.Size()
	if len(im.batch) < batchExchanges && im.bytes < batchBytes {
		return nil
	}
	return im.commit()
}

// commit stores the batch.
func (im *taking) commit() error {
	batch := im.batch
	im.batch, im.bytes = nil, 0
	stored, err := im.committer.Commit(im.ctx, im.Store, batch)
	im.did.New += len(stored)
	for _, e := range stored {
		im.did.Calls += e.Calls
	}
	if err != nil {
		return err
	}
	for _, c := range batch {
		e, err := im.Store.Exchange(im.ctx, c.ID)
		if err != nil {
			return err
		}
		im.did.runs.add(e.Link.Run)
	}
	im.did.Runs = len(im.did.runs.list)
	return nil
}
