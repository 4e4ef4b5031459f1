package web

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const rowsShown = 100

// listPage lists exchanges, newest first.
type listPage struct {
	listing
	Filter   transcript.Filter
	Rows     []view.Row
	Dialects []transcript.Dialect
	Outcomes []transcript.Outcome
}

func (s *server) list(c *gin.Context) {
	f, err := filterOf(c)
	if err != nil {
		s.fail(c, http.StatusBadRequest, "before is the number of an exchange.")
		return
	}
	f.Limit = rowsShown + 1
	rows, damage, err := s.rows(c.Request.Context(), f)
	if err != nil {
		s.failed(c, err)
		return
	}
	p := &listPage{
		listing: listing{layout: layout{Title: "Exchanges", Lost: lostLine(damage)}, Kind: "exchanges", Path: "/exchanges", Paged: f.Before > 0,
			Filtered: f.Dialect != "" || f.Outcome != "" || f.Model != ""}, Filter: f, Rows: rows[:min(len(rows), rowsShown)],
		Dialects: []transcript.Dialect{transcript.Chat, transcript.Responses, transcript.Messages, transcript.Unknown},
		Outcomes: []transcript.Outcome{
			transcript.OK, transcript.HTTPError, transcript.StreamError, transcript.UpstreamReset, transcript.ClientDisconnect,
			transcript.RecorderCrashed, transcript.RecorderStopped,
		},
	}
	s.showList(c, &p.listing, p, func(name, v string) string { return listURL(f, name, v) }, len(rows) > rowsShown, oldest(p.Rows, func(r *view.Row) int64 { return r.N }), func(h hash.Hash) {
		for i := range p.Rows {
			r := &p.Rows[i]
			fmt.Fprint(h, r.ID, r.Outcome, r.N, r.Model, r.Calls)
		}
	})
}

// lostLine says what a list leaves out.
func lostLine(err error) string {
	if err == nil {
		return ""
	}
	return "The database is damaged, so the list is not whole: " + err.Error() + "."
}

// rows reads rows with their prices. damage is what keeps others back.
func (s *server) rows(ctx context.Context, f transcript.Filter) (rows []view.Row, damage, err error) {
	rows, err = view.Rows(ctx, s.reader, f)
	if errors.Is(err, transcript.ErrDamaged) {
		damage, err = err, nil
	}
	for i := range rows {
		rows[i].Price(s.prices)
	}
	return rows, damage, err
}

// filterOf reads the filter words of a query, which are those of the commands.
func filterOf(c *gin.Context) (transcript.Filter, error) {
	f := transcript.Filter{
		Dialect: transcript.Dialect(c.Query("dialect")), Outcome: transcript.Outcome(c.Query("outcome")), Model: c.Query("model"),
	}
	var err error
	if v := c.Query("before"); v != "" {
		f.Before, err = strconv.ParseInt(v, 10, 64)
	}
	return f, err
}

func listURL(f transcript.Filter, name, v string) string {
	return address("/exchanges", map[string]string{"dialect": string(f.Dialect), "outcome": string(f.Outcome), "model": f.Model, name: v})
}
