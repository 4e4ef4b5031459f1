package web

import (
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/view"
)

const (
	outlineShown = 1500 // lines of an outline
	stepsListed  = 400  // of an agent, one by one; of a longer one those on the page
	mostDots     = 8    // calls of a step, one by one
	barWidth     = 40   // of the bars next to a step
)

// outlineLine is one line of the outline: an agent, a step, a branch or several
// steps that are on another page.
type outlineLine struct {
	Depth       int
	Kind        string // "part", "step", "failed", "branch" or "pages"
	Href        string
	Number      int
	Text, Title string
	Dots        []string  // one for each call, by how it went
	Bar         *shareBar // nil for anything but a step
}

// shareBar is a step's share of the largest step's tokens and of the longest step's
// time.
type shareBar struct{ Tokens, Time int }

// outliner makes the outline of a run.
type outliner struct {
	run    *view.Run
	pages  paging          // of the steps of those that the page is about
	onPage map[string]bool // steps that are on the page, by exchange
	about  int             // the agent that the page is about, 0 for all main ones

	main   []mapStep // of those the page is about, in order
	list   []outlineLine
	place  int // of the next step of those in main
	seen   map[string]bool
	inside map[string]paging // of other agents
	tokens int64
	took   float64
}

// outline lists the steps of agents, and under them the agents that their calls
// started and the branches that leave them. Steps on other pages are links.
func (o *outliner) outline(agents []*view.Agent) []outlineLine {
	o.seen, o.inside = map[string]bool{}, map[string]paging{}
	for _, a := range o.run.Agents {
		for _, s := range a.Steps {
			o.tokens, o.took = max(o.tokens, tokensOf(s)), max(o.took, tookOf(s))
		}
	}
	for _, a := range agents {
		o.agent(a, 0, len(agents) > 1 || o.about > 0)
	}
	return o.list
}

func (o *outliner) isFull() bool { return len(o.list) >= outlineShown }

func (o *outliner) agent(a *view.Agent, depth int, headed bool) {
	if o.seen[a.ID] || o.isFull() {
		return
	}
	o.seen[a.ID] = true
	if headed {
		o.list = append(o.list, outlineLine{Depth: min(depth, 4), Kind: "part", Href: runURL(o.run.N, a.N, 0), Text: strings.TrimPrefix(a.Ref, o.run.Ref()+"/") + " " + a.Role, Title: headingOf(a)})
	}
	o.branches(a, 0, depth)
	for i := 0; i < len(a.Steps); i++ {
		s := a.Steps[i]
		if n := o.elsewhere(a, i, depth); n > 1 {
			o.page(a, i, n, depth)
			i += n - 1
			continue
		}
		href := o.href(a, i, depth)
		if depth == 0 {
			o.main = append(o.main, mapStepOf(o.run, s, href))
			o.place++
		}
		if o.isFull() {
			continue // the map has all of them
		}
		o.list = append(o.list, o.step(s, depth, href))
		for _, sub := range o.run.Started(s) {
			o.agent(sub, depth+1, true)
		}
		o.branches(a, s.N, depth)
	}
}

// href returns the address of a step: here, or on its page.
func (o *outliner) href(a *view.Agent, i, depth int) string {
	here := "#" + stepID(a.Steps[i])
	if o.onPage[a.Steps[i].Exchange] {
		return here
	}
	if depth > 0 {
		return runURL(o.run.N, a.N, o.startOf(a, i)) + here
	}
	return runURL(o.run.N, o.about, o.pages.start(o.place)) + here
}

// startOf returns the first step of the page, about its agent alone, that has the
// step.
func (o *outliner) startOf(a *view.Agent, i int) int {
	p, ok := o.inside[a.ID]
	if !ok {
		p = newPaging(o.run, a.Steps)
		o.inside[a.ID] = p
	}
	return p.start(i)
}

// elsewhere counts the steps of a long agent from that one on that are on one page
// which is not this one.
func (o *outliner) elsewhere(a *view.Agent, from, depth int) int {
	if len(a.Steps) <= stepsListed {
		return 0
	}
	page := func(i int) int {
		if depth > 0 {
			return o.startOf(a, i)
		}
		return o.pages.start(o.place + i - from)
	}
	first, n := page(from), 0
	for from+n < len(a.Steps) && page(from+n) == first && !o.onPage[a.Steps[from+n].Exchange] {
		n++
	}
	return n
}

