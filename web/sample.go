package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/replay/sample"
)

const outcomesShown = 40

// samplePage shows the progress and the results of a sample.
type samplePage struct {
	groupPage
	Score *score // while this viewer runs it
	Total int
	S     *sample.Report // its report
	Rows  []outcomeRow
	More  int // outcomes that are not listed
	Found []sample.Comparison
	// Against compares each other arm with the first.
	Against []sample.Comparison
	Lossy   bool // arms were sent in other dialects, or with losses
}

// outcomeRow is how often the next answers of each arm had one outcome.
type outcomeRow struct {
	Label string
	Cells []part
}

// part is a count out of a total.
type part struct{ Count, Of int }

func (s part) Percent() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*float64(s.Count)/float64(s.Of))
}

func sampleURL(group string) string { return "/samples/" + group }

func (s *server) sample(c *gin.Context) {
	ctx := c.Request.Context()
	group, ok := s.groupOf(c)
	if !ok {
		return
	}
	p := &samplePage{groupPage: groupPage{layout: layout{Title: "Sample"}, Group: group, Form: s.writable(c)}}
	origin := ""
	var err error
	if run := s.takes.sampleOf(group); run != nil {
		now := run.score()
		seen := fmt.Sprint(now.Done, ".", now.Ended)
		if c.Query("seen") == seen {
			c.Status(http.StatusNoContent)
			return
		}
		p.moved(s, run.of)
		p.Score, p.Look, p.Total, p.S, origin = &now, run.Look, run.Total, now.Sample, run.Origin.ID
		if !now.Ended {
			p.Live, p.Refresh = true, refreshURL(c, seen)
		}
	} else if p.S, err = sample.Read(ctx, s.reader, group); err != nil {
		s.failed(c, err)
		return
	}
	if p.S != nil {
		p.report()
		origin = p.S.Origin
	}
	if err := p.read(ctx, s.reader, origin, p.Score != nil); err != nil {
		s.failed(c, err)
		return
	}
	if len(p.all) > 0 && groupURL(&p.all[0]) != sampleURL(group) {
		c.Redirect(http.StatusSeeOther, groupURL(&p.all[0]))
		return
	}
	if p.Origin != nil {
		p.Title = "Sample of " + p.OriginRef()
	}
	s.show(c, http.StatusOK, "sample-page", p)
}

// report lays out what the takes show.
func (p *samplePage) report() {
	p.Look = p.S.Primary
	labels := map[string]int{}
	for i := range p.S.Arms {
		for _, o := range p.S.Arms[i].Outcomes {
			n, ok := labels[o.Label]
			if !ok {
				n = len(p.Rows)
				labels[o.Label] = n
				p.Rows = append(p.Rows, outcomeRow{Label: o.Label, Cells: make([]part, len(p.S.Arms))})
			}
			p.Rows[n].Cells[i].Count += o.Count // labels that were cut may be equal
		}
	}
	for _, r := range p.Rows {
		for i := range r.Cells {
			r.Cells[i].Of = p.S.Arms[i].N
		}
	}
	p.More = max(len(p.Rows)-outcomesShown, 0)
	p.Rows = p.Rows[:len(p.Rows)-p.More]
	for i := range p.S.Arms {
		p.Lossy = p.Lossy || len(p.S.Arms[i].Losses) > 0 || p.S.Arms[i].Dialect != p.S.Arms[0].Dialect
	}
	if len(p.S.Arms) > 2 {
		p.Against = p.S.Secondary
		return
	}
	for _, c := range p.S.Secondary {
		if c.PValue <= 0.05 {
			p.Found = append(p.Found, c)
		}
	}
}

// pValue writes the p of a comparison.
func pValue(p float64) string {
	if p < 0.0001 {
		return "p under 0.0001"
	}
	return fmt.Sprintf("p = %.2g", p)
}

// points writes a difference of shares in percentage points.
func points(v float64) string {
	if v > -0.005 && v < 0.005 {
		return "0"
	}
	return strings.Replace(fmt.Sprintf("%+.0f", 100*v), "-", "−", 1)
}

func (s *server) stopSample(c *gin.Context) {
	if group, ok := s.groupOf(c); ok {
		if run := s.takes.sampleOf(group); run != nil {
			run.cancel()
		}
		c.Redirect(http.StatusSeeOther, sampleURL(group))
	}
}

// apiSample returns the report of a sample, as inspect replay -n --json prints it.
func (s *server) apiSample(c *gin.Context) { giveReport(s, c, sample.Read) }
