package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	editable     = 30        // results that can be changed on the page, the last ones
	longestEdit  = 256 << 10 // bytes of one of them
	maxEdits     = 8 << 20   // of the form
	defaultSteps = 20
	mostSteps    = 500
)

// Replaying plays takes for the viewer.
type Replaying struct {
	Player func() *replay.Player
	// Key gives the value of an environment variable, "" if it is not set.
	Key func(variable string) string
}

// replayPage lets a reader change tool results of a step, shows what would be
// sent, and sends it.
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
	Once     bool
	MaxSteps int
	Wrong    string
	Plan     *replayPlan
}

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

// replayPlan is what would be sent.
type replayPlan struct {
	Host, Variable string
	Key            bool // one is needed and there
	NoKey          string
	Bytes          int
	Edits          []plannedEdit
	Found          []lint.Finding // errors that the edit brings
	Estimate       replay.Estimate
	CostUSD        string // of the estimate, "" if it is not known
	Dropped        []string
}

// plannedEdit is one change, as it would be sent.
type plannedEdit struct {
	Op, CallID, At string
	Spans          []transcript.Span
}

// plannedEdits shows edits.
func plannedEdits(b *budget, edits []transcript.Edit) []plannedEdit {
	var list []plannedEdit
	for _, e := range edits {
		now := e.Text
		switch {
		case len(e.Value) > 0:
			now = string(e.Value)
		case e.Op == transcript.SetModel: // was is JSON
			now = strconv.Quote(e.Text)
		}
		list = append(list, plannedEdit{strings.ReplaceAll(e.Op, "_", " "), e.CallID, cmp.Or(e.At, e.Text), clip(b, transcript.DiffWords(e.Was, now))})
	}
	return list
}

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
	p := &replayPage{layout: layout{Title: "Replay " + view.Ref(e.N)}, Ref: view.Ref(e.N), N: e.N, MaxSteps: defaultSteps}
	if !s.canReplay() {
		p.Wrong = "This viewer only shows. inspect web, on a database that can be written, sends steps again; so does inspect replay."
		return p, nil, nil
	}
	p.Form = s.writable(c)
	turn, err := view.Decode(c.Request.Context(), s.reader, e)
	if err != nil {
		return nil, nil, err
	}
	p.Model = turn.Model
	p.readSystem(turn)
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
		f := resultField{CallID: it.CallID, Name: it.Name, Text: it.Text, TooLong: len(it.Text) > longestEdit, Anchor: fmt.Sprintf("r%d", i)}
		if call := calls[it.CallID]; call != nil {
			f.Name, f.Arguments, f.HasCall = call.Name, call.ArgumentsRaw, call.ArgumentsRaw != "" && len(call.ArgumentsRaw) <= longestEdit
		}
		p.Results = append(p.Results, f)
	}
	return p, results, nil
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

// replayPost shows what would be sent, or sends it.
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
	if p.Wrong == "" {
		s.plan(ctx, p, e, edits)
	}
	if p.Wrong != "" || c.PostForm("send") == "" || p.Plan.NoKey != "" || len(p.Plan.Found) > 0 && c.PostForm("force") == "" {
		status := http.StatusOK
		if p.Wrong != "" {
			status = http.StatusUnprocessableEntity
		}
		s.show(c, status, "replay-page", p)
		return
	}
	n, err := s.play(ctx, e, edits, p)
	if err != nil {
		p.Wrong = sentence(err)
		s.show(c, http.StatusBadGateway, "replay-page", p)
		return
	}
	c.Redirect(http.StatusSeeOther, takeURL(n))
}

func takeURL(n int64) string { return "/t/" + strconv.FormatInt(n, 10) }

// read takes the form's answers over into the page, and gives the edits.
func (p *replayPage) read(c *gin.Context, results []transcript.Item) []transcript.Edit {
	p.Once = c.PostForm("mode") == "once"
	if n, err := strconv.Atoi(c.PostForm("max_steps")); err == nil && n > 0 {
		p.MaxSteps = min(n, mostSteps)
	}
	var edits []transcript.Edit
	for i := range p.Results {
		f := &p.Results[i]
		number := strconv.Itoa(i)
		if c.PostForm("id."+number) != f.CallID {
			continue
		}
		if args, ok := c.GetPostForm("args." + number); ok && f.HasCall {
			if args, changed := typed(f.Arguments, args); changed {
				if !json.Valid([]byte(args)) {
					p.Wrong = "The arguments of " + oneLine(f.Name, 60) + " are no JSON."
				}
				f.Arguments = args
				edits = append(edits, transcript.Edit{Op: transcript.SetArgs, CallID: f.CallID, Value: json.RawMessage(args)})
			}
		}
		text, ok := c.GetPostForm("result." + number)
		if !ok || f.TooLong {
			continue
		}
		if text, f.Changed = typed(results[i].Text, text); f.Changed {
			f.Text = text
			edits = append(edits, transcript.Edit{Op: transcript.SetResult, CallID: f.CallID, At: atOf(&results[i]), Text: text})
		}
	}
	return edits
}

