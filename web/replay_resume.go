package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// resumeView is the form with which a stopped take continues.
type resumeView struct {
	N        int64
	Form     string
	Calls    []openCall // that wait for a result; none if the last request is sent again
	How      howPlayed
	Host     string
	NoKey    string
	Estimate replay.Estimate
	CostUSD  string
	Wrong    string
}

// openCall is a call of a take that has no result.
type openCall struct {
	Name, CallID string
	Arguments    value
	Text         string // its result, as it was typed
	IsError      bool
	Empty        bool // the result is the empty text
}

// canGoOn reports whether a take that stopped for that reason can continue.
func canGoOn(stop transcript.StopReason) bool {
	switch stop {
	case transcript.StopOnce, transcript.StopAnswered, transcript.StopOpenAsk, transcript.StopNone:
		return false
	}
	return true
}

// newResume returns the form for a take, nil if it cannot continue.
func (s *server) newResume(ctx context.Context, t *transcript.Take) (*resumeView, *replay.Ready, error) {
	if !canGoOn(t.StopReason) || t.Last() == "" {
		return nil, nil, nil
	}
	how := s.newHowPlayed()
	plan := how.plan()
	plan.Resume = t
	ready, err := plan.Prepare(ctx, s.reader)
	switch {
	case errors.Is(err, replay.ErrFinished), errors.Is(err, transcript.ErrNotFound), errors.Is(err, transcript.ErrDamaged):
		return nil, nil, nil
	case err != nil:
		return &resumeView{N: t.N, Wrong: sentence(err), NoKey: "It cannot continue."}, nil, nil
	}
	v := &resumeView{N: t.N, Form: s.guard.form, How: how, Host: ready.Request.Host()}
	b := newBudget()
	for _, c := range ready.Resumed.Calls {
		v.Calls = append(v.Calls, openCall{Name: c.Name, CallID: c.CallID, Arguments: b.data(c.ArgumentsRaw, "", open)})
	}
	v.estimate(s, ready)
	_, v.NoKey = s.keyOf(ready.Request)
	return v, ready, nil
}

func (v *resumeView) estimate(s *server, ready *replay.Ready) {
	if v.Estimate = ready.Estimate(s.prices); v.Estimate.USD != nil {
		v.CostUSD = "$" + pricing.Rounded(v.Estimate.USD)
	}
}

// read copies the form's values and returns the results that were typed.
func (v *resumeView) read(c *gin.Context) []transcript.Edit {
	var edits []transcript.Edit
	for i := range v.Calls {
		call := &v.Calls[i]
		number := strconv.Itoa(i)
		if call.CallID == "" || c.PostForm("id."+number) != call.CallID {
			continue
		}
		call.Text = strings.ReplaceAll(c.PostForm("result."+number), "\r\n", "\n")
		call.IsError, call.Empty = c.PostForm("error."+number) != "", c.PostForm("empty."+number) != ""
		switch {
		case call.Empty && call.Text != "":
			v.Wrong = "A result that is typed is not nothing: " + oneLine(call.Name, 60) + " has both."
		case call.Empty || call.Text != "":
			edits = append(edits, transcript.Edit{Op: transcript.SetResult, CallID: call.CallID, Text: call.Text, IsError: &call.IsError})
		}
	}
	if wrong := v.How.read(c); wrong != "" {
		v.Wrong = wrong
	}
	return edits
}

// resumeTake continues a take as a new take.
func (s *server) resumeTake(c *gin.Context) {
	ctx := c.Request.Context()
	t, err := s.findTake(c)
	if err != nil {
		s.failed(c, err)
		return
	}
	if !s.canReplay() {
		s.fail(c, http.StatusForbidden, "This viewer only shows.")
		return
	}
	v, ready, err := s.newResume(ctx, t)
	if err != nil {
		s.failed(c, err)
		return
	}
	if ready == nil || v.NoKey != "" {
		s.fail(c, http.StatusConflict, "This take cannot continue.")
		return
	}
	edits := v.read(c)
	if v.Wrong == "" {
		to, err := s.goOn(ctx, v, ready, edits)
		if err == nil {
			c.Redirect(http.StatusSeeOther, to)
			return
		}
		if v.Wrong = sentence(err); errors.Is(err, replay.ErrOpenCalls) {
			v.Wrong = "A call has no result yet: " + oneLine(err.Error(), 200) + ". Type it, or choose a source."
		}
	}
	s.showTake(c, http.StatusUnprocessableEntity, t, v)
}

// goOn starts the take that continues another one, as the form says.
func (s *server) goOn(ctx context.Context, v *resumeView, ready *replay.Ready, edits []transcript.Edit) (string, error) {
	how := v.How.plan()
	ready.Plan.Sources, ready.Plan.Limits = how.Sources, how.Limits
	if err := ready.SetResults(edits); err != nil {
		return "", err
	}
	if err := ready.SetKeys(s.replaying.Key, ""); err != nil {
		return "", err
	}
	return s.begin(ctx, ready)
}
