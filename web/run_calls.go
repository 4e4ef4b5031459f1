package web

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/view"
)

const (
	callsShown = 500
	callBytes  = 2400 // of arguments and results: enough for a line of 300 characters
)

// callsPage is the audit table of a run: every call with its result.
type callsPage struct {
	runHead
	Filter view.CallFilter
	Sort   string
	Sorts  []string
	Rows   []callRow
	All    int // calls that pass the filter
	More   string
}

// callRow is one call of the table.
type callRow struct {
	view.Call
	Href string
}

func (s *server) calls(c *gin.Context) {
	ctx := c.Request.Context()
	v, err := s.wholeRun(ctx, c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	list, err := v.BriefCalls(ctx, s.reader, callBytes)
	if err != nil {
		s.failed(c, err)
		return
	}
	p := &callsPage{runHead: runHead{layout{Title: v.Ref() + " calls"}, v, "calls"}, Sort: c.DefaultQuery("sort", "step"), Sorts: view.CallOrders,
		Filter: view.CallFilter{Tool: c.Query("tool"), ID: c.Query("id"), Errors: c.Query("errors") != ""}}
	if err := view.SortCalls(list, p.Sort); err != nil {
		s.fail(c, http.StatusBadRequest, sentence(err))
		return
	}
	from, _ := strconv.Atoi(c.Query("from"))
	from = max(from, 0)
	for i := range list {
		if !p.Filter.Takes(&list[i]) {
			continue
		}
		if p.All++; p.All > from && len(p.Rows) < callsShown {
			p.Rows = append(p.Rows, callRow{list[i], callURL(&list[i])})
		}
	}
	if from+callsShown < p.All {
		q := c.Request.URL.Query()
		q.Set("from", strconv.Itoa(from+callsShown))
		p.More = "?" + q.Encode()
	}
	s.show(c, http.StatusOK, "calls-page", p)
}
