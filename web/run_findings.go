package web

import (
	"math"
	"net/http"
	"net/url"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/view"
)

const (
	foundShown     = 100      // findings of one code
	judgedTogether = 48 << 20 // bytes of the exchanges of one page
)

// findingsPage lists a run's findings by kind.
type findingsPage struct {
	runHead
	Kinds []foundKind
	Part  view.Stretch // of a long run
}

// Prev and Next are the parts before and after, 0 if there is none.
func (p *findingsPage) Prev() int { return p.Part.N - 1 }
func (p *findingsPage) Next() int { return (p.Part.N + 1) % (p.Part.Of + 1) }

func (s *server) findings(c *gin.Context) {
	ctx := c.Request.Context()
	run, err := s.findRun(ctx, c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	v, err := s.pricedRun(ctx, run)
	if err != nil {
		s.failed(c, err)
		return
	}
	together := int64(judgedTogether)
	if c.Query("part") == "all" {
		together = math.MaxInt64
	}
	n, _ := strconv.Atoi(c.Query("part"))
	part, err := v.JudgeStretch(ctx, s.reader, view.InputCost(s.prices), n, together)
	if err != nil {
		s.failed(c, err)
		return
	}
	p := &findingsPage{runHead: runHead{layout{Title: v.Ref() + " findings"}, v, "findings"}, Part: part, Kinds: foundKinds(v, nil)}
	at := map[string]int{}
	for i := range p.Kinds {
		at[p.Kinds[i].Code] = i
	}
	for _, f := range worth(v.Lint) {
		k := &p.Kinds[at[f.Code]]
		if len(k.Each) == foundShown {
			k.More++
			continue
		}
		k.Each = append(k.Each, foundAt{v.RefOf(f.Exchange), findingURL(v, &f), f.Message})
	}
	s.show(c, http.StatusOK, "findings-page", p)
}

// findingURL returns the address of the subject of a finding.
func findingURL(r *view.Run, f *lint.Finding) string {
	if f.At == "" {
		return "/" + r.RefOf(f.Exchange)
	}
	return "/x/" + url.PathEscape(f.Exchange) + "?" + url.Values{"side": {f.Body}, "at": {f.At}}.Encode()
}
