package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// takePage shows how a replay goes, and what came of it.
type takePage struct {
	layout
	T       *transcript.Take
	Ref     string
	Origin  *transcript.Exchange
	Run     string // reference of the run in which it hangs, "" if that is gone
	Form    string
	Edits   []plannedEdit
	Steps   []takeStep
	Results map[string]int // by source
	Ended   bool
	Ours    bool // this viewer plays it
	Why     string
	Refresh string
	Compare string
	Sample  string // where the sample is that it belongs to, "" if it stands alone
}

// takeStep is a step of a take: its answer in short.
type takeStep struct {
	Number  int
	Attempt int
	Row     *view.Row
	Text    value
	Calls   []takeCall
}

// takeCall is a call of a take's answer, with where its result came from.
type takeCall struct {
	Name, CallID string
	Arguments    string
	Source       transcript.Source
}

// stopWords say in a sentence why a take sent no further request.
var stopWords = map[transcript.StopReason]string{
	transcript.StopOnce: "It was to send one request.", transcript.StopAnswered: "The model called no tool any more.",
	transcript.StopOpenCalls: "No recorded result fits a call. inspect replay --resume goes on with one of yours.",
	transcript.StopOpenAsk:   "The model asks for something that is no tool result.", transcript.StopIncomplete: "The answer was cut short.",
	transcript.StopFailed: "A request failed or was refused.", transcript.StopSource: "A source of results broke down.",
	transcript.StopSteps: "It reached its number of steps.", transcript.StopTokens: "It reached its number of tokens.", transcript.StopCost: "It reached its cost.",
	transcript.StopTimeout: "It took too long.", transcript.StopInterrupt: "It was stopped.",
}

func (s *server) take(c *gin.Context) {
	ctx := c.Request.Context()
	t, err := s.findTake(c)
	if err != nil {
		s.failed(c, err)
		return
	}
	p := &takePage{layout: layout{Title: "t" + strconv.FormatInt(t.N, 10)}, T: t, Ref: "t" + strconv.FormatInt(t.N, 10), Form: s.writable(c), Results: map[string]int{}}
	p.Ended, p.Why, p.Ours = t.StopReason != transcript.StopNone, stopWords[t.StopReason], s.takes.plays(t.N)
	if t.Group != "" {
		p.Sample = sampleURL(t.Group)
	}
	if p.Origin, err = s.reader.Exchange(ctx, t.Origin); err != nil && !errors.Is(err, transcript.ErrNotFound) {
		s.failed(c, err)
		return
	}
	if p.Origin != nil {
		if run, err := s.reader.Run(ctx, p.Origin.Link.Run); err == nil {
			p.Run = view.RunRef(run.N)
		}
		p.Compare = compareURL(view.Ref(p.Origin.N), p.Ref)
	}
	if err := p.fill(c, s); err != nil {
		s.failed(c, err)
		return
	}
	seen := fmt.Sprint(len(p.Steps), ".", len(t.Results), ".", t.StopReason)
	if c.Query("seen") == seen {
		c.Status(http.StatusNoContent)
		return
	}
	// What was sent may be taken in a little later than the take has ended.
	if !p.Ended && p.Ours || len(p.Steps) < len(t.Steps) {
		p.Live, p.Refresh = true, refreshURL(c, seen)
	}
	s.show(c, http.StatusOK, "take-page", p)
}

func (s *server) findTake(c *gin.Context) (*transcript.Take, error) {
	n, err := strconv.ParseInt(c.Param("ref"), 10, 64)
	if err != nil || n < 1 {
		return nil, &missingError{http.StatusNotFound, "That is no reference to a replay. One looks like t4."}
	}
	t, err := s.reader.TakeN(c.Request.Context(), n)
	return t, missing(err, "There is no replay t"+strconv.FormatInt(n, 10)+" here.")
}

func (p *takePage) fill(c *gin.Context, s *server) error {
	b := newBudget()
	var edits []transcript.Edit
	if json.Unmarshal([]byte(p.T.Edits), &edits) == nil {
		p.Edits = plannedEdits(b, edits)
	}
	source := map[string]transcript.Source{}
	for _, r := range p.T.Results {
		source[r.CallID] = r.Source
		p.Results[string(r.Source)]++
	}
	for _, st := range p.T.Steps {
		e, err := s.reader.Exchange(c.Request.Context(), st.Exchange)
		if errors.Is(err, transcript.ErrNotFound) || errors.Is(err, transcript.ErrDamaged) {
			continue // it is not taken in yet
		}
		if err != nil {
			return err
		}
		turn, err := view.Decode(c.Request.Context(), s.reader, e)
		if err != nil {
			return err
		}
		row := view.NewRow(e)
		row.Price(s.prices)
		v := takeStep{Number: st.Step, Attempt: st.Attempt, Row: &row, Text: b.value(turn.Text, "", open)}
		for i := range turn.Output {
			if it := &turn.Output[i]; it.Kind == transcript.ToolCall {
				v.Calls = append(v.Calls, takeCall{it.Name, it.CallID, it.ArgumentsRaw, source[it.CallID]})
			}
		}
		p.Steps = append(p.Steps, v)
	}
	return nil
}

func (s *server) stopTake(c *gin.Context) {
	t, err := s.findTake(c)
	if err != nil {
		s.failed(c, err)
		return
	}
	s.takes.stop(t.N)
	c.Redirect(http.StatusSeeOther, takeURL(t.N))
}
