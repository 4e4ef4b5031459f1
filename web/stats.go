package web

import (
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	statsOver = 20_000 // newest exchanges that are added up by default
	daysShown = 60
	runsShown = 30
)

// statsPage adds up exchanges.
type statsPage struct {
	layout
	S        *view.Stats
	Whole    bool   // nothing is left out
	All      bool   // all were asked for
	Model    string // the model filter, "" for all
	Charts   []chart
	Models   []statRow // and all together
	Runs     []statRow // the latest
	Days     []statRow
	RunsMore int
}

// statRow is a line of a table of sums.
type statRow struct {
	view.ModelStats
	Href string // for runs: a model may be called r1 too
}

func statRows(list []view.ModelStats, href func(name string) string) []statRow {
	rows := make([]statRow, len(list))
	for i := range list {
		rows[i] = statRow{list[i], href(list[i].Name)}
	}
	return rows
}

func nowhere(string) string { return "" }

// statsOf adds up the newest exchanges, or with ?all=1 all of them.
func (s *server) statsOf(c *gin.Context) (*view.Stats, error) {
	f := transcript.Filter{Model: c.Query("model"), Limit: statsOver}
	if c.Query("all") != "" {
		f.Limit = 0
	}
	return view.NewStats(c.Request.Context(), s.reader, f, s.prices)
}

func (s *server) stats(c *gin.Context) {
	v, err := s.statsOf(c)
	if err != nil {
		s.failed(c, err)
		return
	}
	p := &statsPage{layout: layout{Title: "Stats"}, S: v, All: c.Query("all") != ""}
	p.Whole = p.All || v.Total.Exchanges < statsOver
	all := v.Total
	all.Name = "all"
	p.Models = append(statRows(v.Models, func(name string) string { return "/stats?" + url.Values{"model": {name}}.Encode() }), statRow{ModelStats: all})
	p.Days = statRows(v.Days[max(len(v.Days)-daysShown, 0):], nowhere)
	p.Runs = statRows(v.Runs[max(len(v.Runs)-runsShown, 0):], func(name string) string { return "/" + name })
	p.RunsMore = len(v.Runs) - len(p.Runs)
	p.Charts, p.Model = chartsOver(v.Over, s.clockOf(v.Over.Length)), c.Query("model")
	s.show(c, http.StatusOK, "stats-page", p)
}

// apiStats adds up exchanges: ?model= ?all=1.
func (s *server) apiStats(c *gin.Context) {
	v, err := s.statsOf(c)
	if err != nil {
		s.failed(c, err)
		return
	}
	s.json(c, http.StatusOK, v)
}
