package web

import (
	"strconv"
	"time"

	"github.com/retake-debugger/retake/view"
)

// chart is a row of bars, drawn as SVG. Its figures are in the table below it.
type chart struct {
	Title  string
	Most   string // the highest value, in words
	None   string // text for an empty chart
	From   string // when the first bar begins
	To     string // when the last one does
	Width  float64
	Height float64
	Bars   []bar
}

// bar is one bar of a chart, from the bottom, in the chart's units.
type bar struct {
	X, Y, W, H float64
	Title      string
	Class      string
}

const (
	chartWidth  = 600.0
	chartHeight = 56.0
	fewestBars  = 12 // the chart has room for: a single one does not fill it
)

// chartsOver draws the totals of exchanges over time.
func chartsOver(over *view.StatsOver, name func(time.Time) string) []chart {
	if len(over.Times) == 0 {
		return nil
	}
	draw := func(what string, of func(*view.StatsAt) (float64, string)) chart {
		return newChart(what, over.Times, name, of)
	}
	return []chart{
		draw("exchanges", func(m *view.StatsAt) (float64, string) {
			return float64(m.Exchanges), count(int64(m.Exchanges))
		}),
		draw("failed", func(m *view.StatsAt) (float64, string) { return float64(m.Failed), count(int64(m.Failed)) }),
		draw("tokens in", func(m *view.StatsAt) (float64, string) { return float64(m.InputTotal), compact(m.InputTotal) }),
		draw("tokens out", func(m *view.StatsAt) (float64, string) { return float64(m.Output), compact(m.Output) }),
		draw("cost", func(m *view.StatsAt) (float64, string) { return height(m.CostUSD), dollars(m.CostUSD, m.LowerBound) }),
		draw("duration, median", func(m *view.StatsAt) (float64, string) { return known(m.P50), duration(m.P50) }),
		draw("duration, 95th percentile", func(m *view.StatsAt) (float64, string) { return known(m.P95), duration(m.P95) }),
		draw("first token, median", func(m *view.StatsAt) (float64, string) { return known(m.TTFT50), duration(m.TTFT50) }),
	}
}

func known(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

// height is an amount as a length, 0 if it is not known.
func height(usd *string) float64 {
	if usd == nil {
		return 0
	}
	v, err := strconv.ParseFloat(*usd, 64)
	if err != nil {
		return 0
	}
	return v
}

func newChart(title string, times []view.StatsAt, name func(time.Time) string, of func(*view.StatsAt) (float64, string)) chart {
	c := chart{Title: title, Width: chartWidth, Height: chartHeight, From: name(times[0].From), To: name(times[len(times)-1].From)}
	if len(times) < fewestBars && c.From != c.To {
		c.From, c.To = c.From+" – "+c.To, ""
	}
	highest := 0.0
	c.None = "not known"
	for i := range times {
		v, words := of(&times[i])
		if v > highest {
			highest, c.Most = v, words
		}
		if words != "" && words != "?" {
			c.None = "none"
		}
	}
	w := chartWidth / float64(max(len(times), fewestBars))
	for i := range times {
		v, words := of(&times[i])
		if v == 0 || highest == 0 {
			continue
		}
		h := max(v/highest*chartHeight, 1)
		c.Bars = append(c.Bars, bar{X: float64(i) * w, Y: chartHeight - h, W: max(w-1, 0.5), H: h, Title: name(times[i].From) + ": " + words})
	}
	return c
}
