package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/view"
)

const (
	barsShown     = 1500 // of one agent, drawn one by one
	windowsShown  = 400  // steps of a context chart
	contextHeight = 120.0
	laneWidth     = 1000.0
	laneHeight    = 14.0
)

// runHead is the top of the pages of a run other than its transcript.
type runHead struct {
	layout
	Run *view.Run
	Tab string
}

// timePage shows how a run spent its time, what filled its context, and where a
// cached prompt broke.
type timePage struct {
	runHead
	W       *view.Waterfall
	Lanes   []lane
	Windows []contextChart
	Cache   *view.Cache
	Breaks  []view.CacheStep
}

// lane is the bars of one agent, or of the side calls.
type lane struct {
	Name   string
	Bars   []timeBar
	Merged bool // too many bars to draw one by one
}

// timeBar is a bar that links to its step.
type timeBar struct {
	bar
	Href string
}

// contextChart is what filled the window of one agent, step by step.
type contextChart struct {
	Agent string
	Most  int64 // tokens of the fullest step
	Kinds []kindTotal
	Bars  []timeBar
	Every int // every Every-th step is drawn
}

// kindTotal is a kind of content of a window, with its share of the last step.
type kindTotal struct {
	Class, Name string
	Tokens      int64
}

func (s *server) time(c *gin.Context) {
	ctx := c.Request.Context()
	v, err := s.wholeRun(ctx, c.Param("ref"))
	if err != nil {
		s.failed(c, err)
		return
	}
	p := &timePage{runHead: runHead{layout{Title: v.Ref() + " time and context"}, v, "time"}, W: v.Waterfall()}
	p.lanes()
	if err := p.context(ctx, s); err != nil {
		s.failed(c, err)
		return
	}
	s.show(c, http.StatusOK, "time-page", p)
}

// Timed reports whether the times of the run are known.
func (p *timePage) Timed() bool {
	return p.W.DurationMS != nil || p.W.ModelMS != nil || p.W.ToolsMS != nil
}

// Untimed describes how much of the run has no known duration.
func (p *timePage) Untimed() string {
	switch n := p.W.Untimed; {
	case n == 0:
		return ""
	case p.W.DurationMS == nil:
		return "Nobody knows when its steps were, or how long they took: what it was imported from does not say."
	default:
		return "Nobody knows how long " + count(int64(n)) + " of its steps and waits for tools took: the sums leave them out."
	}
}

// sumOf formats a sum of milliseconds; nil is unknown.
func sumOf(ms *float64) string {
	if ms != nil && *ms == 0 {
		return "0"
	}
	return cmp.Or(duration(ms), "—")
}

func (p *timePage) lanes() {
	total := 0.0
	if p.W.DurationMS != nil {
		total = *p.W.DurationMS
	}
	at := map[string]int{}
	bars := map[string][]view.Bar{}
	for _, b := range p.W.Bars {
		if b.StartMS == nil || b.DurationMS == nil {
			continue
		}
		name := cmp.Or(b.Agent, "beside")
		if _, ok := at[name]; !ok {
			at[name] = len(p.Lanes)
			p.Lanes = append(p.Lanes, lane{Name: name})
		}
		bars[name] = append(bars[name], b)
	}
	for i := range p.Lanes {
		l := &p.Lanes[i]
		if l.Merged = len(bars[l.Name]) > barsShown; l.Merged {
			l.Bars = mergedBars(bars[l.Name], total)
			continue
		}
		for k := range bars[l.Name] {
			l.Bars = append(l.Bars, timeBarOf(&bars[l.Name][k], total))
		}
	}
}

// mergedBars draws more bars than can be distinguished: each slice shows what took
// most of its time.
func mergedBars(bars []view.Bar, total float64) []timeBar {
	if total <= 0 {
		return nil
	}
	const slices = int(laneWidth)
	type slice struct {
		took map[string]float64
		step string
	}
	at := make([]slice, slices)
	for i := range bars {
		b := &bars[i]
		from, to := *b.StartMS/total*laneWidth, (*b.StartMS+*b.DurationMS)/total*laneWidth
		for k := max(int(from), 0); k < slices && float64(k) <= to; k++ {
			if at[k].took == nil {
				at[k] = slice{map[string]float64{}, b.Step}
			}
			kind := b.Kind
			if b.Failed {
				kind += " failed"
			}
			at[k].took[kind] += min(to, float64(k+1)) - max(from, float64(k))
		}
	}
	var out []timeBar
	for k := range at {
		most, kind := -1.0, ""
		for name, took := range at[k].took {
			if took > most || took == most && name < kind {
				most, kind = took, name
			}
		}
		if kind != "" {
			out = append(out, timeBar{bar{X: float64(k), W: 1, H: laneHeight, Class: "b-" + kind, Title: "about " + at[k].step + ": mostly " + kind}, "/" + at[k].step})
		}
	}
	return out
}

