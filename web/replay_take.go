package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// takePage shows the progress and the outcome of a replay.
type takePage struct {
	layout
	T       *transcript.Take
	Ref     string
	Origin  *transcript.Exchange
	Run     string // reference of its run, "" if that is gone
	Form    string
	Edits   []plannedEdit
	Steps   []takeStep
	Results map[string]int // by source
	Ended   bool
	Ours    bool // this viewer runs it
	Why     string
	Refresh string
	Compare string
	D       *diffView // against the original, when it has ended
	Parent  string    // the take that it continues, "" for none
	Later   []string  // takes that continue it
	Resume  *resumeView
	Sample  string // address of its sample, "" for a single take
}

// takeStep is a step of a take: its answer in short.
type takeStep struct {
	Number  int
	Attempt int
	Row     *view.Row
	Text    value
	Calls   []takeCall
}

// takeCall is a call of a take's answer, with the source of its result.
type takeCall struct {
	Name, CallID string
	Arguments    string
	Source       transcript.Source
}

// stopWords say in a sentence why a take sent no further request.
var stopWords = map[transcript.StopReason]string{
	transcript.StopOnce: "It was to send one request.", transcript.StopAnswered: "The model called no tool any more.",
	transcript.StopOpenCalls: "No source has a result for a call.",
	transcript.StopOpenAsk:   "The model asks for something that is no tool result.", transcript.StopIncomplete: "The answer was cut short.",
	transcript.StopFailed: "A request failed or was refused.", transcript.StopSource: "A source of results broke down.",
	transcript.StopSteps: "It reached its number of steps.", transcript.StopTokens: "It reached its number of tokens.", transcript.StopCost: "It reached its cost.",
	transcript.StopTimeout: "It took too long.", transcript.StopInterrupt: "It was stopped.",
}

func (s *server) take(c *gin.Context) {
	t, err := s.findTake(c)
	if err != nil {
		s.failed(c, err)
		return
	}
	s.showTake(c, http.StatusOK, t, nil)
}

// showTake shows a take. wrong is the rejected form for continuing it, nil for
// none.
func (s *server) showTake(c *gin.Context, status int, t *transcript.Take, wrong *resumeView) {
	ctx := c.Request.Context()
	var err error
	p := &takePage{layout: layout{Title: view.TakeRef(t.N)}, T: t, Ref: view.TakeRef(t.N), Form: s.writable(c), Results: map[string]int{}}
	p.Ended, p.Why, p.Ours = t.StopReason != transcript.StopNone, stopWords[t.StopReason], s.takes.plays(s, t.N)
	if t.Group != "" {
		p.Sample = groupURL(t)
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
	// Requests may be stored a little later than the take ends.
	if !p.Ended && p.Ours || len(p.Steps) < len(t.Steps) {
		p.Live, p.Refresh = true, refreshURL(c, seen)
	} else if err := s.afterTake(c, p); err != nil {
		s.failed(c, err)
		return
	}
	if wrong != nil {
		p.Resume = wrong
	}
	s.show(c, status, "take-page", p)
}

// groupURL returns the address of the group of a take.
func groupURL(t *transcript.Take) string {
	if t.Arm == transcript.CandidateArm || t.Arm == transcript.SmallestArm {
		return smallestURL(t.Group)
	}
	return sampleURL(t.Group)
}

// original returns what a take is compared with: the recorded steps from where it
// branched off, as far as the take was to go.
func (s *server) original(ctx context.Context, p *takePage) []*transcript.Exchange {
	if p.T.Mode != transcript.Once {
		if recorded, err := replay.ReadRecorded(ctx, s.reader, p.Origin); err == nil {
			return recorded.Line()
		}
	}
	return []*transcript.Exchange{p.Origin}
}

// afterTake adds what a page shows of an ended take.
func (s *server) afterTake(c *gin.Context, p *takePage) error {
	ctx := c.Request.Context()
	takes, err := s.reader.Takes(ctx, p.T.Origin)
	if err != nil && !errors.Is(err, transcript.ErrDamaged) {
		return err
	}
	for i := range takes {
		switch t := &takes[i]; {
		case t.ID == p.T.Parent:
			p.Parent = view.TakeRef(t.N)
		case t.Parent == p.T.ID:
			p.Later = append(p.Later, view.TakeRef(t.N))
		}
	}
	if p.Origin != nil && len(p.Steps) > 0 {
		recorded := s.original(ctx, p)
		p.Compare = compareURL(view.Ref(recorded[len(recorded)-1].N), p.Ref)
		d, err := view.NewTakeDiff(ctx, s.reader, recorded, p.T, view.DiffOptions{Prices: s.prices})
		if err != nil {
			s.log.Error("compare take", "take", p.Ref, "error", err)
		} else {
			if p.D = newDiffView(d, 0); p.D.Left > 0 {
				p.D.More = p.Compare
			}
		}
	}
	if p.Ended && s.canReplay() && !p.Ours {
		p.Resume, _, err = s.newResume(ctx, p.T)
	}
	return err
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
			continue // not stored yet
		}
		if err != nil {
			return err
		}
		turn, err := history.Decode(c.Request.Context(), s.reader, e)
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
	s.takes.stop(s, t.N)
	c.Redirect(http.StatusSeeOther, takeURL(t.N))
}
