package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// runsPage lists runs, newest first.
type runsPage struct {
	layout
	Filter   transcript.RunFilter
	Rows     []view.RunRow
	Filtered bool
	Paged    bool   // older ones, not the newest
	Newest   string // where the first page is
	Older    string // where the next page is, if there is one
	Refresh  string // where the list is asked for again
}

func (s *server) runs(c *gin.Context) {
	f, err := runFilterOf(c)
	if err != nil {
		s.fail(c, http.StatusBadRequest, "before is the number of a run.")
		return
	}
	f.Limit = rowsShown + 1
	rows, err := view.Runs(c.Request.Context(), s.reader, f, s.now())
	if err != nil && !errors.Is(err, transcript.ErrDamaged) {
		s.failed(c, err)
		return
	}
	p := &runsPage{layout: layout{Title: "Runs", Lost: lostLine(err)}, Filter: f, Rows: rows, Paged: f.Before > 0,
		Filtered: f.Model != "" || f.Tag != "" || f.Tool != "", Newest: runsURL(f, "", "")}
	if len(rows) > rowsShown {
		p.Rows = rows[:rowsShown]
		p.Older = runsURL(f, "before", strconv.FormatInt(p.Rows[rowsShown-1].N, 10))
	}
	seen := stateOfRuns(p.Rows)
	if c.Query("seen") == seen {
		c.Status(http.StatusNoContent)
		return
	}
	if !p.Paged {
		p.Live, p.Refresh = true, runsURL(f, "seen", seen)
	}
	s.show(c, http.StatusOK, "runs-page", p)
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
	q := url.Values{}
	for key, value := range map[string]string{"model": f.Model, "tag": f.Tag, "tool": f.Tool, "dialect": string(f.Dialect), "outcome": string(f.Outcome), name: v} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if len(q) == 0 {
		return "/"
	}
	return "/?" + q.Encode()
}

// stateOfRuns changes when anything that the list shows may have changed.
func stateOfRuns(rows []view.RunRow) string {
	h := fnv.New64a()
	if err := json.NewEncoder(h).Encode(rows); err != nil {
		fmt.Fprint(h, err)
	}
	return strconv.FormatUint(h.Sum64(), 36)
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
	rows, err := view.Runs(c.Request.Context(), s.reader, f, s.now())
	if err != nil && !errors.Is(err, transcript.ErrDamaged) {
		s.failed(c, err)
		return
	}
	if err := view.PriceRuns(c.Request.Context(), s.reader, rows, s.prices); err != nil {
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
