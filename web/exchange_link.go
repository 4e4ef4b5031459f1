package web

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/ingest/reindex"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	childrenShown = 12
	longestRef    = 100
	// undo is the verb of a form that removes what the user set.
	undo = "undo"
)

// linkPage shows what an exchange continues and on what evidence, and lets the user
// correct it.
type linkPage struct {
	exchangeHead
	Form     string
	Run      string // reference, "" if it is in none
	RunName  string
	Parent   *view.Row
	Link     view.Link
	Children []view.Row
	More     int    // children that are not listed
	Said     string // what the user set, "" for nothing
	SaidAt   time.Time
	To       string // as it was typed
	Wrong    string
}

func (s *server) link(c *gin.Context) {
	e, err := s.find(c.Request.Context(), c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	s.showLink(c, http.StatusOK, e, "", "")
}

// showLink shows what an exchange continues. to is the text typed into the form;
// wrong is why it is invalid.
func (s *server) showLink(c *gin.Context, status int, e *transcript.Exchange, to, wrong string) {
	ctx := c.Request.Context()
	head, err := s.headOf(ctx, e, "link")
	if err != nil {
		s.failed(c, err)
		return
	}
	p := &linkPage{exchangeHead: head, Form: s.writable(c), Link: head.Row.Link, To: to, Wrong: wrong}
	if err := p.fill(ctx, s, e); err != nil {
		s.failed(c, err)
		return
	}
	s.show(c, status, "link-page", p)
}

func (p *linkPage) fill(ctx context.Context, s *server, e *transcript.Exchange) error {
	if rows, err := view.Runs(ctx, s.reader, transcript.RunFilter{IDs: []string{e.Link.Run}}, s.now()); err == nil && len(rows) == 1 {
		p.Run, p.RunName = rows[0].Ref(), rows[0].Name
	}
	if e.Link.Parent != "" {
		parent, err := s.reader.Exchange(ctx, e.Link.Parent)
		if err == nil {
			row := view.NewRow(parent)
			p.Parent = &row
		} else if !errors.Is(err, transcript.ErrNotFound) && !errors.Is(err, transcript.ErrDamaged) {
			return err
		}
	}
	children, err := s.reader.Children(ctx, e.ID)
	if err != nil && !errors.Is(err, transcript.ErrDamaged) {
		return err
	}
	for _, child := range children[:min(len(children), childrenShown)] {
		p.Children = append(p.Children, view.NewRow(child))
	}
	p.More = len(children) - len(p.Children)
	return p.readSaid(ctx, s.reader, e)
}

// readSaid reads what the user set for the exchange.
func (p *linkPage) readSaid(ctx context.Context, r transcript.Reader, e *transcript.Exchange) error {
	word, err := r.Before(math.MaxInt64).Override(e.ID)
	if errors.Is(err, transcript.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	p.SaidAt = word.At
	if p.Said = "that it continues nothing"; word.Verb == transcript.LinkTo {
		p.Said = "that it continues what is gone"
		if to, err := r.Exchange(ctx, word.To); err == nil {
			p.Said = "that it continues " + view.Ref(to.N)
		} else if run, err := r.Run(ctx, word.To); err == nil {
			p.Said = "that it belongs to " + view.RunRef(run.N)
		}
	}
	return nil
}

// setLink stores or removes the user's statement of what an exchange continues.
func (s *server) setLink(c *gin.Context) {
	ctx := c.Request.Context()
	e, err := s.find(ctx, c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	word := &transcript.Override{Exchange: e.ID, Verb: transcript.Verb(c.PostForm("verb")), At: s.now()}
	to := strings.TrimSpace(c.PostForm("to"))
	switch c.PostForm("verb") {
	case string(transcript.LinkTo):
		word.To, err = s.linkTarget(ctx, e, to)
		if err == nil {
			err = reindex.Override(ctx, s.store(), word)
		}
	case string(transcript.Unlink):
		err = reindex.Override(ctx, s.store(), word)
	case undo:
		if err = reindex.DropOverride(ctx, s.store(), e.ID); errors.Is(err, transcript.ErrNotFound) {
			err = nil // it was removed already
		}
	default:
		err = &missingError{http.StatusBadRequest, "An exchange can be linked, unlinked, or what was said of it taken back."}
	}
	var wrong *missingError
	switch {
	case errors.As(err, &wrong):
		s.showLink(c, wrong.status, e, to, wrong.message)
	case err != nil:
		s.failed(c, err)
	default:
		c.Redirect(http.StatusSeeOther, exchangeURL(e.N)+"/link")
	}
}

// linkTarget returns the id of the exchange that is to be continued.
func (s *server) linkTarget(ctx context.Context, e *transcript.Exchange, ref string) (string, error) {
	if ref == "" || len(ref) > longestRef {
		return "", &missingError{http.StatusUnprocessableEntity, "Name what it continues: an exchange such as x31, a step such as r3.2, or a run such as r3."}
	}
	t, err := view.Locate(ctx, s.reader, ref)
	switch {
	case errors.Is(err, transcript.ErrNotFound), errors.Is(err, view.ErrBadRef), errors.Is(err, view.ErrAmbiguous):
		return "", &missingError{http.StatusUnprocessableEntity, "There is no " + oneLine(ref, 60) + " here. A reference looks like x31, r3.2 or r3."}
	case err != nil:
		return "", err
	case t.Exchange == nil:
		return t.Run.ID, nil
	case t.Exchange.N >= e.N:
		return "", &missingError{http.StatusUnprocessableEntity, view.Ref(t.Exchange.N) + " came after " + view.Ref(e.N) + ", or is that itself: it cannot be what that continues."}
	}
	return t.Exchange.ID, nil
}

// writing is the database with the methods for a change of several records.
type writing struct {
	transcript.Reader
	update func(context.Context, func(transcript.Tx) error) error
}

func (w writing) Update(ctx context.Context, f func(transcript.Tx) error) error {
	return w.update(ctx, f)
}

func (s *server) store() transcript.Store { return writing{s.reader, s.update} }