func timeBarOf(b *view.Bar, total float64) timeBar {
	t := timeBar{Href: "/" + b.Step}
	t.Class = "b-" + b.Kind
	if b.Failed {
		t.Class += " failed"
	}
	if total > 0 {
		t.X, t.W = *b.StartMS/total*laneWidth, max(*b.DurationMS/total*laneWidth, 0.7)
	}
	t.H = laneHeight
	if b.Kind != view.BarModel {
		t.Y, t.H = laneHeight/3, laneHeight/3
	}
	t.Title = strings.TrimSpace(b.Step + " " + b.Kind + " " + oneLine(b.What, 80) + " " + duration(b.DurationMS))
	if b.TTFTms != nil {
		t.Title += ", first token " + duration(b.TTFTms)
	}
	if b.Attempts > 1 {
		t.Title += ", " + strconv.Itoa(b.Attempts) + " attempts"
	}
	return t
}

func (p *timePage) context(ctx context.Context, s *server) error {
	w, cache, err := p.Run.WindowAndCache(ctx, s.reader, s.prices)
	if err != nil {
		return err
	}
	p.Cache = cache
	var agents []string
	steps := map[string][]view.WindowStep{}
	for _, st := range w.Steps {
		if steps[st.Agent] == nil {
			agents = append(agents, st.Agent)
		}
		steps[st.Agent] = append(steps[st.Agent], st)
	}
	broke := map[string]string{}
	for _, st := range p.Cache.Steps {
		if st.Broke != nil {
			p.Breaks = append(p.Breaks, st)
			broke[st.Step] = st.Broke.Item
		}
	}
	for _, a := range agents {
		p.Windows = append(p.Windows, newContextChart(a, steps[a], broke))
	}
	return nil
}

// windowKinds are the kinds of content of a window, in drawing order from the
// bottom.
var windowKinds = []kindTotal{{Class: "k-system", Name: "system"}, {Class: "k-tools", Name: "tools"}, {Class: "k-user", Name: "user"},
	{Class: "k-assistant", Name: "assistant"}, {Class: "k-results", Name: "results"}, {Class: "k-other", Name: "other"}}

// kindOf returns the index of a part's kind in windowKinds.
func kindOf(part *view.Part) int {
	if part.Result {
		return 4
	}
	switch part.Name {
	case "reasoning", "calls":
		return 3
	}
	n := slices.IndexFunc(windowKinds, func(k kindTotal) bool { return k.Name == part.Name })
	if n < 0 {
		n = len(windowKinds) - 1
	}
	return n
}

// thinned keeps every n-th step and the last one. A break moves to the next step
// that is kept.
func thinned(steps []view.WindowStep, broke map[string]string, every int) ([]view.WindowStep, map[string]string) {
	if every < 2 {
		return steps, broke
	}
	var kept []view.WindowStep
	moved := map[string]string{}
	item := ""
	for i := range steps {
		item = cmp.Or(item, broke[steps[i].Step])
		if (len(steps)-1-i)%every == 0 {
			kept = append(kept, steps[i])
			moved[steps[i].Step], item = item, ""
		}
	}
	return kept, moved
}

func newContextChart(agent string, steps []view.WindowStep, broke map[string]string) contextChart {
	c := contextChart{Agent: agent, Every: (len(steps) + windowsShown - 1) / windowsShown}
	steps, broke = thinned(steps, broke, c.Every)
	for i := range steps {
		c.Most = max(c.Most, steps[i].Tokens)
	}
	width := laneWidth / float64(max(len(steps), 1))
	for i := range steps {
		st := &steps[i]
		sums := make([]int64, len(windowKinds))
		for k := range st.Parts {
			sums[kindOf(&st.Parts[k])] += st.Parts[k].Tokens
		}
		y := contextHeight
		for k, tokens := range sums {
			if tokens == 0 || c.Most == 0 {
				continue
			}
			h := float64(tokens) / float64(c.Most) * contextHeight
			y -= h
			c.Bars = append(c.Bars, timeBar{bar{X: float64(i) * width, Y: max(y, 0), W: max(width*0.92, 0.5), H: h, Class: windowKinds[k].Class,
				Title: fmt.Sprintf("%s: %s tokens in all, %s of them %s", st.Step, count(st.Tokens), count(tokens), windowKinds[k].Name)}, "/" + st.Step})
		}
		if item := broke[st.Step]; item != "" {
			c.Bars = append(c.Bars, timeBar{bar{X: float64(i) * width, Y: 0, W: max(width*0.92, 2), H: 4, Class: "broke", Title: st.Step + ": the cached prompt broke at " + oneLine(item, 80)}, "/" + st.Step})
		}
		if i == len(steps)-1 {
			for k, tokens := range sums {
				if tokens > 0 {
					c.Kinds = append(c.Kinds, kindTotal{windowKinds[k].Class, windowKinds[k].Name, tokens})
				}
			}
		}
	}
	return c
}
