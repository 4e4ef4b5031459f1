package web

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const rowsShown = 100

// listPage lists exchanges, newest first.
type listPage struct {
	listing
	Rows []view.Row
}

func (s *server) list(c *gin.Context) {
	f, asked := s.exchangesAsked(c)
	p := &listPage{listing: listing{layout: layout{Title: "Exchanges"}, Kind: "exchanges", Path: "/exchanges", Paged: f.Before > 0, Asked: asked}}
	if asked.Wrong != "" {
		s.show(c, http.StatusBadRequest, "list-page", p)
		return
	}
	f.Limit = rowsShown + 1
	rows, damage, err := s.rows(c.Request.Context(), f)
	if err != nil {
		s.failed(c, err)
		return
	}
	p.Lost = lostLine(damage)
	p.Rows = rows[:min(len(rows), rowsShown)]
	s.showList(c, &p.listing, p, len(rows) > rowsShown, oldest(p.Rows, func(r *view.Row) int64 { return r.N }), func(h hash.Hash) {
		for i := range p.Rows {
			r := &p.Rows[i]
			fmt.Fprint(h, r.ID, r.Outcome, r.N, r.Model, r.Calls)
		}
	})
}

// lostLine describes what a list leaves out.
func lostLine(err error) string {
	if err == nil {
		return ""
	}
	return "The database is damaged, so the list is not whole: " + err.Error() + "."
}

// rows reads rows with their prices. damage is why other rows are missing.
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
