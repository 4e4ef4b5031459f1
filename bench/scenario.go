package main

import "time"

// prompting is a kind of requests.
type prompting string

const (
	small    prompting = "4 KB"
	history  prompting = "200 KB of one history, the last message new"
	distinct prompting = "200 KB, all of it new"
	agents   prompting = "agents whose history grows over 100 turns, 20 to 250 KB"
)

// scenario is a kind of traffic.
type scenario struct {
	Name        string        `json:"name"`
	Connections int           `json:"connections"`
	Prompts     prompting     `json:"requests"`
	Answer      int           `json:"answer_bytes"` // about, of one that is not streamed
	Events      int           `json:"events"`       // of a stream; 0: not streamed
	Pace        time.Duration `json:"pace_ns"`      // between events; 0: at full speed
	Seconds     float64       `json:"seconds"`      // a cell takes at least so long
	Each        int           `json:"each"`         // requests of each connection in a cell; 0: as many as it can in the time
	Once        bool          `json:"once"`         // one round is enough, it is about memory
	Bars        []bar         `json:"-"`
}

// bar is a figure that the recorder must reach.
type bar struct {
	what  measure
	bound float64
}

// measure says which figure a bar is about and how to read it, with its spread if
// it is a ratio.
type measure struct {
	name   string
	atMost bool // else at least
	of     func(*summary) (float64, *ratio)
}

func spread(r *ratio) (float64, *ratio) { return r.Median, r }

var (
	throughput = measure{"requests/s, ratio", false, func(s *summary) (float64, *ratio) { return spread(&s.Throughput) }}
	addedP50   = measure{"added p50, ratio", true, func(s *summary) (float64, *ratio) { return spread(&s.AddedP50Ratio) }}
	addedP99   = measure{"added p99, ratio", true, func(s *summary) (float64, *ratio) { return spread(&s.AddedP99Ratio) }}
	addedFirst = measure{"added time to first event, ratio", true, func(s *summary) (float64, *ratio) { return spread(&s.AddedFirstRatio) }}
	idleMB     = measure{"idle resident MB", true, func(s *summary) (float64, *ratio) { return s.IdleMB, nil }}
	peakMB     = measure{"peak resident MB", true, func(s *summary) (float64, *ratio) { return s.PeakMB, nil }}
)

func scenarios() []scenario {
	saturated := bar{peakMB, 160}
	return []scenario{
		{Name: "A1", Connections: 1, Prompts: small, Answer: 4 << 10,
			Bars: []bar{{throughput, 1}, {addedP50, 1}, {addedP99, 1.3}, {idleMB, 30}}},
		{Name: "A16", Connections: 16, Prompts: small, Answer: 4 << 10, Bars: []bar{{throughput, 1}, saturated}},
		{Name: "A64", Connections: 64, Prompts: small, Answer: 4 << 10, Bars: []bar{{throughput, 1}, saturated}},
		{Name: "B16", Connections: 16, Prompts: history, Answer: 4 << 10, Bars: []bar{{throughput, 0.75}, saturated}},
		{Name: "B16-distinct", Connections: 16, Prompts: distinct, Answer: 4 << 10, Bars: []bar{saturated}},
		{Name: "F16", Connections: 16, Prompts: agents, Answer: 600, Each: agentTurns, Bars: []bar{{throughput, 0.75}, saturated}},
		{Name: "C16", Connections: 16, Prompts: small, Events: 200, Bars: []bar{{throughput, 1}, saturated}},
		{Name: "D32", Connections: 32, Prompts: small, Events: 100, Pace: 10 * time.Millisecond, Seconds: 1.5, Bars: []bar{{addedFirst, 1.2}}},
		{Name: "D64", Connections: 64, Prompts: small, Events: 100, Pace: 10 * time.Millisecond, Seconds: 1.5, Once: true, Bars: []bar{{peakMB, 50}}},
	}
}

func scenarioNames() []string {
	var names []string
	for _, s := range scenarios() {
		names = append(names, s.Name)
	}
	return names
}
