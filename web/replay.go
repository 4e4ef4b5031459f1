package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const maxEdits = 32 << 20 // of the form, which contains all results on the page

// Replaying plays takes for the viewer.
type Replaying struct {
	Player func() *replay.Player
	// Key returns the value of an environment variable, "" if it is not set.
	Key func(variable string) string
	// Tools are the tools that can really run. Whoever starts the program names them;
	// a page can only choose among them.
	Tools []replay.SourceSpec
	// Checks are the checks that can judge answers, named in the same way.
	Checks []Check
}

// replayPage lets a reader change a step, shows what would be sent, and sends it.
type replayPage struct {
	exchangeHead
	Ref       string
	N         int64
	Form      string
	Model     string // as it is to be sent
	System    string
	SystemOf  string // why the system prompt cannot be changed here, "" if it can
	Params    string // NAME=JSON, one a line
	Results   []resultField
	Earlier   int // results of the request that are not on the page
	Later     []laterResult
	LaterOpen bool
	LaterAt   string // where these are listed, if not here
	LaterLeft int    // that are not listed
	Mode      string
	Takes     int    // of each arm, of a sample
	Models    string // that a sample compares: MODEL or MODEL@PROVIDER, one a line
	To        string // the dialect that its requests are sent in, "" for the recorded one
	Looking   looking
	How       howPlayed
	Wrong     string
	Plan      *replayPlan

	rest    *replay.RecordedResults
	calls   map[string]*transcript.Item // of the request
	earlier []transcript.Item           // results of the request that are not on the page
	taped   []replay.RecordedResult     // results that come later
	marks   bool                        // the API has a mark for tools that failed
}

// What the form calls how far a replay goes.
const (
	modeOnce     = "once"
	modeContinue = "continue"
	modeSample   = "sample"
)

// onlyShows says why nothing can be sent from here.
const onlyShows = "This viewer only shows. inspect web, on a database that can be written, sends steps again; so does inspect replay."

// canReplay reports whether steps can be sent again from here.
func (s *server) canReplay() bool { return s.replaying != nil && s.update != nil }

// replayForm shows what can be changed of a step.
func (s *server) replayForm(c *gin.Context) {
	e, err := s.find(c.Request.Context(), c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	p, err := s.newReplayPage(c, e)
	if err == nil && p.Form != "" {
		if p.LaterOpen = c.Query("later") != ""; p.LaterOpen || !s.isLong(c.Request.Context(), e) {
			err = p.readRecorded(c.Request.Context(), s.reader, e)
		} else {
			p.LaterAt = "/x/" + strconv.FormatInt(e.N, 10) + "/replay?later=1#later"
		}
	}
	if err != nil {
		s.failed(c, err)
		return
	}
	s.show(c, http.StatusOK, "replay-page", p)
}

func (s *server) newReplayPage(c *gin.Context, e *transcript.Exchange) (*replayPage, error) {
	head, err := s.headOf(c.Request.Context(), e, "replay")
	if err != nil {
		return nil, err
	}
	head.Title = "Replay " + view.Ref(e.N)
	p := &replayPage{exchangeHead: head, Ref: view.Ref(e.N), N: e.N, Mode: modeContinue, Takes: usualTakes}
	if !s.canReplay() {
		p.Wrong = onlyShows
		return p, nil
	}
	p.Form, p.How, p.Looking = s.writable(c), s.newHowPlayed(), s.newLooking()
	turn, err := history.Decode(c.Request.Context(), s.reader, e)
	if err != nil {
		return nil, err
	}
	p.Model = turn.Model
	p.readSystem(turn)
	p.readResults(turn)
	return p, nil
}

// longRun is about how many exchanges make a run long. The later results of a long
// run are read only on request.
const longRun = 400

// isLong reports whether reading the rest of a run takes a while.
func (s *server) isLong(ctx context.Context, e *transcript.Exchange) bool {
	rows, err := s.reader.Runs(ctx, transcript.RunFilter{IDs: []string{e.Link.Run}, Limit: 1})
	return err == nil && len(rows) == 1 && rows[0].Exchanges-e.Link.Step > longRun
}

// readSystem finds the system prompt, if it is one text.
func (p *replayPage) readSystem(turn *transcript.Turn) {
	n := 0
	for i := range turn.Input {
		if it := &turn.Input[i]; it.Kind == transcript.System {
			n++
			p.System = it.Text
		}
	}
	switch {
	case n > 1:
		p.System, p.SystemOf = "", "It is in several parts: inspect replay --set changes each."
	case len(p.System) > longestEdit:
		p.System, p.SystemOf = "", "Too long to be changed here: inspect replay --set-system takes a file."
	}
}

// replayPost shows what would be sent. It sends only what was shown.
func (s *server) replayPost(c *gin.Context) {
	ctx := c.Request.Context()
	e, err := s.find(ctx, c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	p, err := s.newReplayPage(c, e)
	if err != nil {
		s.failed(c, err)
		return
	}
	if p.Wrong != "" {
		s.show(c, http.StatusForbidden, "replay-page", p)
		return
	}
	if err := p.readRecorded(ctx, s.reader, e); err != nil {
		s.failed(c, err)
		return
	}
	edits := p.read(c)
	p.list()
	p.LaterOpen = slices.ContainsFunc(edits, func(e typedEdit) bool { return e.Later != "" })
	var ready *replay.Ready
	if p.Wrong == "" {
		ready, err = s.prepare(ctx, p, e, edits)
		if err == nil {
			p.Plan, err = s.plan(p, ready, edits)
		}
		if err != nil {
			p.Wrong = sentence(err)
		}
	}
	if p.Wrong != "" {
		s.show(c, http.StatusUnprocessableEntity, "replay-page", p)
		return
	}
	p.Plan.Chosen = chosen(c.Request.PostForm)
	if !p.confirmed(c) {
		s.show(c, http.StatusOK, "replay-page", p)
		return
	}
	to, err := s.send(ctx, p, ready)
	if err != nil {
		p.Wrong = sentence(err)
		s.show(c, http.StatusBadGateway, "replay-page", p)
		return
	}
	c.Redirect(http.StatusSeeOther, to)
}

// confirmed reports whether the reader has seen this plan and wants it sent.
func (p *replayPage) confirmed(c *gin.Context) bool {
	if c.PostForm("send") == "" {
		return false
	}
	if c.PostForm("planned") != p.Plan.Chosen {
		p.Plan.Changed = true
		return false
	}
	return p.Plan.NoKey == "" && (len(p.Plan.Found) == 0 || c.PostForm("force") != "")
}

// send starts the prepared replay and returns the address of its page.
func (s *server) send(ctx context.Context, p *replayPage, ready *replay.Ready) (string, error) {
	if err := ready.SetKeys(s.replaying.Key, ""); err != nil {
		return "", err
	}
	if p.Mode == modeSample {
		id, err := s.takes.sample(ctx, s, ready)
		return sampleURL(id), err
	}
	return s.begin(ctx, ready)
}

// begin starts one take and returns the address of its page.
func (s *server) begin(ctx context.Context, ready *replay.Ready) (string, error) {
	o, done, err := ready.Options(context.WithoutCancel(ctx))
	if err != nil {
		return "", err
	}
	n, err := s.takes.start(ctx, s, ready.Request, o, done)
	return takeURL(n), err
}

func takeURL(n int64) string { return "/t/" + strconv.FormatInt(n, 10) }
