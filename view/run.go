package view

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// RunRow is a run in a list: what it is about and what its exchanges come to.
type RunRow struct {
	ID               string            `json:"id"`
	N                int64             `json:"n"`
	Name             string            `json:"name"`
	NamedBy          string            `json:"named_by"`   // "user", "command" or "message"
	Topic            string            `json:"topic"`      // what its first step is about
	StartedAt        *time.Time        `json:"started_at"` // nil: nobody knows
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
	CostUSD          *string           `json:"cost_usd"` // nil: the price is not known
	CostIsLowerBound bool              `json:"cost_is_lower_bound"`
	Unpriced         Unpriced          `json:"unpriced"`
	// Timeline is there if it was asked for (transcript.RunFilter).
	Timeline []transcript.TimeSlice `json:"timeline,omitempty"`
}

// Unpriced is what a cost leaves out because its price is not known.
type Unpriced struct {
	Exchanges int      `json:"exchanges"`
	Tokens    int64    `json:"tokens"` // as far as they were counted
	Models    []string `json:"models"`
	Hosts     []string `json:"hosts"` // that they were asked of
}

// Counts is how much there is in a run.
type Counts struct {
	Agents     int `json:"agents"`
	Steps      int `json:"steps"`
	Exchanges  int `json:"exchanges"` // steps, further attempts, side calls and replays
	Side       int `json:"side"`
	Calls      int `json:"calls"`
	Unanswered int `json:"unanswered"` // calls without a result so far
	Errors     int `json:"errors"`     // tool results that are errors, and steps that failed
	Failed     int `json:"failed"`     // steps whose last attempt failed
}

// Status says how a run came to its end so far.
type Status string

// The states of a run.
const (
	Finished   Status = "finished"   // the model's last word asks for nothing
	Running    Status = "running"    // calls are open, or the last step failed, and that is not long ago; of an imported run only what is being recorded
	Unfinished Status = "unfinished" // calls are open, and nobody went on
	Broken     Status = "failed"     // its last step failed
	Partial    Status = "partial"    // its last answer came without its end
	Aside      Status = "side"       // it has no step, only side calls
)

// RunningFor is how long a run without an end counts as running.
const RunningFor = 10 * time.Minute

// RunRef is the short reference of run n.
func RunRef(n int64) string { return fmt.Sprintf("r%d", n) }

// Ref is the short reference of the run.
func (r *RunRow) Ref() string { return RunRef(r.N) }

// Runs lists runs, newest first. Of those of which exchanges are damaged it gives
// what it can, and those that can be read if others cannot, with an error that wraps transcript.ErrDamaged.
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

// nameOf gives a run's name: a user's word, else the command that it was
// recorded of, else what its first step is about.
func nameOf(s *transcript.RunSum) (name, by string) {
	switch {
	case s.Marks.Name != "":
		return s.Marks.Name, "user"
	case s.Name != "":
		return commandOf(s.Name), "command"
	}
	return s.Topic, "message"
}

// Title is the name of the run. Of a command, which says little of what was asked for,
// it is also what the run is about.
func (r *RunRow) Title() string { return titled(r.Name, r.NamedBy, r.Topic) }

func titled(name, by, topic string) string {
	if by == "command" && topic != "" && topic != name {
		return name + " · " + topic
	}
	return name
}

// commandOf is what a label says of a command: the moment behind it only keeps two
// runs of it apart.
func commandOf(label string) string {
	if at := strings.LastIndex(label, " @ "); at > 0 {
		if _, err := time.Parse(time.RFC3339Nano, label[at+len(" @ "):]); err == nil {
			return label[:at]
		}
	}
	return label
}

func statusOf(s *transcript.RunSum, now time.Time) Status {
	fresh := s.Imported == "" && now.Sub(s.EndedAt) < RunningFor // nobody goes on with what was imported
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
