package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const outcomesShown = 40

// samplePage shows how a sample goes, and what its takes show.
type samplePage struct {
	groupPage
	Score *score // while this viewer plays it
	Total int
	S     *replay.Sample // its report
	Rows  []outcomeRow
	More  int // outcomes that are not listed
	Found []replay.Comparison
	// Against holds what is looked for in each of several arms against the first.
	Against []replay.Comparison
	Lossy   bool // arms were sent in other dialects, or something could not be carried
}

// groupPage is what pages of several takes have in common.
type groupPage struct {
	layout
	Group   string
	Origin  *transcript.Exchange // that was sent again; nil if it is gone
	Run     string
	Form    string
	Look    string
	Refresh string
	Takes   []sampledArm
	Compare string
	Export  string
	Moved   string // why the database has nothing of it, in a sentence

	all []transcript.Take // of the group
}

// OriginRef is the reference of what was sent again.
func (p *groupPage) OriginRef() string { return view.Ref(p.Origin.N) }

// outcomeRow is how often the next answers of each arm did something.
type outcomeRow struct {
	Label string
	Cells []part
}

// part is a count out of so many.
type part struct{ Count, Of int }

func (s part) Percent() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*float64(s.Count)/float64(s.Of))
}

// sampledArm lists the takes of an arm.
type sampledArm struct {
	Name string
	Refs []string
}

func sampleURL(group string) string { return "/samples/" + group }

func (s *server) sample(c *gin.Context) {
	ctx := c.Request.Context()
	id, err := uuid.Parse(c.Param("group"))
	if err != nil {
		s.fail(c, http.StatusNotFound, "That is no sample.")
		return
	}
	p := &samplePage{groupPage: groupPage{layout: layout{Title: "Sample"}, Group: id.String(), Form: s.writable(c)}}
	origin := ""
	if run := s.takes.sampleOf(p.Group); run != nil {
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
	} else if p.S, err = replay.ReadSample(ctx, s.reader, p.Group); err != nil {
		s.failed(c, err)
		return
	}
	if p.S != nil {
		p.report()
		origin = p.S.Origin
	}
	if origin, err = p.readTakes(ctx, s.reader, origin); err != nil && !p.unreadable(err, p.Score != nil) {
		s.failed(c, err)
		return
	}
	if len(p.all) > 0 && groupURL(&p.all[0]) != sampleURL(p.Group) {
		c.Redirect(http.StatusSeeOther, groupURL(&p.all[0]))
		return
	}
	if origin == "" {
		s.fail(c, http.StatusNotFound, "There is no such sample here.")
		return
	}
	if err := p.readOrigin(ctx, s.reader, origin); err != nil && !p.unreadable(err, p.Score != nil) {
		s.failed(c, err)
		return
	}
	if p.Origin != nil {
		p.Title = "Sample of " + p.OriginRef()
	}
	s.show(c, http.StatusOK, "sample-page", p)
}

// moved tells whether another viewer began what is shown: then the database was opened
// anew since.
func (p *groupPage) moved(s, of *server) {
	if s != of {
		p.Moved = "The database was opened anew while this went on: its file was removed or replaced. What was sent before that is in the old file, if that is still there. This page shows what is known of it here, and only as long as this program runs."
	}
}

// unreadable notes that the database cannot be read, where something can be shown of
// what is under way all the same.
func (p *groupPage) unreadable(err error, shown bool) bool {
	if shown && p.Moved == "" {
		p.Moved = "The database cannot be read at the moment: " + err.Error() + ". Its file may have been removed or replaced."
	}
	return shown
}

func (p *groupPage) readOrigin(ctx context.Context, r transcript.Reader, origin string) error {
	e, err := r.Exchange(ctx, origin)
	if errors.Is(err, transcript.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	p.Origin = e
	if run, err := r.Run(ctx, e.Link.Run); err == nil {
		p.Run = view.RunRef(run.N)
	}
	return nil
}

// readTakes lists the takes of the group by their arms. Of one that only these tell
// of it gives what was replayed.
func (p *groupPage) readTakes(ctx context.Context, r transcript.Reader, origin string) (string, error) {
	all, err := r.Takes(ctx, origin)
	if err != nil {
		return origin, err
	}
	arm := map[string]int{}
	for i := range all {
		t := &all[i]
		if t.Group != p.Group {
			continue
		}
		if origin == "" {
			origin = t.Origin
		}
		p.all = append(p.all, *t)
		n, ok := arm[t.Arm]
		if !ok {
			n = len(p.Takes)
			arm[t.Arm] = n
			p.Takes = append(p.Takes, sampledArm{Name: t.Arm})
		}
		p.Takes[n].Refs = append(p.Takes[n].Refs, fmt.Sprintf("t%d", t.N))
	}
	q := url.Values{}
	for _, a := range p.Takes {
		q["ref"] = append(q["ref"], a.Refs...)
	}
	p.Export = "/export?" + q.Encode()
	if len(p.Takes) > 1 {
		var firsts []string
		for _, a := range p.Takes {
			firsts = append(firsts, a.Refs[0])
		}
		if len(firsts) == 2 { // the control comes last
			slices.Reverse(firsts)
		}
		p.Compare = compareURL(firsts...)
	}
	return origin, nil
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
			p.Rows[n].Cells[i].Count += o.Count // long labels that were cut may be alike
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
	id, err := uuid.Parse(c.Param("group"))
	if err != nil {
		s.fail(c, http.StatusNotFound, "That is no sample.")
		return
	}
	if run := s.takes.sampleOf(id.String()); run != nil {
		run.cancel()
	}
	c.Redirect(http.StatusSeeOther, sampleURL(id.String()))
}

// apiSample gives the report of a sample, as inspect replay -n --json prints it.
func (s *server) apiSample(c *gin.Context) {
	id, err := uuid.Parse(c.Param("group"))
	if err != nil {
		s.fail(c, http.StatusNotFound, "That is no sample.")
		return
	}
	sample, err := replay.ReadSample(c.Request.Context(), s.reader, id.String())
	if err != nil {
		s.failed(c, err)
		return
	}
	if sample == nil {
		s.fail(c, http.StatusNotFound, "There is no report of that sample here.")
		return
	}
	s.json(c, http.StatusOK, sample)
}
