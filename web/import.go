package web

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/files"
	"github.com/retake-debugger/retake/redact"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	usualImport  = 2_000_000_000 // bytes of one upload
	unpackedTo   = 4             // factor on that for scratch files
	mostImports  = 2             // at once
	badTold      = 50            // bad lines of a file that are reported
	longestField = 1000          // bytes of a field that is not a file
	longestName  = 200           // bytes of the name of a file
)

// importPage is the upload form.
type importPage struct {
	layout
	Form    string
	Most    int64
	Formats []string
	Wrong   string
}

// importing is one upload.
type importing struct {
	*server
	ctx    context.Context
	im     files.Import
	format string
	did    []*importedFile
}

func (s *server) importForm(c *gin.Context) {
	s.showImport(c, http.StatusOK, "")
}

func (s *server) showImport(c *gin.Context, status int, wrong string) {
	s.show(c, status, "import-page", &importPage{layout: layout{Title: "Import"}, Form: s.writable(c), Most: s.mostImport, Formats: files.Formats(), Wrong: wrong})
}

// importPost imports files while they arrive, and redirects to the report.
func (s *server) importPost(c *gin.Context) {
	if !s.mayChange(c) {
		return
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, s.mostImport)
	parts, err := c.Request.MultipartReader()
	if err != nil || !s.formComesFirst(parts) {
		s.refuseForm(c)
		return
	}
	if !s.imports.begin() {
		s.showImport(c, http.StatusServiceUnavailable, "Two imports are under way; one more begins when one of them has ended.")
		return
	}
	defer s.imports.end()
	salt := make([]byte, 16)
	rand.Read(salt)
	im := &importing{server: s, ctx: c.Request.Context(), format: files.Auto}
	im.im = files.Import{Store: s.store(), MostScratch: unpackedTo * s.mostImport, MostUnpacked: unpackedTo * s.mostImport, Redact: redact.New(salt), Bad: im.bad, Left: im.left}
	err = im.all(parts)
	switch {
	case im.ctx.Err() != nil:
		s.log.Info("an import was cancelled; what was taken in before stays")
		c.Abort()
	case err != nil:
		s.failed(c, err)
	case len(im.did) == 0:
		s.showImport(c, http.StatusUnprocessableEntity, "Choose a file.")
	default:
		c.Redirect(http.StatusSeeOther, "/import/"+strconv.Itoa(s.imports.keep(im.did)))
	}
}

// formComesFirst reports whether an upload begins with the form's token. Nothing
// else is read before the token is known.
func (s *server) formComesFirst(parts *multipart.Reader) bool {
	part, err := parts.NextPart()
	if err != nil || part.FormName() != "form" {
		return false
	}
	token, err := io.ReadAll(io.LimitReader(part, longestField))
	return err == nil && same(string(token), s.guard.form)
}

// all imports the files of an upload, one after the other.
func (im *importing) all(parts *multipart.Reader) error {
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return im.cut(err)
		}
		switch {
		case part.FormName() == "file" && part.FileName() != "":
			im.im.Format = im.format
			if !im.take(fileName(part.FileName()), part) {
				return nil
			}
		case part.FormName() == "format":
			text, err := io.ReadAll(io.LimitReader(part, longestField))
			if err != nil {
				return im.cut(err)
			}
			if slices.Contains(files.Formats(), string(text)) {
				im.format = string(text)
			}
		}
	}
}

// cut reports an upload that ended early, before any of a file was read.
func (im *importing) cut(err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &missingError{http.StatusRequestEntityTooLarge, im.tooLarge()}
	case len(im.did) > 0:
		return nil // the last file reports it
	}
	return &missingError{http.StatusBadRequest, "The upload broke off."}
}

func (im *importing) tooLarge() string {
	return "More than " + size(im.mostImport) + " cannot be uploaded at once: inspect import takes files of any size."
}

// take imports one file. It reports whether more can be read.
func (im *importing) take(name string, r io.Reader) bool {
	now := &importedFile{Name: name}
	im.did = append(im.did, now)
	did, err := im.im.Read(im.ctx, files.File{Name: name, Base: strings.TrimSuffix(name, path.Ext(name)), Reader: r})
	now.Imported = did
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		did.Error = im.tooLarge()
	case errors.Is(err, files.ErrTooLarge):
		did.Error = "It unpacks to more than " + size(im.im.MostScratch) + "."
	case err != nil:
		did.Error = sentence(err)
		im.log.Warn("an import ended early", "error", err)
	case !did.Known():
		did.Error = "It is in no format that is known. If it is, choose the format."
	case did.Error != "":
		did.Error = sentence(errors.New(did.Error))
	}
	now.Refs, now.More = im.runRefs(did.RunIDs())
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, r) // of an unknown format only the beginning was read
	return err == nil
}

// fileName returns the name of a file for messages. It is never used as a path.
func fileName(name string) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	if name = strings.ToValidUTF8(transcript.Head(name, longestName), ""); name == "" || name == "." || name == ".." {
		return "file"
	}
	return name
}

// bad records what was left out of the current file.
func (im *importing) bad(file string, number int64, err error) {
	now := im.did[len(im.did)-1]
	if len(now.Bad) < badTold {
		entry, _ := strings.CutPrefix(file, now.Name)
		now.Bad = append(now.Bad, badLine{oneLine(strings.TrimPrefix(entry, ": "), 200), number, oneLine(err.Error(), 300)})
	}
}

// left records what was left out of the current zip archive.
func (im *importing) left(_, entry, why string) {
	now := im.did[len(im.did)-1]
	if len(now.Left) < badTold {
		now.Left = append(now.Left, leftFile{oneLine(entry, 200), oneLine(why, 300)})
	}
}

// runRefs returns the references of the first runs of a list and the number of the
// others.
func (im *importing) runRefs(ids []string) (refs []string, more int) {
	const most = 40
	for _, id := range ids[:min(len(ids), most)] {
		if run, err := im.reader.Run(im.ctx, id); err == nil {
			refs = append(refs, view.RunRef(run.N))
		}
	}
	return refs, max(len(ids)-most, 0)
}
