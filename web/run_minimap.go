package web

import (
	"fmt"

	"github.com/retake-debugger/retake/view"
)

const (
	mapWidth  = 200.0
	mapHeight = 46.0
	mapTokens = 28.0 // the upper part, which grows up from its foot
	mapTime   = 14.0 // the lower part, which grows down
	mapSlices = 100  // at most, of one or more steps each
)

// minimap draws the tokens and the time of all steps that a page is about, in
// their order: tokens above a line, time below it.
type minimap struct {
	Title         string
	Width, Height float64
	Bars          []timeBar
}

// mapStep is a step in a minimap.
type mapStep struct {
	N      int
	Tokens int64
	Took   float64
	Bad    bool
	Href   string
	Title  string
}

func mapStepOf(run *view.Run, s *view.Step, href string) mapStep {
	return mapStep{N: s.N, Tokens: tokensOf(s), Took: tookOf(s), Bad: s.Failed() || run.HasError(s.Exchange), Href: href, Title: figuresOf(s)}
}

// newMinimap draws steps. It returns nil if there are too few, or if their tokens
// and times are unknown.
func newMinimap(steps []mapStep) *minimap {
	if len(steps) < 3 {
		return nil
	}
	m := &minimap{Title: "tokens above, time below", Width: mapWidth, Height: mapHeight}
	each := (len(steps) + mapSlices - 1) / mapSlices
	var tokens int64
	took := 0.0
	for i := range steps {
		tokens, took = max(tokens, steps[i].Tokens), max(took, steps[i].Took)
	}
	if tokens == 0 && took == 0 {
		return nil
	}
	slices := (len(steps) + each - 1) / each
	width := mapWidth / float64(slices)
	for i := 0; i < slices; i++ {
		m.slice(steps[i*each:min((i+1)*each, len(steps))], float64(i)*width, width, float64(tokens), took)
	}
	return m
}

// slice draws the highest values of some consecutive steps.
func (m *minimap) slice(steps []mapStep, x, width, tokens, took float64) {
	most, bad := mapStep{}, false
	for _, s := range steps {
		most.Tokens, most.Took, bad = max(most.Tokens, s.Tokens), max(most.Took, s.Took), bad || s.Bad
	}
	first := steps[0]
	title := fmt.Sprintf("step %d", first.N)
	if len(steps) > 1 {
		title = fmt.Sprintf("steps %d – %d", first.N, steps[len(steps)-1].N)
	} else if first.Title != "" {
		title += ": " + first.Title
	}
	add := func(b bar) {
		b.X, b.W = x, max(width*0.88, 0.5)
		m.Bars = append(m.Bars, timeBar{b, ""})
	}
	m.Bars = append(m.Bars, timeBar{bar{X: x, Y: 0, W: width, H: mapHeight, Class: "m-whole", Title: title}, first.Href})
	if h := ratio(float64(most.Tokens), tokens) * mapTokens; h > 0 {
		add(bar{Y: mapTokens - h, H: h, Class: "m-tokens"})
	}
	if h := ratio(most.Took, took) * mapTime; h > 0 {
		add(bar{Y: mapTokens + 1, H: h, Class: "m-time"})
	}
	if bad {
		add(bar{Y: mapHeight - 2.5, H: 2.5, Class: "m-bad"})
	}
}

func ratio(v, most float64) float64 {
	if most <= 0 {
		return 0
	}
	return v / most
}
