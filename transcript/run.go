package transcript

import "time"

// Run is everything one task did.
type Run struct {
	ID        string
	N         int64
	Name      string    // the label that its exchanges came with, "" if they had none
	StartedAt time.Time // zero if nobody knows
}

// Marks are what users say of a run. Nothing that is derived touches them: if
// the run becomes part of another one, so do its marks.
type Marks struct {
	Name   string
	Note   string
	Tags   []string // sorted, each once
	Pinned bool     // it is never pruned
}

// IsZero tells whether nothing is said.
func (m *Marks) IsZero() bool { return m.Name == "" && m.Note == "" && len(m.Tags) == 0 && !m.Pinned }

// RunFilter narrows a listing of runs. The zero RunFilter takes everything.
type RunFilter struct {
	Model   string  // part of the asked or answered model's name of one of its exchanges
	Dialect Dialect // of one of its exchanges, like the next two
	Outcome Outcome
	Tool    string    // part of the name of a tool that it called
	Tag     string    // one of its tags
	Since   time.Time // only runs of which an exchange began then or later
	Pinned  bool      // only pinned ones
	IDs     []string  // only these; nil for all
	Before  int64     // only runs whose N is less; 0 for no bound
	Limit   int       // 0 for no limit
	// Timeline asks for RunSum.Timeline too.
	Timeline bool
}

// RunSum is a run with what its exchanges come to.
//
// Calls are those of each step's last attempt; of the attempts before it only those
// whose results came: nobody runs the calls of an answer that was cut and asked for
// again. Replays do not count.
type RunSum struct {
	Run
	Marks     Marks
	Topic     string    // what the first step is about, see Topic
	EndedAt   time.Time // when the last exchange ended that is no replay, if there is one
	Models    []string  // that answered, else that were asked; sorted
	Agents    int
	Steps     int
	Exchanges int      // all of them: steps, their attempts, side calls, takes
	Side      int      // side calls
	Takes     int      // replays
	Imported  Grade    // the least grade of those that were imported; "" if none was
	Calls     int      // tool calls that a client had to run, see below
	Failed    int      // steps whose last attempt failed
	Errors    int      // tool results that are errors
	Results   int      // tool results that answer calls
	Usage     *Usage   // of all but replays; nil if none was reported
	Last      LastStep // of its main agents
	Damaged   bool     // an exchange of it cannot be read: nothing but its name and marks is known
	Timeline  []TimeSlice
}

// TimeSlices is into how many equal parts a timeline cuts the time of a run.
const TimeSlices = 60

// TimeSlice is what began in one part of a run's time. Replays count where the
// step is that they replay.
type TimeSlice struct {
	At     int `json:"at"`    // which part, from 0
	Until  int `json:"until"` // the last part that what began here reaches
	Steps  int `json:"steps"`
	Errors int `json:"errors"` // exchanges that failed or whose calls did
	Takes  int `json:"takes"`
}

// LastStep says how a run came to its end so far. N is 0 if it has no step.
type LastStep struct {
	N       int64 // number of the exchange
	Outcome Outcome
	Calls   int  // that it made, whose results nobody has brought to the model
	Partial bool // it is ok, but came without its end
}

// RunUse is the usage of exchanges of a run that are alike in what prices depend on:
// whom they called, for which model, and how the provider counts.
type RunUse struct {
	Run           int64  // its number
	URL           string // without its query
	Model         string
	ResponseModel string
	Exchanges     int
	Usage         *Usage // nil: none was reported
}

// Agent is a chain of steps, each of which extends the history of the one before.
type Agent struct {
	ID         string
	Run        string // id of the run
	Key        string // the client's name for it, "" if it has none
	Main       bool   // else another agent's tool call started it
	ParentCall *Place // the call that started it, nil if unknown
	Evidence   string // why it is what it is, in words
}
