package web

import (
	"errors"
	"hash/fnv"
	"net/http"
	"net/url"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const rowsShown = 100

// listPage lists exchanges, newest first.
type listPage struct {
	layout
	Filter   transcript.Filter
	Rows     []view.Row
	Filtered bool
	Paged    bool   // older ones, not the newest
	Newest   string // where the first page is
	Older    string // where the next page is, if there is one
	Refresh  string // where the list is asked for again
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
	rows, err := view.Rows(c.Request.Context(), s.reader, f)
	if err != nil && !errors.Is(err, transcript.ErrDamaged) {
		s.failed(c, err)
		return
	}
	p := newListPage(f, rows)
	p.Lost = lostLine(err)
	seen := state(rows)
	if c.Query("seen") == seen {
		c.Status(http.StatusNoContent)
		return
	}
	if !p.Paged {
		p.Live = true
		p.Refresh = listURL(f, "seen", seen)
	}
	s.show(c, http.StatusOK, "list", p)
}

func newListPage(f transcript.Filter, rows []view.Row) *listPage {
	p := &listPage{
		layout: layout{Title: "Exchanges"}, Filter: f, Rows: rows, Paged: f.Before > 0,
		Filtered: f.Dialect != "" || f.Outcome != "" || f.Model != "", Newest: listURL(f, "", ""),
		Dialects: []transcript.Dialect{transcript.Chat, transcript.Responses, transcript.Messages, transcript.Unknown},
		Outcomes: []transcript.Outcome{
			transcript.OK, transcript.HTTPError, transcript.StreamError, transcript.UpstreamReset, transcript.ClientDisconnect,
			transcript.RecorderCrashed, transcript.RecorderStopped,
		},
	}
	if len(rows) > rowsShown {
		p.Rows = rows[:rowsShown]
		p.Older = listURL(f, "before", strconv.FormatInt(p.Rows[rowsShown-1].N, 10))
	}
	return p
}

// lostLine says what a list leaves out.
func lostLine(err error) string {
	if err == nil {
		return ""
	}
	return "The database is damaged, so the list is not whole: " + err.Error() + "."
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
	q := url.Values{}
	for key, value := range map[string]string{"dialect": string(f.Dialect), "outcome": string(f.Outcome), "model": f.Model, name: v} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if len(q) == 0 {
		return "/exchanges"
	}
	return "/exchanges?" + q.Encode()
}

// state changes when anything that the list shows may have changed.
func state(rows []view.Row) string {
	h := fnv.New64a()
	for i := range rows {
		r := &rows[i]
		h.Write([]byte(r.ID + string(r.Outcome)))
		h.Write([]byte(strconv.FormatInt(r.N, 36) + r.Model + strconv.Itoa(r.Calls)))
	}
	return strconv.FormatUint(h.Sum64(), 36)
}