// page puts steps of another page into one line.
func (o *outliner) page(a *view.Agent, from, n, depth int) {
	steps := a.Steps[from : from+n]
	line := outlineLine{Depth: min(depth, 4), Kind: "pages", Href: o.href(a, from, depth), Text: fmt.Sprintf("%d – %d", steps[0].N, steps[n-1].N)}
	wrong := 0
	for i, s := range steps {
		if depth == 0 {
			o.main = append(o.main, mapStepOf(o.run, s, o.href(a, from+i, depth)))
			o.place++
		}
		if s.Failed() || o.run.HasError(s.Exchange) {
			wrong++
		}
	}
	if wrong > 0 {
		line.Dots = []string{"error"}
		line.Text += fmt.Sprintf(" · %d with errors", wrong)
	}
	o.list = append(o.list, line)
}

// branchesListed is how many branches of one step are listed. More, such as the
// takes of a sample, are one line.
const branchesListed = 4

func many(branches []branchView) bool { return len(branches) > branchesListed }

// branches lists the branches that leave an agent after a step.
func (o *outliner) branches(a *view.Agent, after, depth int) {
	var list []*view.Branch
	for _, b := range a.Branches {
		if b.From == after {
			list = append(list, b)
		}
	}
	here := after == 0 && len(a.Steps) > 0 && o.onPage[a.Steps[0].Exchange] || after > 0 && o.onPage[a.Steps[after-1].Exchange]
	if len(list) > branchesListed && here && !o.isFull() {
		o.list = append(o.list, outlineLine{Depth: min(depth+1, 4), Kind: "branch", Text: fmt.Sprintf("↱ %d branches", len(list)), Href: "#many-" + branchID(list[0])})
		return
	}
	for _, b := range list {
		if o.isFull() {
			return
		}
		o.branch(b, depth, here)
	}
}

func (o *outliner) branch(b *view.Branch, depth int, here bool) {
	line := outlineLine{Depth: min(depth+1, 4), Kind: "branch", Text: "↱ also " + view.Ref(b.Steps[0].ExchangeN), Href: exchangeURL(b.Steps[0].ExchangeN)}
	if b.TakeRef != "" {
		line.Text = "↱ replay " + b.TakeRef
	}
	line.Text += " · " + steps(len(b.Steps))
	if here {
		line.Href = "#" + branchID(b)
	}
	o.list = append(o.list, line)
}

// branchID returns the reference of the take that sent the branch, if there is one.
func branchID(b *view.Branch) string {
	if b.TakeRef != "" {
		return b.TakeRef
	}
	return fmt.Sprintf("b%d", b.Steps[0].ExchangeN)
}

func (o *outliner) step(s *view.Step, depth int, href string) outlineLine {
	line := outlineLine{Depth: min(depth, 4), Kind: "step", Href: href, Number: s.N, Text: strings.Join(s.Tools, " ")}
	if line.Text == "" && s.FinishReason != nil {
		line.Text = *s.FinishReason
	}
	line.Text = oneLine(line.Text, 40)
	if s.Failed() {
		line.Kind = "failed"
	}
	line.Dots = o.run.StatesOf(s.Exchange, mostDots)
	line.Title = strings.TrimSuffix(strings.Join(s.Tools, ", ")+"\n"+figuresOf(s), "\n")
	line.Bar = &shareBar{Tokens: shareOf(float64(tokensOf(s)), float64(o.tokens)), Time: shareOf(tookOf(s), o.took)}
	return line
}

func shareOf(v, most float64) int {
	if most <= 0 || v <= 0 {
		return 0
	}
	return max(1, int(v/most*barWidth))
}

// figuresOf describes the bars of a step in words.
func figuresOf(s *view.Step) string {
	var list []string
	if s.Usage != nil {
		list = append(list, count(s.Usage.InputTotal)+" tokens in, "+count(s.Usage.Output)+" out")
	}
	if took := tookOf(s); took > 0 {
		list = append(list, duration(&took))
	}
	return strings.Join(list, ", ")
}

func tokensOf(s *view.Step) int64 {
	if s.Usage == nil {
		return 0
	}
	return s.Usage.InputTotal
}

func tookOf(s *view.Step) float64 {
	switch {
	case s.WholeMS != nil:
		return *s.WholeMS
	case s.DurationMS != nil:
		return *s.DurationMS
	}
	return 0
}
