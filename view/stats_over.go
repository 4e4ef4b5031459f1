package view

import (
	"maps"
	"slices"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// StatsOver are the sums of exchanges over time, in stretches of one length.
type StatsOver struct {
	Every   string        `json:"every"`   // "minute", "10 minutes", "hour", "6 hours", "day" or "week"
	Times   []StatsAt     `json:"times"`   // the oldest first, including those without exchanges
	Undated int           `json:"undated"` // exchanges left out because their start is unknown
	Length  time.Duration `json:"-"`
}

// StatsAt is one stretch of time.
type StatsAt struct {
	From time.Time `json:"from"`
	ModelStats
}

// mostStretches bounds the number of stretches. If the time is longer than that
// many weeks, only the newest are returned.
const mostStretches = 72

const day = 24 * time.Hour

type stretch struct {
	length time.Duration
	name   string
}

var stretches = [...]stretch{{time.Minute, "minute"}, {10 * time.Minute, "10 minutes"}, {time.Hour, "hour"}, {6 * time.Hour, "6 hours"}, {day, "day"}, {7 * day, "week"}}

// overTime sums up by the minute, and joins minutes at the end.
type overTime map[int64]*ModelStats

func (o overTime) at(e *transcript.Exchange) *ModelStats {
	return of(o, e.StartedAt.Unix()/60, func() *ModelStats { return &ModelStats{} })
}

func (o overTime) finish() *StatsOver {
	minutes := slices.Sorted(maps.Keys(o))
	if len(minutes) == 0 {
		return &StatsOver{Times: []StatsAt{}}
	}
	first, last := time.Unix(minutes[0]*60, 0).UTC(), time.Unix(minutes[len(minutes)-1]*60, 0).UTC()
	n := slices.IndexFunc(stretches[:], func(s stretch) bool { return last.Sub(first.Truncate(s.length)) < mostStretches*s.length })
	if n < 0 {
		n = len(stretches) - 1
	}
	every := stretches[n].length
	from := first.Truncate(every)
	if earliest := last.Truncate(every).Add(-(mostStretches - 1) * every); from.Before(earliest) {
		from = earliest
	}
	list := make([]StatsAt, int(last.Sub(from)/every)+1)
	for i := range list {
		list[i].From = from.Add(time.Duration(i) * every)
		list[i].Name = list[i].From.Format(time.RFC3339)
	}
	for _, m := range minutes {
		if at := time.Unix(m*60, 0).UTC(); !at.Before(from) {
			list[int(at.Sub(from)/every)].join(o[m])
		}
	}
	for i := range list {
		list[i].finish()
	}
	return &StatsOver{Every: stretches[n].name, Times: list, Length: every}
}

// join adds other sums.
func (m *ModelStats) join(o *ModelStats) {
	m.Exchanges += o.Exchanges
	m.Counted += o.Counted
	m.Failed += o.Failed
	m.Calls += o.Calls
	m.InputTotal += o.InputTotal
	m.CacheRead += o.CacheRead
	m.CacheWrite += o.CacheWrite
	m.Output += o.Output
	m.durations, m.ttft = append(m.durations, o.durations...), append(m.ttft, o.ttft...)
	m.total.Join(&o.total)
}
