package files

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/formats"
	"github.com/retake-debugger/retake/transcript"
)

// A zip archive of transcripts is imported as the files that it holds, each by its
// own format. Names in it are used only in messages. Archives in it are not opened.
const ofZips = "zip"

// Limits on a zip archive. It may unpack to many times its size.
const (
	mostEntry   = 4 << 30  // bytes that one file in it may unpack to
	usualUnzip  = 16 << 30 // bytes that all may unpack to together, by default
	mostListing = 8 << 20  // bytes of its list of files, which is held in memory
)

func fitsZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
}

// isPacked reports whether a file is an archive or compressed, by its beginning.
func isPacked(head []byte) bool {
	return fitsZip(head) || formats.FitsArchive(head) || bytes.HasPrefix(head, []byte{0x1f, 0x8b})
}

// unzipping is a zip archive being imported.
type unzipping struct {
	*importing
	left int64 // bytes that may still be unpacked
	read int   // files
}

// zip imports the files in a zip archive. A file that cannot be read completely is
// reported, and the others are imported.
func (im *importing) zip(r io.Reader) error {
	im.did.Format = ofZips
	copied, err := im.newScratch()
	if err != nil {
		return err
	}
	size, err := io.Copy(copied, r)
	if err != nil {
		return err
	}
	listing := &bounded{ReaderAt: copied, left: mostListing}
	archive, err := zip.NewReader(listing, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // its names are never used as paths
		im.did.Error = "its list of files cannot be read: " + err.Error()
		return nil
	}
	listing.left = -1
	slices.SortStableFunc(archive.File, func(a, b *zip.File) int { return cmp.Compare(a.Name, b.Name) }) // a session before its sub-agents
	u := unzipping{importing: im, left: cmp.Or(im.MostUnpacked, usualUnzip)}
	for _, f := range archive.File {
		if err := u.entry(f); err != nil {
			return err
		}
	}
	if u.read == 0 && im.did.Error == "" {
		im.did.Error = "no file in it is in a format that is known"
	}
	return nil
}

// entry imports one file.
func (u *unzipping) entry(f *zip.File) error {
	switch most := min(u.left, mostEntry); {
	case f.Mode().IsDir():
		return nil
	case !f.Mode().IsRegular():
		u.leave(f, "it is no regular file")
	case f.Flags&1 != 0:
		u.leave(f, "it is encrypted")
	case f.UncompressedSize64 > uint64(most):
		u.fails(f, fmt.Errorf("%w: more than the %d bytes that may still be unpacked", ErrTooLarge, most))
	default:
		return u.open(f, most)
	}
	return nil
}

func (u *unzipping) open(f *zip.File, most int64) error {
	content, err := f.Open()
	if err != nil {
		u.fails(f, err)
		return nil
	}
	defer content.Close()
	r := &unpacked{ctx: u.ctx, r: content, left: most}
	defer func() { u.left -= most - r.left }()
	one := &importing{Import: u.Import, ctx: u.ctx, entry: true, did: &Imported{Grades: map[string]int{}},
		file: &File{Name: u.file.Name + ": " + nameOf(f), Base: baseOf(nameOf(f)), Reader: r}}
	defer one.close()
	err = one.run()
	if one.did.Known() {
		u.read++
		u.did.add(one.did)
	} else if err == nil {
		u.leave(f, one.did.Error)
	}
	if err != nil && (r.failed == nil || !errors.Is(err, r.failed) || u.ctx.Err() != nil) {
		return err // the database failed
	}
	if r.failed != nil {
		u.fails(f, r.failed)
	}
	return nil
}

// leave reports a file that is left out.
func (u *unzipping) leave(f *zip.File, why string) {
	u.did.LeftOut++
	if u.Left != nil {
		u.Left(u.file.Name, nameOf(f), why)
	}
}

// fails reports a file that cannot be read to its end.
func (u *unzipping) fails(f *zip.File, err error) {
	u.leave(f, err.Error())
	if u.did.Error == "" {
		u.did.Error = "not all of it could be read"
	}
}

// nameOf returns a name for messages.
func nameOf(f *zip.File) string {
	const longest = 300
	return strings.ToValidUTF8(transcript.Head(f.Name, longest), "")
}

// baseOf returns a name without its folder and ending.
func baseOf(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	return strings.TrimSuffix(name, path.Ext(name))
}

// add adds the report on a file in an archive.
func (d *Imported) add(o *Imported) {
	d.Exchanges += o.Exchanges
	d.New += o.New
	d.Calls += o.Calls
	d.Bad += o.Bad
	d.Files++
	for grade, n := range o.Grades {
		d.Grades[grade] += n
	}
	for _, id := range o.runs.list {
		d.runs.add(id)
	}
	d.Runs = len(d.runs.list)
}

// bounded is a reader that ends after so many bytes; less than none is no limit.
type bounded struct {
	io.ReaderAt
	left int64
}

func (b *bounded) ReadAt(p []byte, at int64) (int, error) {
	if b.left >= 0 {
		if b.left -= int64(len(p)); b.left < 0 {
			return 0, errors.New("it is too long")
		}
	}
	return b.ReaderAt.ReadAt(p, at)
}

// unpacked is what a file unpacks to, up to a limit, whatever size it claims.
type unpacked struct {
	ctx    context.Context
	r      io.Reader
	left   int64
	failed error // why it was not read to its end
}

func (u *unpacked) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := u.r.Read(p[:min(int64(len(p)), u.left+1)])
	if u.left -= int64(n); u.left < 0 {
		n, u.left, err = 0, 0, ErrTooLarge
	}
	if err != nil && err != io.EOF {
		u.failed = err
	}
	return n, err
}
