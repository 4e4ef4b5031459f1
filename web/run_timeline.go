package web

import (
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// timeline draws when a run's steps were, in little room.
type timeline struct {
	Title string
	Bars  []bar // in slices of the run's time, on a height of 12
}

func newTimeline(slices []transcript.TimeSlice) *timeline {
	if len(slices) == 0 {
		return nil
	}
	t := &timeline{}
	steps, errors, takes := 0, 0, 0
	until := -1
	for _, s := range slices {
		steps, errors, takes = steps+s.Steps, errors+s.Errors, takes+s.Takes
		if s.Steps > 0 {
			from := max(s.At, until+1) // what is drawn already needs no second bar
			if s.Until >= from {
				t.Bars = append(t.Bars, bar{X: float64(from), Y: 3, W: float64(s.Until - from + 1), H: 6, Class: "tl"})
				until = s.Until
			}
		}
	}
	for _, s := range slices {
		if s.Errors > 0 {
			t.Bars = append(t.Bars, bar{X: float64(s.At), Y: 1, W: 1, H: 10, Class: "tl-bad"})
		}
		if s.Takes > 0 {
			t.Bars = append(t.Bars, bar{X: float64(s.At), Y: 0, W: 1, H: 12, Class: "tl-take"})
		}
	}
	title := []string{fmt.Sprintf("%d requests", steps)}
	if errors > 0 {
		title = append(title, fmt.Sprintf("%d with errors", errors))
	}
	if takes > 0 {
		title = append(title, fmt.Sprintf("%d replays", takes))
	}
	t.Title = strings.Join(title, ", ")
	return t
}
