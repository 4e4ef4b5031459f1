package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// detailsPage shows everything known about one item. The panel next to a transcript
// shows its middle part.
type detailsPage struct {
	layout
	D        *view.Detail
	Pair     *pair // of a call or a result
	Block    block // of anything else
	Run      string
	CallRaw  value
	Answer   value  // the result's own JSON
	AnswerAt *place // where the result is
	Replay   string // where the result can be changed
}

// place is an item's position, as a page shows it.
type place struct {
	Ref  string
	N    int64
	Body string
	At   string
	Raw  string
}

// detailsURL returns the address of the details of the item at a place.
func detailsURL(p transcript.Place) string {
	q := url.Values{"side": {p.Body}, "at": {p.At}}
	return "/x/" + url.PathEscape(p.Exchange) + "/details?" + q.Encode()
}

func (s *server) details(c *gin.Context) {
	ctx := c.Request.Context()
	e, err := s.find(ctx, c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	side := c.Query("side")
	if side != "response" {
		side = "request"
	}
	d, err := view.NewDetail(ctx, s.reader, e, side, c.Query("at"))
	if errors.Is(err, transcript.ErrNotFound) {
		s.fail(c, http.StatusNotFound, "The exchange has no such item.")
		return
	}
	if err != nil {
		s.failed(c, err)
		return
	}
	p := &detailsPage{D: d}
	p.fill()
	if p.Run, err = s.runOf(ctx, e.Link.Run); err != nil {
		s.failed(c, err)
		return
	}
	s.show(c, http.StatusOK, "details-page", p)
}

// runOf returns the reference of the run with that id, "" if there is none.
func (s *server) runOf(ctx context.Context, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	run, err := s.reader.Run(ctx, id)
	if errors.Is(err, transcript.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return view.RunRef(run.N), nil
}

// fill lays the item out as a transcript does, but open and whole.
func (p *detailsPage) fill() {
	d := p.D
	row := view.Row{ID: d.Exchange.ID, N: d.Exchange.N}
	t := &view.Transcript{Exchange: &view.Exchange{Row: row}, Entries: []view.Entry{d.Entry}}
	t.Entries[0].Batch = 0
	b := blocks{t: t, ref: row.Ref(), sections: []string{answer}, numbers: []int{1}, budget: newBudget(), open: true}
	bl := b.block(0, 1)
	p.Block = bl
	p.Title = strings.TrimSpace(bl.Label + " in " + row.Ref())
	p.CallRaw = b.budget.data(string(d.Item.Raw), itemURL(d.Place, "raw"), closed)
	if len(bl.Pairs) == 0 {
		return
	}
	p.Pair = &bl.Pairs[0]
	if p.Pair.Name != "" {
		p.Title = oneLine(p.Pair.Name, 60) + " in " + row.Ref()
	}
	if d.Result == nil || d.Pair == nil || d.Pair.Result == nil {
		return
	}
	at := *d.Pair.Result
	p.AnswerAt = &place{Body: at.Body, At: at.At, Raw: itemURL(at, "raw")}
	if by := d.BroughtBy; by != nil {
		p.AnswerAt.Ref, p.AnswerAt.N = by.Ref(), by.N
		if at.Body == "request" {
			p.Replay = exchangeURL(by.N) + "/replay#" + resultAnchor(at.At)
		}
	}
	p.Answer = b.budget.data(string(d.Result.Raw), p.AnswerAt.Raw, closed)
}
