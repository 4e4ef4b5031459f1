package web

import (
	"errors"
	"net/http"
	"strings"
	"unicode"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/web/safehtml"
)

const (
	longestMark = 10_000 // of a name or a note, in bytes
	longestTag  = 100
)

// setMarks stores the user's name, note and tags of a run, and whether it is kept
// forever. The form contains all of them.
func (s *server) setMarks(c *gin.Context) {
	run, err := s.findRun(c.Request.Context(), c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	name, note := strings.TrimSpace(c.PostForm("name")), strings.TrimSpace(strings.ReplaceAll(c.PostForm("note"), "\r\n", "\n"))
	if len(name) > longestMark || len(note) > longestMark {
		s.fail(c, http.StatusBadRequest, "A name or a note has at most 10 kB.")
		return
	}
	tags := strings.FieldsFunc(c.PostForm("tags"), func(r rune) bool { return unicode.IsSpace(r) || r == ',' })
	for _, tag := range tags {
		if len(tag) > longestTag || safehtml.Plain(tag) != tag {
			s.fail(c, http.StatusBadRequest, "A tag is a word of characters that can be seen, at most 100 bytes.")
			return
		}
	}
	err = s.update(c.Request.Context(), func(tx transcript.Tx) error {
		m, err := tx.Marks(c.Request.Context(), run.ID)
		if err != nil {
			return err
		}
		m.Name, m.Note, m.Tags, m.Pinned = name, note, tags, c.PostForm("pinned") != ""
		return tx.PutMarks(run.ID, m)
	})
	if err != nil {
		s.failed(c, err)
		return
	}
	c.Redirect(http.StatusSeeOther, runURL(run.N, 0, 0))
}

// changes admits a request that changes something: only from a page of this server,
// with the form's token. The form has at most that many bytes.
func (s *server) changes(most int64) gin.HandlerFunc {
	return func(c *gin.Context) {
		if !s.mayChange(c) {
			return
		}
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, most)
		if err := c.Request.ParseForm(); errors.As(err, new(*http.MaxBytesError)) {
			s.fail(c, http.StatusRequestEntityTooLarge, "That form has more than "+size(most)+", which is more than is accepted. Go back and shorten it.")
			c.Abort()
			return
		}
		if !same(c.PostForm("form"), s.guard.form) {
			s.refuseForm(c)
		}
	}
}

// mayChange refuses a change if the viewer is read-only or the request comes from
// another origin. An origin that may read may not change.
func (s *server) mayChange(c *gin.Context) bool {
	if s.update == nil {
		s.fail(c, http.StatusForbidden, "This viewer only shows: the database cannot be written.")
		c.Abort()
		return false
	}
	if origin := c.GetHeader("Origin"); origin != "" && origin != "null" && !ownOrigin(origin, c.Request.Host) {
		s.refuseForm(c)
		return false
	}
	return true
}

func (s *server) refuseForm(c *gin.Context) {
	s.fail(c, http.StatusForbidden, "That form is not from this page, or the viewer has been restarted since. Go back and reload the page.")
	c.Abort()
}

// writable returns the token for the forms of a page, "" if nothing can be changed.
func (s *server) writable(c *gin.Context) string {
	if s.update == nil {
		return ""
	}
	// See showLogin.
	c.Header("Referrer-Policy", "same-origin")
	return s.guard.form
}
