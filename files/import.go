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

// ofArchives is the format of Retake's own archives.
const ofArchives = "archive"

// unknown is the format of a file that no importer reads.
const unknown = "unknown"

// Import imports files one after the other.
type Import struct {
	Store  transcript.Store
	Format string // Auto, or one of Formats
	// MostScratch limits the scratch files of one file in bytes: packed data may be
	// large. 0 is no limit.
	MostScratch int64
	// MostUnpacked limits what a zip archive unpacks to, in bytes; 0 is the usual limit.
	MostUnpacked int64
	Redact       *redact.Redactor // removes the credentials from headers and URLs
	// Bad is called for what was left out of a file: a line or an element, by its
	// number from 1.
	Bad func(file string, number int64, err error)
	// Left, if not nil, is called for a file in a zip archive that was left out.
	Left func(file, entry, why string)

	committer ingest.Committer
}

// File is a file to be imported.
type File struct {
	Name   string // for messages
	Base   string // name without folder and ending: distinguishes runs that carry no id
	Reader io.Reader
	// Beside returns the files that belong to a file of that format; nil for none.
	Beside func(format string) ([]File, error)
}

// Imported is the report on one file.
type Imported struct {
	File      string         `json:"file"`
	Format    string         `json:"format"`
	Exchanges int            `json:"exchanges"`          // that the file holds
	New       int            `json:"new"`                // of them, not stored before
	Runs      int            `json:"runs"`               // that hold them
	Calls     int            `json:"calls"`              // tool calls in the new ones
	Grades    map[string]int `json:"grades"`             // of the exchanges
	Bad       int            `json:"bad_lines"`          // lines or elements that were left out
	Files     int            `json:"files,omitempty"`    // of a zip archive: files that were imported
	LeftOut   int            `json:"left_out,omitempty"` // of a zip archive: files that were not
	Otherwise int            `json:"otherwise"`          // of an archive: exchanges that are linked differently here
	Error     string         `json:"error,omitempty"`    // why it was not read to its end

	runs runList
}

// Known reports whether the format of the file can be read.
func (d *Imported) Known() bool { return d.Format != unknown }

// RunIDs returns the runs that hold its exchanges, in order.
func (d *Imported) RunIDs() []string { return d.runs.list }

// Worth returns the grades of its exchanges, the best first.
func (d *Imported) Worth() []string {
	var grades []string
	for _, g := range []transcript.Grade{transcript.Exact, transcript.Rebuilt, transcript.ViewOnly} {
		if d.Grades[string(g)] > 0 {
			grades = append(grades, string(g))
		}
	}
	return grades
}

// runList holds runs, each once.
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

// Formats returns the names of the formats that can be imported, archives first.
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

// importing is one file being imported.
type importing struct {
	*Import
	ctx     context.Context
	file    *File
	entry   bool // it lies in a zip archive
	did     *Imported
	scratch []*os.File
	used    int64 // bytes of scratch files
	batch   []*transcript.Capture
	bytes   int64
}

// Read imports a file with those that belong to it. The report is valid after an
// error too: what was committed before stays.
func (im *Import) Read(ctx context.Context, f File) (*Imported, error) {
	t := &importing{Import: im, ctx: ctx, file: &f, did: &Imported{File: f.Name, Grades: map[string]int{}}}
	defer t.close()
	if err := t.run(); err != nil {
		return t.did, fmt.Errorf("import %s: %w", f.Name, err)
	}
	return t.did, nil
}

func (im *importing) close() {
	for _, f := range im.scratch {
		f.Close()
	}
}

func (im *importing) run() error {
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
		if err != nil { // what was read before is stored
			return cmp.Or(im.commit(), err)
		}
		if err := im.add(c); err != nil {
			return err
		}
	}
	return im.commit()
}

// importer returns what reads a file with that beginning, nil if nothing does.
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

// source returns a reader of a file whose beginning was read already.
func (im *importing) source(f *File) (*formats.Source, []byte, error) {
	reader := bufio.NewReaderSize(f.Reader, formats.HeadBytes)
	head, err := reader.Peek(formats.HeadBytes)
	if err != nil && err != io.EOF {
		return nil, nil, fmt.Errorf("read %s: %w", f.Name, err)
	}
	s := &formats.Source{Ctx: im.ctx, Name: f.Base, Reader: reader, Redact: im.Redact, Scratch: im.newScratch}
	s.Bad = func(number int64, err error) {
		im.did.Bad++
		im.Bad(f.Name, number, err)
	}
	return s, head, nil
}

// add adds an exchange to the batch.
func (im *importing) add(c *transcript.Capture) error {
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
func (im *importing) commit() error {
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
