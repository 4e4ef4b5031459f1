package web

import (
	"io"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

func (s *server) requestBody(c *gin.Context)  { s.body(c, "request") }
func (s *server) responseBody(c *gin.Context) { s.body(c, "response") }

// body returns the exact wire bytes of one side, to be saved and never shown.
func (s *server) body(c *gin.Context, side string) {
	e, err := s.find(c.Request.Context(), c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	m := messageOf(e, side)
	c.Header("Content-Disposition", `attachment; filename="`+view.Ref(e.N)+"-"+side+`.bin"`)
	c.Header("Content-Type", "application/octet-stream")
	if m.Bytes == 0 {
		c.Header("Content-Length", "0")
		return
	}
	body, err := history.Open(c.Request.Context(), s.reader, m.Body)
	if err != nil {
		c.Header("Content-Disposition", "")
		s.failed(c, err)
		return
	}
	defer body.Close()
	if m.Omitted == "" { // otherwise the stored body is incomplete
		c.Header("Content-Length", strconv.FormatInt(m.Bytes, 10))
	}
	if _, err := io.Copy(c.Writer, body); err != nil {
		s.log.Warn("send body", "exchange", e.ID, "side", side, "error", err)
	}
}

// item returns one item whole, as plain text: its text, its arguments or its own
// JSON.
func (s *server) item(c *gin.Context) {
	items, err := s.itemsOf(c)
	if err != nil {
		s.failed(c, err)
		return
	}
	text, ok := partOf(items, c.Query("at"), c.Query("part"))
	if !ok {
		s.fail(c, http.StatusNotFound, "The exchange has no item there: an address names its side and its place, such as side=request and at=/messages/0.")
		return
	}
	c.Data(http.StatusOK, "text/plain; charset=utf-8", []byte(text))
}

// itemsOf reads the items of that side of an exchange that the query names.
func (s *server) itemsOf(c *gin.Context) ([]transcript.Item, error) {
	e, err := s.find(c.Request.Context(), c.Param("ref"))
	if err != nil {
		return nil, err
	}
	turn, err := history.Decode(c.Request.Context(), s.reader, e)
	if err != nil {
		return nil, err
	}
	if c.Query("side") == "response" {
		return turn.Output, nil
	}
	return turn.Input, nil
}

// partOf finds an item by its pointer. If several items come from one place, it
// returns the first that has that part.
func partOf(items []transcript.Item, at, part string) (string, bool) {
	found := false
	for i := range items {
		if items[i].At != at {
			continue
		}
		found = true
		text := items[i].Text
		switch part {
		case "arguments":
			text = items[i].ArgumentsRaw
		case "raw":
			text = string(items[i].Raw)
		}
		if text != "" {
			return text, true
		}
	}
	return "", found
}
