package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	actsShown    = 200 // differing acts of a diff on one page
	mostCompared = 50
	sameListed   = 200 // lines of a stretch that is the same
)

// comparePage asks for what to compare, or shows two or more side by side.
type comparePage struct {
	layout
	Asked     string
	Exact     bool
	Reasoning bool
	Wrong     string
	D         *diffView
	Many      *view.Comparison
	Export    string
}

// diffView is a diff as a page shows it.
type diffView struct {
	*view.Diff
	Facts []compared
	Parts []diffPart
	More  string // where the remaining acts are
	Left  int
}

// compared is one figure of both sides.
type compared struct {
	Name, Was, Now string
	Differs        bool
}

// diffPart is one act that differs, or a stretch of acts that are the same.
type diffPart struct {
	Same  []view.DiffAct
	Left  int // of the same that are not listed
	From  string
	To    string
	First bool // the first that is not the same
	Act   *actView
}

// actView is an act that differs: what either side did.
type actView struct {
	Fate   analysis.Fate
	Moved  bool
	Label  string
	A, B   *actSide
	Spans  []analysis.Span // of a text that changed
	Values []valueDiff
	Result []analysis.Span // of a result that changed
	Notes  []string
}

type actSide struct {
	Step, Href string
	Text       value
	Result     *value
	Error      bool
}

type valueDiff struct {
	At    string
	Spans []analysis.Span
}

func (s *server) compare(c *gin.Context) {
	refs := comparedRefs(c)
	p := &comparePage{layout: layout{Title: "Compare"}, Asked: strings.Join(refs, " "), Exact: c.Query("exact") != "", Reasoning: c.Query("reasoning") != ""}
	if len(refs) > 0 {
		p.Title = p.Asked + " · Compare"
	}
	if len(refs) < 2 {
		s.show(c, http.StatusOK, "compare-page", p)
		return
	}
	p.Export = "/export?" + url.Values{"ref": refs}.Encode()
	err := s.fillCompare(c, p, refs)
	var wrong *missingError
	switch {
	case errors.As(err, &wrong):
		p.Wrong = wrong.message
		s.show(c, wrong.status, "compare-page", p)
	case err != nil:
		s.failed(c, err)
	default:
		s.show(c, http.StatusOK, "compare-page", p)
	}
}

func (s *server) fillCompare(c *gin.Context, p *comparePage, refs []string) error {
	if len(refs) > 2 {
		var err error
		p.Many, err = s.comparison(c, refs)
		return err
	}
	d, err := s.diff(c, refs)
	if err != nil {
		return err
	}
	from, _ := strconv.Atoi(c.Query("from"))
	p.D = newDiffView(d, max(from, 0))
	if p.D.Left > 0 {
		q := c.Request.URL.Query()
		q.Set("from", strconv.Itoa(max(from, 0)+actsShown))
		p.D.More = "/compare?" + q.Encode()
	}
	return nil
}

// comparedRefs reads ?ref=r1&ref=r2, and the text of the form: ?refs=r1 r2.
func comparedRefs(c *gin.Context) []string {
	return append(c.QueryArray("ref"), strings.FieldsFunc(c.Query("refs"), func(r rune) bool { return r == ' ' || r == ',' })...)
}

func (s *server) diffOptions(c *gin.Context) view.DiffOptions {
	return view.DiffOptions{Exact: c.Query("exact") != "", Reasoning: c.Query("reasoning") != "", Prices: s.prices}
}

func (s *server) locate(c *gin.Context, refs []string) ([]*view.Target, error) {
	if len(refs) > mostCompared {
		return nil, &missingError{http.StatusBadRequest, "At most " + strconv.Itoa(mostCompared) + " can be compared at once."}
	}
	var targets []*view.Target
	for _, ref := range refs {
		t, err := view.Locate(c.Request.Context(), s.reader, ref)
		switch {
		case errors.Is(err, transcript.ErrNotFound), errors.Is(err, view.ErrBadRef), errors.Is(err, view.ErrAmbiguous):
			return nil, &missingError{http.StatusNotFound, "There is no " + oneLine(ref, 60) + " here. A reference looks like r12, r12.3, x34 or t5."}
		case err != nil:
			return nil, err
		}
		targets = append(targets, t)
	}
	return targets, nil
}

func (s *server) diff(c *gin.Context, refs []string) (*view.Diff, error) {
	t, err := s.locate(c, refs)
	if err != nil {
		return nil, err
	}
	return view.NewDiff(c.Request.Context(), s.reader, t[0], t[1], s.diffOptions(c), s.now())
}

func (s *server) comparison(c *gin.Context, refs []string) (*view.Comparison, error) {
	t, err := s.locate(c, refs)
	if err != nil {
		return nil, err
	}
	return view.NewComparison(c.Request.Context(), s.reader, t, s.diffOptions(c), s.now())
}

// apiDiff compares two references: ?ref=r1&ref=r2 ?exact=1 ?reasoning=1.
func (s *server) apiDiff(c *gin.Context) {
	refs := comparedRefs(c)
	if len(refs) != 2 {
		s.fail(c, http.StatusBadRequest, "Two references are needed: ?ref=r1&ref=r2.")
		return
	}
	d, err := s.diff(c, refs)
	if err != nil {
		s.failed(c, err)
		return
	}
	s.json(c, http.StatusOK, d)
}

// apiCompare compares two or more references: ?ref=r1&ref=r2&ref=r3.
func (s *server) apiCompare(c *gin.Context) {
	refs := comparedRefs(c)
	if len(refs) < 2 {
		s.fail(c, http.StatusBadRequest, "Two references or more are needed: ?ref=r1&ref=r2.")
		return
	}
	m, err := s.comparison(c, refs)
	if err != nil {
		s.failed(c, err)
		return
	}
	s.json(c, http.StatusOK, m)
}

func compareURL(refs ...string) string { return "/compare?" + url.Values{"ref": refs}.Encode() }
