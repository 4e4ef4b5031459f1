package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// runsPage lists runs.
type runsPage struct {
	listing
	Rows  []view.RunRow
	Found map[string]*foundCount // by run id; only runs that have been judged
}

func (s *server) runs(c *gin.Context) {
	f, asked := s.runsAsked(c)
	p := &runsPage{listing: listing{layout: layout{Title: "Runs"}, Kind: "runs", Path: "/", Paged: f.Before > 0, Asked: asked}}
	if asked.Wrong != "" {
		s.show(c, http.StatusBadRequest, "list-page", p)
		return
	}
	f.Limit, f.Timeline = rowsShown+1, true
	rows, damage, err := s.runRows(c.Request.Context(), f)
	if err != nil {
		s.failed(c, err)
		return
	}
	p.Lost = lostLine(damage)
	p.Rows = rows[:min(len(rows), rowsShown)]
	p.Found = s.found.of(p.Rows, s.inFlight == nil || len(s.inFlight()) == 0)
	s.showList(c, &p.listing, p, len(rows) > rowsShown, oldest(p.Rows, func(r *view.RunRow) int64 { return r.N }), func(h hash.Hash) {
		if err := json.NewEncoder(h).Encode(p.Rows); err != nil {
			fmt.Fprint(h, err)
		}
		fmt.Fprint(h, len(p.Found))
	})
}

// runRows reads rows with their prices. damage is why other rows are missing.
func (s *server) runRows(ctx context.Context, f transcript.RunFilter) (rows []view.RunRow, damage, err error) {
	rows, err = view.Runs(ctx, s.reader, f, s.now())
	if errors.Is(err, transcript.ErrDamaged) {
		damage, err = err, nil
	}
	if err == nil {
		err = view.PriceRuns(ctx, s.reader, rows, s.prices)
	}
	return rows, damage, err
}

// apiRuns returns rows, newest first: ?q= in the words of the list, or ?model= ?tag=
// ?tool= … one by one; ?before= ?limit=.
func (s *server) apiRuns(c *gin.Context) {
	f, asked := s.runsAsked(c)
	if asked.Wrong != "" {
		s.fail(c, http.StatusBadRequest, asked.Wrong)
		return
	}
	var err error
	if f.Limit, err = apiLimit(c); err != nil {
		s.fail(c, http.StatusBadRequest, "limit is a number from 1 to 1000.")
		return
	}
	rows, _, err := s.runRows(c.Request.Context(), f)
	if err != nil {
		s.failed(c, err)
		return
	}
	s.json(c, http.StatusOK, rows)
}

// apiRun returns one run in full, without texts.
func (s *server) apiRun(c *gin.Context) {
	run, err := s.findRun(c.Request.Context(), c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	v, err := s.readRun(c.Request.Context(), run)
	if err != nil {
		s.failed(c, err)
		return
	}
	s.json(c, http.StatusOK, v)
}
