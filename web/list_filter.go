package web

import (
	"context"
	"fmt"
	"hash"
	"hash/fnv"
	"net/http"
	"net/url"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/view"
)

// listing is the common part of all lists: newest first, one page at a time. While
// it shows the newest rows, it refreshes itself.
type listing struct {
	layout
	Kind     string // "runs" or "exchanges"
	Path     string
	Asked    asked        // the filters
	Paged    bool         // older ones, not the newest
	Newest   string       // address of the first page
	Older    string       // address of the next page, if there is one
	Refresh  string       // address of the refreshed list
	UnderWay []*view.Live // what is being recorded

	CanImport bool
}

// showList shows a list. more reports whether there are rows after the last one,
// whose number is oldest. A client that has already seen this state is answered
// that nothing is new.
func (s *server) showList(c *gin.Context, p *listing, page any, more bool, oldest int64, state func(hash.Hash)) {
	p.Newest, p.CanImport = p.Asked.url(p.Path, "", ""), s.update != nil
	if more {
		p.Older = p.Asked.url(p.Path, "before", strconv.FormatInt(oldest, 10))
	}
	if !p.Paged {
		var err error
		if p.UnderWay, err = s.underWay(c.Request.Context()); err != nil {
			s.failed(c, err)
			return
		}
		h := fnv.New64a()
		state(h)
		for _, v := range p.UnderWay {
			fmt.Fprint(h, v.ID, len(v.Entries), v.RunRef)
		}
		seen := strconv.FormatUint(h.Sum64(), 36)
		if c.Query("seen") == seen {
			c.Status(http.StatusNoContent)
			return
		}
		p.Live, p.Refresh = true, p.Asked.url(p.Path, "seen", seen)
	}
	s.show(c, http.StatusOK, "list-page", page)
}

// oldest returns the number of the last row of a list.
func oldest[T any](rows []T, number func(*T) int64) int64 {
	if len(rows) == 0 {
		return 0
	}
	return number(&rows[len(rows)-1])
}

// Filtered reports whether the list is narrowed.
func (p *listing) Filtered() bool { return p.Asked.Text != "" }

// underWay reads what is being recorded.
func (s *server) underWay(ctx context.Context) ([]*view.Live, error) {
	if s.inFlight == nil {
		return nil, nil
	}
	var list []*view.Live
	for _, c := range s.inFlight() {
		v, err := view.NewLive(ctx, s.reader, c, s.now())
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// address adds the words that are not empty to a path as a query.
func address(path string, words map[string]string) string {
	q := url.Values{}
	for name, value := range words {
		if value != "" {
			q.Set(name, value)
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}
