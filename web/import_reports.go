package web

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/files"
)

const reportsKept = 32

// importedFile is the report of one file.
type importedFile struct {
	*files.Imported
	Name string
	Refs []string // of the first runs with its exchanges
	More int
	Bad  []badLine  // the first ones
	Left []leftFile // of a zip archive, the first ones
}

// badLine is a line or an element that was left out.
type badLine struct {
	Entry  string // in a zip archive, the file in it
	Number int64
	Why    string
}

// leftFile is a file in a zip archive that was left out.
type leftFile struct{ Name, Why string }

// MoreLeft returns the number of left-out files that are not listed.
func (f *importedFile) MoreLeft() int { return f.LeftOut - len(f.Left) }

// MoreBad returns the number of bad lines that are not listed.
func (f *importedFile) MoreBad() int { return f.Imported.Bad - len(f.Bad) }

// Worse explains the worst grade of its exchanges.
func (f *importedFile) Worse() string {
	grades := f.Worth()
	if len(grades) == 0 {
		return ""
	}
	switch grades[len(grades)-1] {
	case "exact":
		return "the bytes that went over the wire"
	case "rebuilt":
		return "put together from what was kept: enough to be sent again"
	}
	return "parts are missing, such as system prompt or tools: to be viewed, not sent again"
}

// imports are the uploads in progress and the reports of the latest ones.
type imports struct {
	mu       sync.Mutex
	underWay int
	count    int
	reports  map[int][]*importedFile
}

func newImports() *imports { return &imports{reports: map[int][]*importedFile{}} }

// begin reserves a place for an upload; false if there is none.
func (i *imports) begin() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.underWay >= mostImports {
		return false
	}
	i.underWay++
	return true
}

func (i *imports) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.underWay--
}

// keep stores a report and returns its number.
func (i *imports) keep(did []*importedFile) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.count++
	i.reports[i.count] = did
	delete(i.reports, i.count-reportsKept)
	return i.count
}

func (i *imports) report(n int) []*importedFile {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.reports[n]
}

// importedPage shows the report of an upload.
type importedPage struct {
	layout
	Files []*importedFile
}

func (s *server) imported(c *gin.Context) {
	n, err := strconv.Atoi(c.Param("n"))
	if err != nil || n < 1 {
		s.fail(c, http.StatusNotFound, "There is no such import.")
		return
	}
	p := &importedPage{layout: layout{Title: "Imported"}, Files: s.imports.report(n)}
	if p.Files == nil {
		s.fail(c, http.StatusNotFound, "What became of that import is not known any more: the viewer was started again since, or many came after it. Its runs are in the list.")
		return
	}
	s.show(c, http.StatusOK, "imported-page", p)
}
