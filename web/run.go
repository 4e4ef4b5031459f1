package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/analysis"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// How much of a run one page holds.
const (
	judgedWhole   = 600      // exchanges of a run that is judged whole on each of its pages
	judgedWeight  = 24 << 20 // and bytes
	stepsShown    = 100      // of the agent that the page is about
	insideShown   = 150      // of sub-agents and branches, all together
	sidesShown    = 20       // side calls
	deepestInside = 6        // agents within agents
)

// runPage is the transcript of a run.
type runPage struct {
	layout
	Run           *view.Run
	Tab           string
	UnderWay      []liveStep // what is being recorded
	Refresh       string     // address of the page while the run continues, "" if it has ended
	Prev, Next    string
	Outline       []outlineLine
	Map           *minimap
	About         aboutRun
	Agents        []agentView
	Before, After string // addresses of the steps before and after those on the page
	Left          int    // how many come after
	Findings      int
	Partly        bool // only the steps on the page were judged
	Side          []view.SideCall
	SideLeft      int
	Form          string // token of the form for marks, "" if there is none

	pages  paging
	about  int           // the number of the agent that the page is about, 0 for all main ones
	agents []*view.Agent // it, or them
	shown  []stretch
}

// Tags returns the run's tags as a user types them.
func (p *runPage) Tags() string { return strings.Join(p.Run.Tags, " ") }

// OwnName returns the name that the user set, "" for none.
func (p *runPage) OwnName() string {
	if p.Run.NamedBy != "user" {
		return ""
	}
	return p.Run.Name
}

// agentView is an agent with the steps that the page shows.
type agentView struct {
	ID, Heading string
	Branches    []branchView // from its very beginning
	Steps       []stepView
}

// stepView is a step as a page shows it.
type stepView struct {
	ID       string
	Number   int // 0 in a branch
	S        *view.Step
	Model    string // if the run has several
	Notes    []note
	Changes  []changeLine
	Tools    string
	Found    []lint.Finding // that belong to no block
	Blocks   []block
	Branches []branchView
}

// note is a sentence about a step, with the exchanges that it names.
type note struct {
	Class, Text string
	Refs        []string
}

// changeLine is an item of the history that a step rewrote or dropped.
type changeLine struct {
	Origin         analysis.Origin
	Kind, Was, Now string
}

// subAgent is an agent under the call that started it.
type subAgent struct {
	ID, Ref, Name, Evidence string
	Count                   int
	View                    *agentView // nil if the page has no room for it
	More                    bool       // the page does not show all its steps
	Href                    string
}

// branchView is a branch where it leaves an agent.
type branchView struct {
	ID    string
	Title string
	Take  string // reference of its take, "" for none
	Steps []stepView
	Href  string
}

