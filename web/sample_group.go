package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// groupPage is the common part of the pages of several takes.
type groupPage struct {
	layout
	Group   string
	Origin  *transcript.Exchange // the exchange that was sent again; nil if it is gone
	Run     string
	Form    string
	Look    string
	Refresh string
	Takes   []sampledArm
	Compare string
	Export  string
	Moved   string // why the database has none of it, in a sentence

	all []transcript.Take // of the group
}

// OriginRef returns the reference of the exchange that was sent again.
func (p *groupPage) OriginRef() string { return view.Ref(p.Origin.N) }

// sampledArm lists the takes of an arm.
type sampledArm struct {
	Name string
	Refs []string
}

// groupOf returns the group in the address. If it is invalid, it answers with an
// error.
func (s *server) groupOf(c *gin.Context) (string, bool) {
	id, err := uuid.Parse(c.Param("group"))
	if err != nil {
		s.fail(c, http.StatusNotFound, "That names no group of replays.")
		return "", false
	}
	return id.String(), true
}

// giveReport answers with the report of a group, as the command line prints it.
func giveReport[T any](s *server, c *gin.Context, read func(context.Context, transcript.Reader, string) (*T, error)) {
	group, ok := s.groupOf(c)
	if !ok {
		return
	}
	report, err := read(c.Request.Context(), s.reader, group)
	switch {
	case err != nil:
		s.failed(c, err)
	case report == nil:
		s.fail(c, http.StatusNotFound, "There is no report of that group here.")
	default:
		s.json(c, http.StatusOK, report)
	}
}

// moved notes on the page that another viewer began the replay: then the database has
// been reopened since.
func (p *groupPage) moved(s, of *server) {
	if s != of {
		p.Moved = "The database was opened anew while this went on: its file was removed or replaced. What was sent before that is in the old file, if that is still there. This page shows what is known of it here, and only as long as this program runs."
	}
}

// unreadable notes that the database cannot be read if the page can still show what
// is in progress.
func (p *groupPage) unreadable(err error, shown bool) bool {
	if shown && p.Moved == "" {
		p.Moved = "The database cannot be read at the moment: " + err.Error() + ". Its file may have been removed or replaced."
	}
	return shown
}

func (p *groupPage) readOrigin(ctx context.Context, r transcript.Reader, origin string) error {
	e, err := r.Exchange(ctx, origin)
	if errors.Is(err, transcript.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	p.Origin = e
	if run, err := r.Run(ctx, e.Link.Run); err == nil {
		p.Run = view.RunRef(run.N)
	}
	return nil
}

// read reads the original exchange and the takes. With shown, the page can show
// what is in progress without them.
func (p *groupPage) read(ctx context.Context, r transcript.Reader, origin string, shown bool) error {
	origin, err := p.readTakes(ctx, r, origin)
	if err == nil && origin == "" {
		return &missingError{http.StatusNotFound, "Nothing is known of that group of replays here."}
	}
	if err == nil {
		err = p.readOrigin(ctx, r, origin)
	}
	if err != nil && p.unreadable(err, shown) {
		return nil
	}
	return err
}

// readTakes lists the takes of the group by arm. If the original is still unknown,
// it returns the exchange that they replay.
func (p *groupPage) readTakes(ctx context.Context, r transcript.Reader, origin string) (string, error) {
	all, err := r.Takes(ctx, origin)
	if err != nil {
		return origin, err
	}
	arm := map[string]int{}
	for i := range all {
		t := &all[i]
		if t.Group != p.Group {
			continue
		}
		if origin == "" {
			origin = t.Origin
		}
		p.all = append(p.all, *t)
		n, ok := arm[t.Arm]
		if !ok {
			n = len(p.Takes)
			arm[t.Arm] = n
			p.Takes = append(p.Takes, sampledArm{Name: t.Arm})
		}
		p.Takes[n].Refs = append(p.Takes[n].Refs, fmt.Sprintf("t%d", t.N))
	}
	q := url.Values{}
	for _, a := range p.Takes {
		q["ref"] = append(q["ref"], a.Refs...)
	}
	p.Export = "/export?" + q.Encode()
	if len(p.Takes) > 1 {
		var firsts []string
		for _, a := range p.Takes {
			firsts = append(firsts, a.Refs[0])
		}
		if len(firsts) == 2 { // the control comes last
			slices.Reverse(firsts)
		}
		p.Compare = compareURL(firsts...)
	}
	return origin, nil
}
