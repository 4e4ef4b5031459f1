package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// runsPage lists runs.
type runsPage struct {
	listing
	Filter transcript.RunFilter
	Rows   []view.RunRow
}

func (s *server) runs(c *gin.Context) {
	f, err := runFilterOf(c)
	if err != nil {
		s.fail(c, http.StatusBadRequest, "before is the number of a run.")
		return
	}
	f.Limit = rowsShown + 1
	rows, damage, err := s.runRows(c.Request.Context(), f)
	if err != nil {
		s.failed(c, err)
		return
	}
	p := &runsPage{listing: listing{layout: layout{Title: "Runs", Lost: lostLine(damage)}, Kind: "runs", Path: "/", Paged: f.Before > 0,
		Filtered: f.Model != "" || f.Tag != "" || f.Tool != ""}, Filter: f, Rows: rows[:min(len(rows), rowsShown)]}
	s.showList(c, &p.listing, p, func(name, v string) string { return runsURL(f, name, v) }, len(rows) > rowsShown, oldest(p.Rows, func(r *view.RunRow) int64 { return r.N }), func(h hash.Hash) {
		if err := json.NewEncoder(h).Encode(p.Rows); err != nil {
			fmt.Fprint(h, err)
		}
	})
}

// runRows reads rows with their prices. damage is what keeps others back.
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

// runFilterOf reads the filter words of a query, which are those of the commands.
func runFilterOf(c *gin.Context) (transcript.RunFilter, error) {
	f := transcript.RunFilter{Model: c.Query("model"), Tag: c.Query("tag"), Tool: c.Query("tool"),
		Dialect: transcript.Dialect(c.Query("dialect")), Outcome: transcript.Outcome(c.Query("outcome"))}
	var err error
	if v := c.Query("before"); v != "" {
		f.Before, err = strconv.ParseInt(v, 10, 64)
	}
	return f, err
}

func runsURL(f transcript.RunFilter, name, v string) string {
	return address("/", map[string]string{"model": f.Model, "tag": f.Tag, "tool": f.Tool, "dialect": string(f.Dialect), "outcome": string(f.Outcome), name: v})
}

// apiRuns gives rows, newest first: ?model= ?tag= ?tool= ?before= ?limit=.
func (s *server) apiRuns(c *gin.Context) {
	f, err := runFilterOf(c)
	if err != nil {
		s.fail(c, http.StatusBadRequest, "before is the number of a run.")
		return
	}
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

// apiRun gives one run in full, without texts.
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
