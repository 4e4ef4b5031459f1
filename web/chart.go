package web

import (
	"strconv"

	"github.com/retake-debugger/retake/view"
)

// chart is a row of bars, drawn as SVG. Its figures stand in the table below it.
type chart struct {
	Title  string
	Most   string // the highest value, in words
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
)

// dayCharts draws what the days came to.
func dayCharts(days []view.ModelStats) []chart {
	if len(days) < 2 {
		return nil
	}
	tokens := newChart("tokens in by day", days, func(m *view.ModelStats) (float64, string) {
		return float64(m.InputTotal), compact(m.InputTotal)
	})
	cost := newChart("cost by day", days, func(m *view.ModelStats) (float64, string) {
		if m.CostUSD == nil {
			return 0, "?"
		}
		usd, err := strconv.ParseFloat(*m.CostUSD, 64) // a height, no amount
		if err != nil {
			return 0, "?"
		}
		return usd, dollars(m.CostUSD, m.LowerBound)
	})
	latency := newChart("median duration by day", days, func(m *view.ModelStats) (float64, string) {
		if m.P50 == nil {
			return 0, ""
		}
		return *m.P50, duration(m.P50)
	})
	failed := newChart("failed by day", days, func(m *view.ModelStats) (float64, string) {
		return float64(m.Failed), count(int64(m.Failed))
	})
	return []chart{tokens, cost, latency, failed}
}

func newChart(title string, days []view.ModelStats, of func(*view.ModelStats) (float64, string)) chart {
	c := chart{Title: title, Width: chartWidth, Height: chartHeight}
	highest := 0.0
	for i := range days {
		if v, words := of(&days[i]); v > highest {
			highest, c.Most = v, words
		}
	}
	w := chartWidth / float64(len(days))
	for i := range days {
		v, words := of(&days[i])
		h := 0.0
		if highest > 0 {
			h = v / highest * chartHeight
		}
		c.Bars = append(c.Bars, bar{X: float64(i) * w, Y: chartHeight - h, W: max(w-1, 0.5), H: h, Title: days[i].Name + ": " + words})
	}
	return c
}