// atOf is where a result without a call id stands: nothing else says which is
// meant.
func atOf(it *transcript.Item) string {
	if it.CallID == "" {
		return it.At
	}
	return ""
}

// readSettings reads model, system prompt and parameters.
func (p *replayPage) readSettings(c *gin.Context) []transcript.Edit {
	var edits []transcript.Edit
	if model := strings.TrimSpace(c.DefaultPostForm("model", p.Model)); model != "" && model != p.Model {
		p.Model = model
		edits = append(edits, transcript.Edit{Op: transcript.SetModel, Text: model})
	}
	if system, changed := typed(p.System, c.DefaultPostForm("system", p.System)); changed && p.SystemOf == "" {
		p.System = system
		edits = append(edits, transcript.Edit{Op: transcript.SetSystem, Text: system})
	}
	p.Params = c.PostForm("params")
	for line := range strings.Lines(p.Params) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		if line == "" {
			continue
		}
		value = strings.TrimSpace(value)
		if !ok || !json.Valid([]byte(value)) {
			p.Wrong = "A parameter is NAME=JSON, such as temperature=0 or stop=[\"END\"], one a line."
			return nil
		}
		edits = append(edits, transcript.Edit{Op: transcript.SetParam, Text: strings.TrimSpace(name), Value: json.RawMessage(value)})
	}
	return edits
}

// typed gives what somebody made of a text in a form, and whether it is another
// one. Forms send every line end as CR LF.
func typed(was, now string) (string, bool) {
	now = strings.ReplaceAll(now, "\r\n", "\n")
	plainWas := strings.ReplaceAll(was, "\r\n", "\n")
	if now == plainWas {
		return was, false
	}
	if plainWas != was && !strings.Contains(strings.ReplaceAll(was, "\r\n", ""), "\n") {
		now = strings.ReplaceAll(now, "\n", "\r\n")
	}
	return now, true
}

// plan says what would be sent.
func (s *server) plan(ctx context.Context, p *replayPage, e *transcript.Exchange, edits []transcript.Edit) {
	req, err := replay.Prepare(ctx, s.reader, e, edits)
	if err != nil {
		p.Wrong = sentence(err)
		return
	}
	plan := &replayPlan{Host: req.Host(), Bytes: len(req.Body), Dropped: req.Dropped, Found: req.NewErrors()}
	plan.Edits = plannedEdits(newBudget(), req.Edits)
	if err := s.estimate(ctx, p, plan, e, req); err != nil {
		p.Wrong = sentence(err)
		return
	}
	_, plan.Variable, plan.NoKey = s.keyOf(req)
	plan.Key = plan.NoKey == "" && plan.Variable != ""
	p.Plan = plan
}

// estimate tells what the replay is likely to use.
func (s *server) estimate(ctx context.Context, p *replayPage, plan *replayPlan, e *transcript.Exchange, req *replay.Request) error {
	tape, err := replay.ReadTape(ctx, s.reader, e)
	if err != nil {
		return err
	}
	mode := transcript.Continue
	if p.Once {
		mode = transcript.Once
	}
	if plan.Estimate = tape.Estimate(req, mode, p.MaxSteps, s.prices); plan.Estimate.USD != nil {
		text := pricing.Dollars(plan.Estimate.USD)
		plan.CostUSD = dollars(&text, false)
	}
	return nil
}

// keyOf finds the key that a request needs, or says why there is none.
func (s *server) keyOf(req *replay.Request) (key, variable, missing string) {
	variable, key, err := req.Key(s.replaying.Key, "")
	switch {
	case errors.Is(err, replay.ErrNoVariable):
		missing = "The request goes to " + req.Host() + ", for which no key is known or which is not encrypted: inspect replay --key-env names one."
	case err != nil:
		missing = "No key: start this program with " + variable + " set."
	}
	return key, variable, missing
}

// play begins a take and gives its number. It goes on behind the request.
func (s *server) play(ctx context.Context, e *transcript.Exchange, edits []transcript.Edit, p *replayPage) (int64, error) {
	req, err := replay.Prepare(ctx, s.reader, e, edits)
	if err != nil {
		return 0, err
	}
	if key, _, _ := s.keyOf(req); key != "" {
		if err := req.SetKey(key); err != nil {
			return 0, err
		}
	}
	o := replay.Options{Mode: transcript.Once, Retries: 3, Reason: "from the viewer"}
	if !p.Once {
		tape, err := replay.ReadTape(ctx, s.reader, e)
		if err != nil {
			return 0, err
		}
		edited, recorded := tape.Player(req.Edits, nil)
		o.Mode, o.Sources, o.Limits.Steps = transcript.Continue, []replay.Source{edited, recorded}, p.MaxSteps
	}
	return s.takes.start(ctx, s, req, o)
}