func (s *server) run(c *gin.Context) {
	ctx := c.Request.Context()
	run, err := s.findRun(ctx, c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	live, err := s.liveSteps(ctx, run)
	if err != nil {
		s.failed(c, err)
		return
	}
	seen, err := s.isSeen(ctx, run, live, c.Query("seen"))
	if err != nil {
		s.failed(c, err)
		return
	}
	if seen {
		c.Status(http.StatusNoContent)
		return
	}
	v, err := s.pricedRun(ctx, run)
	if err != nil {
		s.failed(c, err)
		return
	}
	p := &runPage{UnderWay: live, layout: layout{Title: v.Ref() + " " + oneLine(v.Name, 60)}, Run: v, Tab: "transcript", Form: s.writable(c)}
	if n, err := strconv.ParseInt(c.Query("x"), 10, 64); err == nil {
		if to := stepURL(v, n, 0); to != "" {
			c.Redirect(http.StatusFound, to)
			return
		}
	}
	agent, _ := strconv.Atoi(c.Query("agent"))
	from, _ := strconv.Atoi(c.Query("from"))
	if agent > len(v.Agents) {
		s.fail(c, http.StatusNotFound, fmt.Sprintf("%s has no agent a%d.", v.Ref(), agent))
		return
	}
	p.choose(agent, from)
	if err := p.judge(ctx, s); err != nil {
		s.failed(c, err)
		return
	}
	if v.Status == view.Running || len(live) > 0 {
		p.Live, p.Refresh = true, refreshURL(c, stateOf(&v.RunRow, live))
	}
	b := &runBuilder{run: v, teller: view.NewStepReader(ctx, s.reader, v), budget: newBudget(), room: insideShown, inside: map[string]bool{}}
	if err := p.fill(b); err != nil {
		s.failed(c, err)
		return
	}
	if err := s.neighbourRuns(ctx, p); err != nil {
		s.failed(c, err)
		return
	}
	s.show(c, http.StatusOK, "run-page", p)
}

// stepURL returns the address of the page about an agent (0 for the run's own) that
// shows the step with that exchange, "" if none does.
func stepURL(r *view.Run, exchange int64, about int) string {
	for _, a := range r.Agents {
		for i, s := range a.Steps {
			if s.ExchangeN != exchange {
				continue
			}
			agent := a.N
			if main := r.Main(); about == 0 && len(main) == 1 && main[0] == a {
				agent = 0
			}
			return runURL(r.N, agent, newPaging(r, a.Steps).start(i)) + "#" + stepID(s)
		}
	}
	return ""
}

// pricedRun reads a run with what it costs.
func (s *server) pricedRun(ctx context.Context, run *transcript.Run) (*view.Run, error) {
	v, err := view.NewRun(ctx, s.reader, run, s.now())
	if err != nil {
		return nil, missing(err, "Nothing of that run is left.")
	}
	v.Price(s.prices)
	return v, nil
}

// readRun reads a run with its costs and all its findings.
func (s *server) readRun(ctx context.Context, run *transcript.Run) (*view.Run, error) {
	v, err := s.pricedRun(ctx, run)
	if err != nil {
		return nil, err
	}
	return v, v.Judge(ctx, s.reader, view.InputCost(s.prices))
}

// neighbourRuns finds the runs before and after by number.
func (s *server) neighbourRuns(ctx context.Context, p *runPage) error {
	prev, err := s.reader.Runs(ctx, transcript.RunFilter{Before: p.Run.N, Limit: 1})
	if err != nil {
		return err
	}
	if len(prev) > 0 {
		p.Prev = view.RunRef(prev[0].N)
	}
	if next, err := s.reader.RunN(ctx, p.Run.N+1); err == nil {
		p.Next = view.RunRef(next.N)
	}
	return nil
}

// stretch is the steps of one agent that the page shows.
type stretch struct {
	agent  *view.Agent
	steps  []*view.Step
	headed bool
}

// choose picks the agent with that number, 0 for all main agents, and its steps
// from the given one on.
func (p *runPage) choose(agent, from int) {
	p.agents = p.Run.Main()
	if agent > 0 && agent <= len(p.Run.Agents) {
		p.agents, p.about = p.Run.Agents[agent-1:agent], agent
	} else {
		p.agents = append(p.agents, p.Run.Unattached()...)
	}
	var steps []*view.Step
	for _, a := range p.agents {
		steps = append(steps, a.Steps...)
	}
	p.pages = newPaging(p.Run, steps)
	if from = max(from, 0); from >= len(steps) {
		from = p.pages.start(len(steps) - 1) // its last page
	}
	end := p.pages.end(from)
	if from > 0 {
		p.Before = p.at(p.about, p.pages.start(from-1))
	}
	if end < len(steps) {
		p.After, p.Left = p.at(p.about, end), len(steps)-end
	}
	at := 0 // where the agent's steps begin
	for i, a := range p.agents {
		shown := a.Steps[min(max(from-at, 0), len(a.Steps)):min(max(end-at, 0), len(a.Steps))]
		if at += len(a.Steps); len(shown) > 0 {
			p.shown = append(p.shown, stretch{a, shown, i > 0 || p.about > 0})
		}
	}
}

// judge finds problems in the run. Of a long run it judges only the steps on the
// page.
func (p *runPage) judge(ctx context.Context, s *server) error {
	cost := view.InputCost(s.prices)
	var err error
	if p.Run.Counts.Exchanges <= judgedWhole && weightOf(p.Run) <= judgedWeight {
		err = p.Run.Judge(ctx, s.reader, cost)
	} else {
		p.Partly = true
		err = p.Run.JudgePart(ctx, s.reader, cost, p.stepsOnPage())
	}
	p.Findings = len(worth(p.Run.Lint))
	return err
}

func weightOf(r *view.Run) (sum int64) {
	for _, a := range r.Agents {
		for _, s := range a.Steps {
			sum += r.Weight(s)
		}
	}
	return sum
}

// stepsOnPage returns the steps on the page, and those of the agents they started.
func (p *runPage) stepsOnPage() []*view.Step {
	var list, inside []*view.Step
	for _, st := range p.shown {
		list = append(list, st.steps...)
		for _, step := range st.steps {
			for _, sub := range p.Run.Started(step) {
				inside = append(inside, sub.Steps[:min(len(sub.Steps), insideShown)]...)
			}
		}
	}
	return append(inside[:min(len(inside), insideShown)], list...)
}

// fill lays out what was chosen.
func (p *runPage) fill(b *runBuilder) error {
	for _, st := range p.shown {
		v, err := b.agent(st.agent, st.steps)
		if err != nil {
			return err
		}
		if st.headed {
			v.Heading = headingOf(st.agent)
		}
		p.Agents = append(p.Agents, *v)
	}
	o := outliner{run: p.Run, pages: p.pages, onPage: b.onPage, about: p.about}
	p.Outline = o.outline(p.agents)
	p.Map = newMinimap(o.main)
	p.About = newAboutRun(p.Run, b.onPage)
	p.Side = p.Run.Side[:min(len(p.Run.Side), sidesShown)]
	p.SideLeft = len(p.Run.Side) - len(p.Side)
	return nil
}

// at returns the address of the page that begins with a step.
func (p *runPage) at(agent, from int) string { return runURL(p.Run.N, agent, from) }

func runURL(run int64, agent, from int) string {
	var q []string
	if agent > 0 {
		q = append(q, "agent="+strconv.Itoa(agent))
	}
	if from > 0 {
		q = append(q, "from="+strconv.Itoa(from))
	}
	path := "/r/" + strconv.FormatInt(run, 10)
	if len(q) > 0 {
		path += "?" + strings.Join(q, "&")
	}
	return path
}

func headingOf(a *view.Agent) string {
	text := "agent " + a.Ref
	if a.Role == "sub" {
		text = "sub-" + text
	}
	if name := a.ShortName(); name != "" {
		text += " " + name
	}
	return text + " · " + a.FoundBy()
}
