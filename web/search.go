package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	hitsShown    = 50
	searchWithin = 20 * time.Second // of a search that has to read data without an index
)

// searchPage lists the items that hold a text.
type searchPage struct {
	layout
	Query   string
	Best    bool
	Words   bool
	Asked   bool // there is a query
	Found   *view.Found
	Wrong   string // why the query is invalid, as a sentence
	Filters [][2]string
}

func (s *server) search(c *gin.Context) {
	p := &searchPage{layout: layout{Title: "Search"}, Query: c.Query("q"), Best: c.Query("sort") == "best", Words: c.Query("words") != "", Filters: view.FilterWords}
	if p.Asked = strings.TrimSpace(p.Query) != ""; !p.Asked {
		s.show(c, http.StatusOK, "search-page", p)
		return
	}
	p.Title = oneLine(p.Query, 60) + " · Search"
	found, err := s.lookFor(c, hitsShown)
	var wrong *missingError
	switch {
	case errors.As(err, &wrong):
		p.Wrong = wrong.message
		s.show(c, wrong.status, "search-page", p)
	case err != nil:
		s.failed(c, err)
	default:
		p.Found = found
		s.show(c, http.StatusOK, "search-page", p)
	}
}

// apiSearch returns hits: ?q= ?sort=best ?words=1 ?literal=1 ?limit=.
func (s *server) apiSearch(c *gin.Context) {
	limit, err := apiLimit(c)
	if err != nil {
		s.fail(c, http.StatusBadRequest, "limit is a number from 1 to 1000.")
		return
	}
	found, err := s.lookFor(c, limit)
	if err != nil {
		s.failed(c, err)
		return
	}
	s.json(c, http.StatusOK, found.Hits)
}

// lookFor runs the search of a request's query.
func (s *server) lookFor(c *gin.Context, limit int) (*view.Found, error) {
	search := view.Search{SearchQuery: transcript.SearchQuery{Text: c.Query("q")}, Limit: limit, Best: c.Query("sort") == "best"}
	if c.Query("literal") == "" {
		q, err := view.ParseQuery(c.Query("q"), s.now())
		if err != nil {
			return nil, &missingError{http.StatusBadRequest, sentence(err)}
		}
		search.SearchQuery = q
	}
	search.Words = c.Query("words") != ""
	ctx, cancel := context.WithTimeout(c.Request.Context(), searchWithin)
	defer cancel()
	found, err := view.Find(ctx, s.reader, search)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, &missingError{http.StatusServiceUnavailable, "That took longer than 20 s, since what the index does not hold has to be read. A filter narrows it; inspect search has no such bound."}
	}
	if errors.Is(err, transcript.ErrNotFound) || errors.Is(err, view.ErrBadRef) || errors.Is(err, view.ErrIsNoRun) {
		return nil, &missingError{http.StatusNotFound, "There is no run " + oneLine(search.Run, 40) + " here."}
	}
	return found, err
}

// sentence formats an error with a capital and a full stop.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// hitURL returns the address of a hit's item on the page of its exchange.
func hitURL(h *view.Hit) string { return placeURL(h.N, h.Body, h.At) }

// itemPageURL returns the address of an item of the exchange with that id, by its
// JSON pointer. Pointers into requests and answers are never equal.
func itemPageURL(exchange, at string) string {
	if at == "" {
		return "/x/" + url.PathEscape(exchange)
	}
	return "/x/" + url.PathEscape(exchange) + "?" + url.Values{"at": {at}}.Encode()
}

// placeURL returns the address of an item by its place in a body.
func placeURL(n int64, body, at string) string {
	return exchangeURL(n) + "?" + url.Values{"side": {body}, "at": {at}}.Encode()
}

// hitWhat names the item of a hit: its author or its tool.
func hitWhat(h *view.Hit) string {
	what, ok := map[transcript.Kind]string{
		transcript.ToolCall: "call", transcript.ToolResult: "result", transcript.ToolDefinition: "tool", transcript.System: "system",
	}[h.Kind]
	switch {
	case h.Kind == transcript.MessageItem && h.Role != "", h.Kind == transcript.System && h.Role == "developer":
		what = h.Role
	case !ok:
		what = string(h.Kind)
	}
	return strings.TrimSpace(what + " " + h.Name)
}
