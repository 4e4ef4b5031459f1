package web

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// asked is the filter of a list: the words that the user typed, together with those
// from links and forms that name a filter each.
type asked struct {
	Text    string
	Filters [][2]string
	Wrong   string // why the words are invalid, as a sentence
	Search  string // address of the full-text search for the same words
}

// wordNames are the filters that an address may name one by one.
var wordNames = []string{"model", "dialect", "outcome", "tool", "tag", "since", "is"}

// askedOf reads the filter of a list.
func (s *server) askedOf(c *gin.Context) (view.ListQuery, asked) {
	a := asked{Text: strings.TrimSpace(c.Query("q")), Filters: view.ListWords}
	q, err := view.ParseListQuery(a.Text, s.now())
	if err != nil {
		a.Search = address("/search", map[string]string{"q": a.Text})
	}
	for _, name := range wordNames {
		v := c.Query(name)
		if v == "" {
			continue
		}
		a.Text = strings.TrimSpace(a.Text + " " + view.Word(name, v))
		if wrong := q.Set(name, v, s.now()); wrong != nil && err == nil {
			err = fmt.Errorf("%q: %w: %w", view.Word(name, v), view.ErrBadQuery, wrong)
		}
	}
	if err != nil {
		a.Wrong = sentence(err)
	}
	return q, a
}

// exchangesAsked reads the filter of a list of exchanges.
func (s *server) exchangesAsked(c *gin.Context) (transcript.Filter, asked) {
	q, a := s.askedOf(c)
	a.Filters = view.ExchangeWords()
	f, err := q.Exchanges()
	if err != nil && a.Wrong == "" {
		a.Wrong = sentence(err)
	}
	f.Before, err = beforeOf(c)
	if err != nil && a.Wrong == "" {
		a.Wrong = "before is the number of an exchange."
	}
	return f, a
}

// runsAsked reads the filter of a list of runs.
func (s *server) runsAsked(c *gin.Context) (transcript.RunFilter, asked) {
	q, a := s.askedOf(c)
	f := q.Runs()
	var err error
	if f.Before, err = beforeOf(c); err != nil && a.Wrong == "" {
		a.Wrong = "before is the number of a run."
	}
	return f, a
}

func beforeOf(c *gin.Context) (int64, error) {
	if v := c.Query("before"); v != "" {
		return strconv.ParseInt(v, 10, 64)
	}
	return 0, nil
}

// url returns the address of a list with the same words and one more.
func (a *asked) url(path, name, value string) string {
	return address(path, map[string]string{"q": a.Text, name: value})
}
