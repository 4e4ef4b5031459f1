package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	editable     = 30        // results that can be changed on the page, the last ones
	longestEdit  = 256 << 10 // bytes of one of them
	maxEdits     = 8 << 20   // of the form
	mostTakes    = 4         // that are played at once
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
	Arguments    string
	Text         string // as it is to be sent
	TooLong      bool
	Changed      bool
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
	Usage          *transcript.Usage
	CostUSD        *string
	Dropped        []string
}

// plannedEdit is one change, as it would be sent.
type plannedEdit struct {
	CallID, At string
	Spans      []transcript.Span
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
			f.Name, f.Arguments = call.Name, call.ArgumentsRaw
		}
		p.Results = append(p.Results, f)
	}
	return p, results, nil
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
	edits := p.read(c, results)
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
		text, ok := c.GetPostForm("result." + strconv.Itoa(i))
		if !ok || f.TooLong || c.PostForm("id."+strconv.Itoa(i)) != f.CallID {
			continue
		}
		if text, f.Changed = typed(results[i].Text, text); f.Changed {
			f.Text = text
			if f.CallID == "" {
				p.Wrong = "A result without a call id cannot be changed here: nothing says which one is meant."
				return nil
			}
			edits = append(edits, transcript.Edit{Op: transcript.SetResult, CallID: f.CallID, Text: text})
		}
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
	row := view.NewRow(e)
	row.Price(s.prices)
	plan := &replayPlan{Host: hostOf(req.URL), Bytes: len(req.Body), Usage: row.Usage, CostUSD: row.CostUSD, Dropped: req.Dropped}
	b := newBudget()
	for _, edit := range req.Edits {
		plan.Edits = append(plan.Edits, plannedEdit{edit.CallID, edit.At, clip(b, transcript.DiffWords(edit.Was, edit.Text))})
	}
	plan.Found = s.newErrors(ctx, e, req)
	_, plan.Variable, plan.NoKey = s.keyOf(req)
	plan.Key = plan.NoKey == "" && plan.Variable != ""
	p.Plan = plan
}

// newErrors gives the errors of an edited request that the recorded one has not.
func (s *server) newErrors(ctx context.Context, e *transcript.Exchange, req *replay.Request) []lint.Finding {
	if len(req.Edits) == 0 {
		return nil
	}
	was, err := replay.Prepare(ctx, s.reader, e, nil)
	if err != nil {
		return nil
	}
	known := map[string]bool{}
	for _, f := range view.LintRequest(e.Dialect, was.Body) {
		known[f.Code+f.At] = true
	}
	var found []lint.Finding
	for _, f := range view.LintRequest(e.Dialect, req.Body) {
		if f.Severity == lint.Error && !known[f.Code+f.At] {
			found = append(found, f)
		}
	}
	return found
}

// keyOf finds the key that a request needs, or says why there is none.
func (s *server) keyOf(req *replay.Request) (key, variable, missing string) {
	if !req.NeedsKey() {
		return "", "", ""
	}
	variable = req.KeyVariable()
	if variable == "" || req.Exposed() {
		return "", "", "The request goes to " + hostOf(req.URL) + ", for which no key is known or which is not encrypted: inspect replay --key-env names one."
	}
	if key = s.replaying.Key(variable); key == "" {
		return "", variable, "No key: start this program with " + variable + " set."
	}
	return key, variable, ""
}

// errBusy says that too many takes are under way.
var errBusy = errors.New("four replays are under way; one more goes out when one of them has ended")

// playing are the takes that this viewer plays.
type playing struct {
	mu     sync.Mutex
	cancel map[int64]context.CancelCauseFunc
	count  int
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

func (t *playing) start(ctx context.Context, s *server, req *replay.Request, o replay.Options) (int64, error) {
	t.mu.Lock()
	if t.count >= mostTakes {
		t.mu.Unlock()
		return 0, errBusy
	}
	t.count++
	t.mu.Unlock()
	play, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	began, failed := make(chan int64, 1), make(chan error, 1)
	o.Progress = func(e replay.Event) {
		if e.Kind == replay.Began {
			t.mu.Lock()
			t.cancel[e.Take] = cancel
			t.mu.Unlock()
			began <- e.Take
		}
	}
	go func() {
		take, err := s.replaying.Player().Play(play, req, o)
		cancel(nil)
		t.mu.Lock()
		t.count--
		if take != nil {
			delete(t.cancel, take.N)
		}
		t.mu.Unlock()
		if err != nil {
			s.log.Error("replay", "error", err)
			failed <- err
		}
	}()
	select {
	case n := <-began:
		return n, nil
	case err := <-failed:
		return 0, err
	}
}

// errStopped is why a take ends that a reader stopped.
var errStopped = errors.New("stopped in the viewer")

// stop ends a take that this viewer plays; false if it plays none of that number.
func (t *playing) stop(n int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	cancel := t.cancel[n]
	if cancel != nil {
		cancel(errStopped)
	}
	return cancel != nil
}

// hostOf gives the host that a URL leads to.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	return u.Host
}
