package web

import (
	"fmt"

	"github.com/retake-debugger/retake/view"
)

const (
	eventsShown  = 300  // unless all are asked for
	eventsAtMost = 5000 // the response has more
	slowEvent    = 50.0 // ms: a shorter gap is not slow
	eventLine    = 160  // characters of an event's data that are shown at once
	stripTicks   = 300  // marks on the strip of arrivals
)

// eventsPart is the events of a streamed answer with their arrival times.
type eventsPart struct {
	List  []eventShown
	Total int
	All   string // where more are shown, if these are not all
	Strip *chart // when they came; nil if that is not known
	Last  string // when the last one arrived
}

// eventShown is one event as a page shows it.
type eventShown struct {
	view.Event
	Gap   string // since the one before
	Slow  bool   // the gap is longer than most
	Start string // of its data
	Whole bool   // Start is all of it
}

func newEventsPart(list []view.Event, total, shown int, all string) *eventsPart {
	if total == 0 {
		return nil
	}
	p := &eventsPart{Total: total}
	if total > shown {
		p.All = all
	}
	last := list[len(list)-1].At
	for i := range list[:min(len(list), shown)] {
		e := eventShown{Event: list[i], Start: oneLine(list[i].Data, eventLine)}
		e.Whole = e.Start == list[i].Data
		if gap := gapBefore(list, i); gap != nil {
			e.Gap = "+" + duration(gap)
			e.Slow = i > 0 && *gap > 0.1**last && *gap > slowEvent
		}
		p.List = append(p.List, e)
	}
	p.Strip, p.Last = stripOf(list)
	return p
}

// gapBefore returns the time between an event and the one before it.
func gapBefore(list []view.Event, i int) *float64 {
	if i == 0 || list[i].At == nil || list[i-1].At == nil {
		return nil
	}
	gap := *list[i].At - *list[i-1].At
	return &gap
}

// stripOf marks on a line when events arrived, from the start of the request.
// Events that arrive together share a mark.
func stripOf(list []view.Event) (*chart, string) {
	last := list[len(list)-1].At
	if last == nil || *last <= 0 {
		return nil, ""
	}
	counts := make([]int, stripTicks)
	for i := range list {
		if at := list[i].At; at != nil {
			counts[min(int(*at / *last * stripTicks), stripTicks-1)]++
		}
	}
	c := &chart{Title: "arrival of events", Width: chartWidth, Height: 16}
	w := chartWidth / stripTicks
	for i, n := range counts {
		if n > 0 {
			at := *last * float64(i) / stripTicks
			c.Bars = append(c.Bars, bar{X: float64(i) * w, W: w, H: 16, Title: fmt.Sprintf("%s: %d", duration(&at), n)})
		}
	}
	return c, duration(last)
}
