package view

import (
	"cmp"
	"strings"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// Agent is a chain of steps, with the branches that leave it.
type Agent struct {
	ID         string            `json:"id"`
	N          int               `json:"n"` // its number in the run, from 1
	Ref        string            `json:"ref"`
	Key        string            `json:"name"` // the client's name for it
	Role       string            `json:"role"` // "main" or "sub"
	ParentCall *string           `json:"parent_call"`
	Parent     *transcript.Place `json:"parent_at"`    // place of that call
	ParentOf   string            `json:"parent_agent"` // id of the agent that made it
	Evidence   string            `json:"evidence"`
	Steps      []*Step           `json:"steps"`
	Branches   []*Branch         `json:"branches"`
	Candidates int               `json:"candidates"` // takes of a minimisation, which are not among the branches
}

// Step is one logical model call.
type Step struct {
	N            int                `json:"n"`
	Ref          string             `json:"ref"`      // r1.3, r1/a2.3 of another agent, x7 of a branch
	Exchange     string             `json:"exchange"` // id of its last attempt
	ExchangeN    int64              `json:"exchange_n"`
	Attempts     []Attempt          `json:"attempts_in_full"`
	AttemptIDs   []string           `json:"attempts"` // ids of all its exchanges, in order
	Outcome      transcript.Outcome `json:"outcome"`
	Complete     bool               `json:"complete"`
	FinishReason *string            `json:"finish_reason"`
	StartedAt    *time.Time         `json:"started_at"`
	DurationMS   *float64           `json:"duration_ms"` // of its last attempt
	WholeMS      *float64           `json:"whole_ms"`    // including earlier attempts and the pauses between; nil for one attempt
	Model        string             `json:"model"`
	Calls        int                `json:"calls"`
	Tools        []string           `json:"tools"`   // that it called, in order
	Results      int                `json:"results"` // results that the request introduced
	Usage        *transcript.Usage  `json:"usage"`
	CostUSD      *string            `json:"cost_usd"`
	Preview      string             `json:"preview"`
	Link         Link               `json:"link"`
	Parent       string             `json:"parent"`  // id of the exchange whose history it extends
	TakeOf       string             `json:"take_of"` // id of the exchange that its take replays
	Take         string             `json:"take"`    // reference of that take

	exchange *transcript.Exchange
}

// Attempt is one exchange of a step.
type Attempt struct {
	Exchange   string             `json:"exchange"`
	ExchangeN  int64              `json:"exchange_n"`
	Status     int                `json:"status"`
	Outcome    transcript.Outcome `json:"outcome"`
	Error      *transcript.Error  `json:"error"`
	DurationMS *float64           `json:"duration_ms"`
}

// Branch is a chain of steps that leaves an agent's line: another continuation of
// the same history.
type Branch struct {
	From    int     `json:"from"`    // number of the step that it continues, 0 for a new beginning
	After   string  `json:"after"`   // id of that step's exchange
	Take    string  `json:"take_of"` // reference of what it replays, "" for no replay
	TakeRef string  `json:"take"`    // reference of the take that sent its first step
	Steps   []*Step `json:"steps"`
}

// SideCall is an exchange outside the agents: a title, a probe, a token count.
type SideCall struct {
	Exchange  string             `json:"exchange"`
	ExchangeN int64              `json:"exchange_n"`
	StartedAt *time.Time         `json:"started_at"`
	Method    string             `json:"method"`
	URL       string             `json:"url"`
	Status    int                `json:"status"`
	Outcome   transcript.Outcome `json:"outcome"`
	Model     string             `json:"model"`
	Preview   string             `json:"preview"`
	Usage     *transcript.Usage  `json:"usage"`
	Link      Link               `json:"link"`
}

// ShortName returns the end of the client's name for the agent, because the ends
// differ.
func (a *Agent) ShortName() string {
	name := a.Key[strings.LastIndexAny(a.Key, ":/")+1:]
	if r := []rune(name); len(r) > shortName {
		name = string(r[:shortName-1]) + "…"
	}
	return name
}

const shortName = 24

// FoundBy describes the evidence for the agent.
func (a *Agent) FoundBy() string {
	switch a.Evidence {
	case "header":
		return "named by its client"
	case "prompt_match":
		return "its prompt is what the call passed on"
	}
	return a.Evidence
}

// Partial reports whether the step's answer is incomplete although the connection
// ended normally.
func (s *Step) Partial() bool { return isPartial(s.exchange) }

// Failed reports whether the step's last attempt failed.
func (s *Step) Failed() bool {
	return s.Outcome != transcript.OK && s.Outcome != transcript.InProgress
}

// Models returns the requested model of a step, and the one that answered if it
// differs.
func (s *Step) Models() (asked, answered string) {
	return cmp.Or(s.exchange.Model, s.exchange.ResponseModel), s.exchange.ResponseModel
}
