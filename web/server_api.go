package web

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/view"
)

const (
	apiRows    = 100
	apiRowsMax = 1000
)

// apiList returns rows, newest first: ?q= in the words of the list, or ?dialect=
// ?outcome= … one by one; ?before= ?limit=.
func (s *server) apiList(c *gin.Context) {
	f, asked := s.exchangesAsked(c)
	if asked.Wrong != "" {
		s.fail(c, http.StatusBadRequest, asked.Wrong)
		return
	}
	var err error
	if f.Limit, err = apiLimit(c); err != nil {
		s.fail(c, http.StatusBadRequest, "limit is a number from 1 to 1000.")
		return
	}
	rows, _, err := s.rows(c.Request.Context(), f)
	if err != nil {
		s.failed(c, err)
		return
	}
	s.json(c, http.StatusOK, rows)
}

var errLimit = errors.New("no limit")

// apiLimit reads how many rows are asked for.
func apiLimit(c *gin.Context) (int, error) {
	v := c.Query("limit")
	if v == "" {
		return apiRows, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > apiRowsMax {
		return 0, errLimit
	}
	return n, nil
}

// apiExchange returns one exchange in full; ?chunks=1 adds the arrival times.
func (s *server) apiExchange(c *gin.Context) {
	e, err := s.find(c.Request.Context(), c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	x, err := view.NewExchange(c.Request.Context(), s.reader, e)
	if err != nil {
		s.failed(c, err)
		return
	}
	x.Price(s.prices)
	if c.Query("chunks") != "" {
		x.AddChunks(e)
	}
	s.json(c, http.StatusOK, x)
}
