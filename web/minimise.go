package web

import (
	"context"
	"errors"
	"math/big"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/minimise"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	usualSamples = 3   // how often a candidate is asked: see inspect minimise
	mostSamples  = 50  //
	usualAsked   = 200 // requests in all
	mostAsked    = 5000
)

// minimisePage asks which behaviour has to occur again, and searches for the
// smallest part of a request that produces it.
type minimisePage struct {
	exchangeHead
	Ref         string
	N           int64
	Form        string
	Looking     looking
	Samples     string // as they were typed
	AtLeast     string // "" for more than half
	Parts       []partChoice
	MaxRequests string
	MaxCost     string
	Wrong       string
	Plan        *minimisePlan

	search minimise.Minimiser
}

// partChoice is a kind of parts that may be left out.
type partChoice struct {
	Part minimise.Part
	What string
	On   bool
}

// minimisePlan is the expected cost of the search.
type minimisePlan struct {
	Looks, Host, Variable, NoKey string
	Bytes                        int
	Most                         int // requests
	Estimate                     replay.Estimate
	CostUSD                      string
	Dropped                      []string
	Chosen                       string
	Changed                      bool
}

func (s *server) newMinimisePage(c *gin.Context, e *transcript.Exchange) (*minimisePage, error) {
	head, err := s.headOf(c.Request.Context(), e, "minimise")
	if err != nil {
		return nil, err
	}
	head.Title = "What " + view.Ref(e.N) + " needs"
	p := &minimisePage{exchangeHead: head, Ref: view.Ref(e.N), N: e.N, Samples: strconv.Itoa(usualSamples), MaxRequests: strconv.Itoa(usualAsked), Parts: []partChoice{
		{minimise.Items, "of the conversation; a call and its results are one", true},
		{minimise.Lines, "of the long texts that are left", true},
		{minimise.Tools, "that are offered", true}}}
	if !dialect.Known(e.Dialect) {
		p.Wrong = "This request is not in one of the APIs of which parts can be left out: " + dialect.Titles("and") + "."
		return p, nil
	}
	if !s.canReplay() {
		p.Wrong = onlyShows
		return p, nil
	}
	p.Form, p.Looking = s.writable(c), s.newLooking()
	return p, nil
}

func (s *server) minimiseForm(c *gin.Context) {
	e, err := s.find(c.Request.Context(), c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	p, err := s.newMinimisePage(c, e)
	if err != nil {
		s.failed(c, err)
		return
	}
	s.show(c, http.StatusOK, "minimise-page", p)
}

// minimisePost shows the plan of a search, or begins the search whose plan was
// shown.
func (s *server) minimisePost(c *gin.Context) {
	ctx := c.Request.Context()
	e, err := s.find(ctx, c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	p, err := s.newMinimisePage(c, e)
	if err != nil {
		s.failed(c, err)
		return
	}
	if p.Wrong != "" {
		s.show(c, http.StatusForbidden, "minimise-page", p)
		return
	}
	err = p.read(c)
	if err == nil {
		err = s.planMinimise(ctx, p, e)
	}
	if err != nil {
		p.Wrong = sentence(err)
		s.show(c, http.StatusUnprocessableEntity, "minimise-page", p)
		return
	}
	p.Plan.Chosen = chosen(c.Request.PostForm)
	p.Plan.Changed = c.PostForm("send") != "" && c.PostForm("planned") != p.Plan.Chosen
	if c.PostForm("send") == "" || p.Plan.Changed || p.Plan.NoKey != "" {
		s.show(c, http.StatusOK, "minimise-page", p)
		return
	}
	id, err := s.beginMinimise(ctx, p)
	if err != nil {
		p.Wrong = sentence(err)
		s.show(c, http.StatusBadGateway, "minimise-page", p)
		return
	}
	c.Redirect(http.StatusSeeOther, smallestURL(id))
}

// read copies the form's values into the page and the search.
func (p *minimisePage) read(c *gin.Context) error {
	m := &p.search
	p.Looking.read(c)
	p.Samples, p.AtLeast = strings.TrimSpace(c.PostForm("samples")), strings.TrimSpace(c.PostForm("at_least"))
	p.MaxRequests, p.MaxCost = strings.TrimSpace(c.PostForm("max_requests")), strings.TrimSpace(c.PostForm("max_cost"))
	for i := range p.Parts {
		part := &p.Parts[i]
		if part.On = c.PostForm("part."+string(part.Part)) != ""; part.On {
			m.Parts = append(m.Parts, part.Part)
		}
	}
	ok := true
	whole := func(text string, usual, most int) int {
		if text == "" {
			return usual
		}
		n, err := strconv.Atoi(text)
		ok = ok && err == nil && n > 0 && n <= most
		return n
	}
	m.Samples, m.Requests = whole(p.Samples, usualSamples, mostSamples), whole(p.MaxRequests, usualAsked, mostAsked)
	m.AtLeast = whole(p.AtLeast, 0, m.Samples)
	var err error
	m.Cost, err = dollarsTyped(p.MaxCost)
	switch {
	case err != nil:
		return err
	case !ok:
		return errors.New("how often and how many are numbers: a candidate is asked 1 to 50 times, so many of the answers at most have to show it, and up to 5,000 requests go out")
	case m.Requests < 2*m.Samples:
		return errors.New("the whole request and the smallest one are asked " + strconv.Itoa(m.Samples) + " times each: allow more requests")
	case len(m.Parts) == 0:
		return errors.New("choose what may be left out: items, lines or tools")
	}
	return nil
}

// dollarsTyped reads an amount from a form, nil if there is none.
func dollarsTyped(text string) (*big.Rat, error) {
	if text == "" {
		return nil, nil
	}
	usd, ok := new(big.Rat).SetString(text)
	if !ok || strings.Trim(text, "0123456789.") != "" || len(text) > longestAmount {
		return nil, errors.New("a cost is an amount in USD, such as 0.50")
	}
	return usd, nil
}

// planMinimise builds the whole request and the plan of the search. Its errors are
// shown to the user who filled in the form.
func (s *server) planMinimise(ctx context.Context, p *minimisePage, e *transcript.Exchange) error {
	m := &p.search
	expect, err := p.Looking.expect()
	if err != nil {
		return err
	}
	plan := &replay.Plan{Minimise: true, Origin: e, Expect: expect, Limits: replay.Limits{Cost: m.Cost}, Retries: usualRetries, Reason: fromViewer}
	ready, err := plan.Prepare(ctx, s.reader)
	if err != nil {
		return err
	}
	m.Plan(ready)
	m.Parallel = takesAtOnce
	req := ready.Request
	v := &minimisePlan{Looks: m.Predicate.Name, Host: req.Host(), Bytes: len(req.Body), Most: m.Requests, Dropped: req.Dropped}
	if v.Estimate, err = m.Estimate(s.prices); err != nil {
		return err
	}
	if usd := v.Estimate.USD; usd != nil {
		v.CostUSD = "$" + pricing.Rounded(usd)
	} else if m.Cost != nil && !req.Local() {
		return errNoPrice
	}
	if v.Variable, v.NoKey = s.keyOf(req); v.NoKey == "" {
		err = ready.SetKeys(s.replaying.Key, "")
	}
	p.Plan = v
	return err
}

func smallestURL(group string) string { return "/smallest/" + url.PathEscape(group) }
