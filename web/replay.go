package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	editable    = 30        // results that can be changed on the page, the last ones
	longestEdit = 256 << 10 // bytes of one of them
	maxEdits    = 8 << 20   // of the form
)

// Replaying plays takes for the viewer.
type Replaying struct {
	Player func() *replay.Player
	// Key gives the value of an environment variable, "" if it is not set.
	Key func(variable string) string
	// Tools are what really runs, as whoever started the program named it: a page
	// can choose among them and name no other.
	Tools []Tool
	// Checks are what may judge answers, named in the same way.
	Checks []Check
}

// Tool is a source of tool results that a page may choose.
type Tool struct {
	Name string // as it was named: "exec run_tests"
	// Open makes the source for one take. What it starts ends with the function
	// that it gives.
	Open func(context.Context) (source replay.Source, done func(), err error)
}

// replayPage lets a reader change a step, shows what would be sent, and sends it.
type replayPage struct {
	layout
	Ref      string
	N        int64
	Form     string
	Model    string // as it is to be sent
	System   string
	SystemOf string // why the system prompt cannot be changed here, "" if it can
	Params   string // NAME=JSON, one a line
	Results  []resultField
	Earlier  int // results that are not on the page
	Mode     string
	Takes    int    // of each arm, of a sample
	Models   string // that a sample compares: MODEL or MODEL@PROVIDER, one a line
	To       string // the dialect that its requests are sent in, "" for the recorded one
	Looking  looking
	How      howPlayed
	Wrong    string
	Plan     *replayPlan
}

// What the form calls how far a replay goes.
const (
	modeOnce     = "once"
	modeContinue = "continue"
	modeSample   = "sample"
)

// resultField is a tool result that can be changed.
type resultField struct {
	CallID, Name string
	Arguments    string // as they are to be sent
	Text         string // as it is to be sent
	TooLong      bool
	Changed      bool
	HasCall      bool
	Anchor       string
}

// onlyShows says why nothing can be sent from here.
const onlyShows = "This viewer only shows. inspect web, on a database that can be written, sends steps again; so does inspect replay."

// canReplay tells whether steps can be sent again from here.
func (s *server) canReplay() bool { return s.replaying != nil && s.update != nil }

// replayForm shows what can be changed of a step.
func (s *server) replayForm(c *gin.Context) {
	e, err := s.find(c.Request.Context(), c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	p, _, err := s.newReplayPage(c, e)
	if err != nil {
		s.failed(c, err)
		return
	}
	s.show(c, http.StatusOK, "replay-page", p)
}

func (s *server) newReplayPage(c *gin.Context, e *transcript.Exchange) (*replayPage, []transcript.Item, error) {
	p := &replayPage{layout: layout{Title: "Replay " + view.Ref(e.N)}, Ref: view.Ref(e.N), N: e.N, Mode: modeContinue, Takes: usualTakes}
	if !s.canReplay() {
		p.Wrong = onlyShows
		return p, nil, nil
	}
	p.Form, p.How, p.Looking = s.writable(c), s.newHowPlayed(), s.newLooking()
	turn, err := view.Decode(c.Request.Context(), s.reader, e)
	if err != nil {
		return nil, nil, err
	}
	p.Model = turn.Model
	p.readSystem(turn)
	return p, p.readResults(turn), nil
}

// readResults finds the results that can be changed, the last ones.
func (p *replayPage) readResults(turn *transcript.Turn) []transcript.Item {
	calls := map[string]*transcript.Item{}
	var results []transcript.Item
	for i := range turn.Input {
		switch it := &turn.Input[i]; it.Kind {
		case transcript.ToolCall:
			calls[it.CallID] = it
		case transcript.ToolResult:
			results = append(results, *it)
		}
	}
	p.Earlier = max(len(results)-editable, 0)
	results = results[p.Earlier:]
	for i := range results {
		it := &results[i]
		f := resultField{CallID: it.CallID, Name: it.Name, Text: it.Text, TooLong: len(it.Text) > longestEdit, Anchor: resultAnchor(it.At)}
		if call := calls[it.CallID]; call != nil {
			f.Name, f.Arguments, f.HasCall = call.Name, call.ArgumentsRaw, call.ArgumentsRaw != "" && len(call.ArgumentsRaw) <= longestEdit
		}
		p.Results = append(p.Results, f)
	}
	return results
}

// resultAnchor is where the page has the result at a pointer into the request.
func resultAnchor(at string) string { return "r" + strings.ReplaceAll(at, "/", "-") }

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

// replayPost shows what would be sent, or sends it: what was shown, and nothing else.
func (s *server) replayPost(c *gin.Context) {
	ctx := c.Request.Context()
	e, err := s.find(ctx, c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	p, results, err := s.newReplayPage(c, e)
	if err != nil {
		s.failed(c, err)
		return
	}
	if p.Wrong != "" {
		s.show(c, http.StatusForbidden, "replay-page", p)
		return
	}
	edits := append(p.readSettings(c), p.read(c, results)...)
	var ready *prepared
	if p.Wrong == "" {
		ready, err = s.prepare(ctx, p, e, edits)
		if err == nil {
			p.Plan, err = s.plan(p, ready)
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

// confirmed tells whether somebody saw this plan, and wants it.
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

// send begins what was prepared, and tells where it is shown.
func (s *server) send(ctx context.Context, p *replayPage, ready *prepared) (string, error) {
	for _, req := range ready.requests() {
		if key, _, _ := s.keyOf(req); key != "" {
			if err := req.SetKey(key); err != nil {
				return "", err
			}
		}
	}
	if p.Mode == modeSample {
		id, err := s.takes.sample(ctx, s, ready)
		return sampleURL(id), err
	}
	o, done, err := ready.options()()
	if err != nil {
		return "", err
	}
	n, err := s.takes.start(ctx, s, ready.req, o, done)
	return takeURL(n), err
}

func takeURL(n int64) string { return "/t/" + strconv.FormatInt(n, 10) }
