package web

import (
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/view"
)

const foundShown = 100 // findings of one code

// findingsPage lists what is found in a run, by its kind.
type findingsPage struct {
	runHead
	Kinds []foundKind
}

func (s *server) findings(c *gin.Context) {
	ctx := c.Request.Context()
	run, err := s.findRun(ctx, c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	v, err := s.readRun(ctx, run)
	if err != nil {
		s.failed(c, err)
		return
	}
	p := &findingsPage{runHead: runHead{layout{Title: v.Ref() + " findings"}, v, "findings"}, Kinds: foundKinds(v, nil)}
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

// findingURL leads to what a finding is about.
func findingURL(r *view.Run, f *lint.Finding) string {
	if f.At == "" {
		return "/" + r.RefOf(f.Exchange)
	}
	return "/x/" + url.PathEscape(f.Exchange) + "?" + url.Values{"side": {f.Body}, "at": {f.At}}.Encode()
}
