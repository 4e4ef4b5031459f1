package transcript

import "time"

// Run is everything one task did.
type Run struct {
	ID        string
	N         int64
	Name      string    // the label that its exchanges came with, "" if they had none
	StartedAt time.Time // zero if unknown
}

// Marks are what users say about a run. Deriving does not change them. If the run
// becomes part of another one, so do its marks.
type Marks struct {
	Name   string
	Note   string
	Tags   []string // sorted, each once
	Pinned bool     // it is never pruned
}

// IsZero reports whether there are no marks.
func (m *Marks) IsZero() bool { return m.Name == "" && m.Note == "" && len(m.Tags) == 0 && !m.Pinned }

// RunFilter narrows a listing of runs. The zero RunFilter selects all runs.
type RunFilter struct {
	Model   string  // part of the requested or answering model's name in one of its exchanges
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

// RunSum is a run with totals of its exchanges.
//
// Calls counts those of each step's last attempt, and of earlier attempts only
// those whose results came: the calls of an answer that was cut and asked for again
// are not run. Replays do not count.
type RunSum struct {
	Run
	Marks     Marks
	Topic     string    // what the first step is about, see Topic
	EndedAt   time.Time // end of the last exchange that is not a replay, if there is one
	Models    []string  // that answered, or else were requested; sorted
	Agents    int
	Steps     int
	Exchanges int      // all of them: steps, their attempts, side calls, takes
	Side      int      // side calls
	Takes     int      // replays
	Imported  Grade    // the lowest grade of those that were imported; "" if none was
	Calls     int      // tool calls that a client had to run, see above
	Failed    int      // steps whose last attempt failed
	Errors    int      // tool results that are errors
	Results   int      // tool results that answer calls
	Usage     *Usage   // of all but replays; nil if none was reported
	Last      LastStep // of its main agents
	Damaged   bool     // one of its exchanges cannot be read: only its name and marks are known
	Timeline  []TimeSlice
}

// TimeSlices is the number of equal parts into which a timeline divides the time of
// a run.
const TimeSlices = 60

// TimeSlice is what began in one part of a run's time. A replay counts at the step
// that it replays.
type TimeSlice struct {
	At     int `json:"at"`    // index of the part, from 0
	Until  int `json:"until"` // the last part that something begun here reaches
	Steps  int `json:"steps"`
	Errors int `json:"errors"` // exchanges that failed or whose calls did
	Takes  int `json:"takes"`
}

// LastStep says how a run has ended so far. N is 0 if it has no step.
type LastStep struct {
	N       int64 // number of the exchange
	Outcome Outcome
	Calls   int  // its calls whose results have not reached the model
	Partial bool // it is ok, but its end is missing
}

// RunUse is the usage of exchanges of a run that are alike in all that prices
// depend on: the provider called, the model, and how the provider counts.
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
