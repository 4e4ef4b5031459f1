package transcript

import (
	"slices"
	"time"
)

// Take is one replay: which exchange was sent again with which edits, and what
// came of it.
type Take struct {
	ID         string
	N          int64     // its number in this database, from 1; shown as tN
	Origin     string    // id of the exchange that was replayed
	Parent     string    // id of the take that it goes on from, "" if it begins at Origin
	Mode       TakeMode  //
	Edits      string    // JSON array of edits
	Reason     string    // why it was made, in the user's words
	Group      string    // takes with the same group are compared; "" if it stands alone
	Arm        string    // which of the compared variants it is
	CreatedAt  time.Time //
	EndedAt    time.Time // zero while it goes on, and if it was killed
	Outcome    Outcome   // of its last request; InProgress while it goes on
	StopReason StopReason
	Steps      []TakeStep
	Results    []TakeResult
}

// TakeMode is how far a take goes.
type TakeMode string

// The modes of takes.
const (
	Once     TakeMode = "once"     // one request
	Continue TakeMode = "continue" // goes on, with tool results, until the model is done
)

// StopReason says why a take sent no further request.
type StopReason string

// The reasons for which takes stop.
const (
	StopOnce       StopReason = "once"        // its mode was Once
	StopAnswered   StopReason = "answered"    // the model called no more tools
	StopOpenCalls  StopReason = "open_calls"  // no source had a result for one of the calls
	StopOpenAsk    StopReason = "open_ask"    // the model asks for something that is no tool result, such as an approval
	StopIncomplete StopReason = "incomplete"  // the answer was cut short, for example by a limit on its tokens
	StopFailed     StopReason = "failed"      // a request failed, or was refused
	StopSource     StopReason = "source"      // a source of tool results failed
	StopSteps      StopReason = "max_steps"   // limits of the take
	StopTokens     StopReason = "max_tokens"  //
	StopCost       StopReason = "max_cost"    //
	StopTimeout    StopReason = "timeout"     //
	StopInterrupt  StopReason = "interrupted" // a user stopped it
	StopNone       StopReason = ""            // it goes on, or was killed
)

// The arms of the takes of a minimisation.
const (
	CandidateArm = "candidate" // requests that were tried; lists leave them out
	SmallestArm  = "smallest"  // the smallest one, sent again at the end
)

// SampleNote is the name of the note with the report on the takes of a group, of a
// sample or a minimisation. It is removed with the last of them.
func SampleNote(group string) string { return "sample " + group }

// TakeStep is one exchange that a take sent.
type TakeStep struct {
	Exchange string `json:"exchange"`
	Step     int    `json:"step"`    // which step of the take, from 1; 0 for a side call: a model that plays a tool
	Attempt  int    `json:"attempt"` // which attempt at the step, from 1
}

// TakeResult is a tool result that a take gave the model, and where it came from.
type TakeResult struct {
	CallID   string `json:"call_id"`
	Name     string `json:"name"`
	Source   Source `json:"source"`
	Exchange string `json:"exchange"`       // whose request carried it to the model, "" while none has
	From     string `json:"from,omitempty"` // recorded: the exchange whose request carried it; simulated: the side call
	// What a tool returned, while no request holds it: a take that goes on from
	// this one need not run the tool again.
	Text    string `json:"text,omitempty"`
	IsError bool   `json:"is_error,omitempty"`
}

// Waits reports whether no request has carried the result to the model.
func (r *TakeResult) Waits() bool { return r.Exchange == "" }

// Source names where a tool result of a take came from.
type Source string

// The sources of tool results.
const (
	FromEdit      Source = "edited"
	FromRecording Source = "recorded"
	FromExec      Source = "exec"
	FromHTTP      Source = "http"
	FromMCP       Source = "mcp"
	FromAsk       Source = "ask"
	FromModel     Source = "simulated"
)

// Last returns the exchange of its last step, "" if it has none.
func (t *Take) Last() string {
	last := TakeStep{}
	for _, s := range t.Steps {
		if s.Step > 0 && s.Step >= last.Step {
			last = s
		}
	}
	return last.Exchange
}

// Sent reports whether the take sent that exchange.
func (t *Take) Sent(exchange string) bool {
	return slices.ContainsFunc(t.Steps, func(s TakeStep) bool { return s.Exchange == exchange })
}

// TakePlace is the place of an exchange that a take sent.
type TakePlace struct {
	TakeStep
	N      int64  // number of the take
	Origin string // the exchange that was replayed
	Before string // the exchange of the step before, perhaps of the take that it goes on from; "" if there is none
}
