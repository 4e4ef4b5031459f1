package view

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/transcript"
)

// Run is a run in full: the tree of its agents, their steps and branches, and its
// calls with their results. The texts are in its exchanges; a StepReader reads them
// step by step.
type Run struct {
	RunRow
	Agents []*Agent          `json:"agents"`
	Side   []SideCall        `json:"side_calls"`
	Pairs  []transcript.Pair `json:"pairs"`
	Lint   []lint.Finding    `json:"lint"` // see Judge
	// Unreadable is the number of unreadable exchanges, which are left out.
	Unreadable int `json:"unreadable"`

	exchanges  map[string]*transcript.Exchange
	calls      map[transcript.Place]*transcript.CallRow // by where the call is
	takes      map[string]*transcript.Take              // by the exchange that was sent
	tools      map[string][]string                      // of the called tools, by exchange
	byExchange map[string][]transcript.Pair             // one for each call of an answer
	continued  map[string]bool                          // answers that another exchange continues
	reading    *history.Reader                          // the requests read by Judge, nil before it
	judgedPart bool                                     // see JudgePart
}

// RunRow is a run in a list, with the sums of its exchanges.
type RunRow struct {
	ID               string            `json:"id"`
	N                int64             `json:"n"`
	Name             string            `json:"name"`
	NamedBy          string            `json:"named_by"`   // "user", "command" or "message"
	Topic            string            `json:"topic"`      // the topic of its first step
	StartedAt        *time.Time        `json:"started_at"` // nil if unknown
	EndedAt          *time.Time        `json:"ended_at"`   // of its last exchange
	DurationMS       *float64          `json:"duration_ms"`
	Status           Status            `json:"status"`
	Models           []string          `json:"models"`
	Origin           string            `json:"origin"`   // "recorded", "take" or "imported"
	Imported         transcript.Grade  `json:"imported"` // the least grade of its imported exchanges: "exact", "rebuilt", "view only"; "" if none is
	Takes            int               `json:"takes"`    // replays
	Tags             []string          `json:"tags"`
	Note             string            `json:"note"`
	Pinned           bool              `json:"pinned"`
	Damaged          bool              `json:"damaged"` // the rest of its exchanges could not be added up
	Counts           Counts            `json:"counts"`
	Usage            *transcript.Usage `json:"usage"`
	CostUSD          *string           `json:"cost_usd"` // nil if the price is unknown
	CostIsLowerBound bool              `json:"cost_is_lower_bound"`
	Unpriced         Unpriced          `json:"unpriced"`
	// Timeline is set on request (transcript.RunFilter).
	Timeline []transcript.TimeSlice `json:"timeline,omitempty"`
}

// Unpriced is what a cost leaves out because the price is unknown.
type Unpriced struct {
	Exchanges int      `json:"exchanges"`
	Tokens    int64    `json:"tokens"` // as far as they are known
	Models    []string `json:"models"`
	Hosts     []string `json:"hosts"` // that received the requests
}

// Counts are the numbers of a run's parts.
type Counts struct {
	Agents     int `json:"agents"`
	Steps      int `json:"steps"`
	Exchanges  int `json:"exchanges"` // steps, further attempts, side calls and replays
	Side       int `json:"side"`
	Calls      int `json:"calls"`
	Unanswered int `json:"unanswered"` // calls without a result so far
	Errors     int `json:"errors"`     // tool results that are errors, and steps that failed
	Failed     int `json:"failed"`     // steps with a failed last attempt
}

// Status is how a run has ended so far.
type Status string

// The states of a run.
const (
	Finished   Status = "finished"   // the model's last answer asks for nothing
	Running    Status = "running"    // calls are open, or the last step failed, not long ago; for an imported run only while it is being recorded
	Unfinished Status = "unfinished" // calls are open and nothing continues the run
	Broken     Status = "failed"     // its last step failed
	Partial    Status = "partial"    // its last answer is incomplete
	Aside      Status = "side"       // it has only side calls
)

// RunningFor is how long a run without an end counts as running.
const RunningFor = 10 * time.Minute

// RunRef is the short reference of run n.
func RunRef(n int64) string { return fmt.Sprintf("r%d", n) }

// Ref is the short reference of the run.
func (r *RunRow) Ref() string { return RunRef(r.N) }

// Runs lists runs, newest first. If exchanges are damaged, it returns what it can
// of their runs, and an error that wraps transcript.ErrDamaged.
func Runs(ctx context.Context, r transcript.Reader, f transcript.RunFilter, now time.Time) ([]RunRow, error) {
	sums, lost := r.Runs(ctx, f)
	if lost != nil && (len(sums) == 0 || !errors.Is(lost, transcript.ErrDamaged)) {
		return nil, lost
	}
	rows, damaged := make([]RunRow, len(sums)), 0
	for i := range sums {
		if rows[i] = newRunRow(&sums[i], now); sums[i].Damaged {
			damaged++
		}
	}
	switch {
	case damaged > 0 && lost != nil:
		return rows, fmt.Errorf("%d of these runs cannot be added up; of others %w", damaged, lost)
	case damaged > 0:
		return rows, fmt.Errorf("%d of these runs cannot be added up: %w", damaged, transcript.ErrDamaged)
	}
	return rows, lost
}

func newRunRow(s *transcript.RunSum, now time.Time) RunRow {
	r := RunRow{
		ID: s.ID, N: s.N, StartedAt: known(s.StartedAt), Status: statusOf(s, now), Models: s.Models, Origin: "recorded", Takes: s.Takes,
		Damaged: s.Damaged, Tags: s.Marks.Tags, Note: s.Marks.Note, Pinned: s.Marks.Pinned, Usage: s.Usage, CostIsLowerBound: true, Unpriced: Unpriced{Models: []string{}, Hosts: []string{}},
		Counts: Counts{Agents: s.Agents, Steps: s.Steps, Exchanges: s.Exchanges, Side: s.Side, Calls: s.Calls,
			Unanswered: max(0, s.Calls-s.Results), Errors: s.Errors + s.Failed, Failed: s.Failed},
	}
	r.Name, r.NamedBy = nameOf(s)
	r.Topic = s.Topic
	r.Timeline = s.Timeline
	if r.Imported = s.Imported; r.Imported != "" {
		r.Origin = "imported"
	}
	r.EndedAt, r.DurationMS = known(s.EndedAt), between(s.StartedAt, s.EndedAt)
	if r.Models == nil {
		r.Models = []string{}
	}
	if r.Tags == nil {
		r.Tags = []string{}
	}
	return r
}

// nameOf returns a run's name: the user's, else its command, else the topic of its
// first step.
func nameOf(s *transcript.RunSum) (name, by string) {
	switch {
	case s.Marks.Name != "":
		return s.Marks.Name, "user"
	case s.Name != "":
		return commandOf(s.Name), "command"
	}
	return s.Topic, "message"
}

// Title returns the name of the run. A command says little about the task, so its
// title includes the topic.
func (r *RunRow) Title() string { return titled(r.Name, r.NamedBy, r.Topic) }

func titled(name, by, topic string) string {
	if by == "command" && topic != "" && topic != name {
		return name + " · " + topic
	}
	return name
}

// commandOf returns the command of a label. The time after it only keeps two runs
// of the command apart.
func commandOf(label string) string {
	if at := strings.LastIndex(label, " @ "); at > 0 {
		if _, err := time.Parse(time.RFC3339Nano, label[at+len(" @ "):]); err == nil {
			return label[:at]
		}
	}
	return label
}

func statusOf(s *transcript.RunSum, now time.Time) Status {
	fresh := s.Imported == "" && now.Sub(s.EndedAt) < RunningFor // an imported run does not continue
	switch last := &s.Last; {
	case s.Steps == 0:
		return Aside
	case last.Outcome == transcript.InProgress, fresh && (last.Calls > 0 || last.Outcome != transcript.OK):
		return Running
	case last.Outcome != transcript.OK:
		return Broken
	case last.Calls > 0:
		return Unfinished
	case last.Partial:
		return Partial
	}
	return Finished
}

// Main returns the agents that no call started.
func (r *Run) Main() []*Agent {
	var list []*Agent
	for _, a := range r.Agents {
		if a.Role == "main" {
			list = append(list, a)
		}
	}
	return list
}

// Under returns the agents that the call at that place started.
func (r *Run) Under(call transcript.Place) []*Agent {
	var list []*Agent
	for _, a := range r.Agents {
		if a.Parent != nil && a.Parent.Exchange == call.Exchange && a.Parent.At == call.At {
			list = append(list, a)
		}
	}
	return list
}

// Started returns the agents that the calls of a step started, in the order of the
// calls.
func (r *Run) Started(s *Step) []*Agent {
	var list []*Agent
	for _, p := range r.byExchange[s.Exchange] {
		list = append(list, r.Under(*p.Call)...)
	}
	return list
}

// Unattached returns the sub-agents that no known call of an agent in the run
// started.
func (r *Run) Unattached() []*Agent {
	var list []*Agent
	for _, a := range r.Agents {
		if a.Role == "sub" && a.ParentOf == "" {
			list = append(list, a)
		}
	}
	return list
}
