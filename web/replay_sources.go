package web

import (
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

const (
	usualSteps    = 20
	mostSteps     = 500
	longestAmount = 30 // characters of an amount
	usualRetries  = 4
)

// howPlayed is the part of a form on the sources of results and the limits of a
// take.
type howPlayed struct {
	Results   string // one of the constants below
	Simulate  string // the model that plays tools
	Tools     []toolChoice
	MaxSteps  int
	MaxTokens string // as they were typed; "" for none
	MaxCost   string
	Timeout   string

	limits replay.Limits
}

// toolChoice is a tool that this program was started with.
type toolChoice struct {
	Name string
	On   bool

	tool replay.SourceSpec
}

// The sources of results that the user did not edit.
const (
	resultsRecorded  = "recorded"           // the recording, as far as it fits
	resultsBoth      = "recorded-simulated" // the same, and a model where it does not
	resultsSimulated = "simulated"          // a model alone
	resultsStop      = "stop"               // nowhere: the take stops at the first call
)

func (s *server) newHowPlayed() howPlayed {
	h := howPlayed{Results: resultsRecorded, MaxSteps: usualSteps}
	for _, t := range s.replaying.Tools {
		h.Tools = append(h.Tools, toolChoice{Name: t.Name, tool: t})
	}
	return h
}

// read copies the form's values. It returns what is wrong with them.
func (h *howPlayed) read(c *gin.Context) string {
	switch r := c.PostForm("results"); r {
	case resultsBoth, resultsSimulated, resultsStop:
		h.Results = r
	}
	h.Simulate = strings.TrimSpace(c.PostForm("simulate"))
	for i := range h.Tools {
		h.Tools[i].On = c.PostForm("tool."+strconv.Itoa(i)) != ""
	}
	if h.simulates() && h.Simulate == "" {
		return "Name the model that plays the tools."
	}
	if n, err := strconv.Atoi(c.PostForm("max_steps")); err == nil && n > 0 {
		h.MaxSteps = min(n, mostSteps)
	}
	h.MaxTokens, h.MaxCost, h.Timeout = strings.TrimSpace(c.PostForm("max_tokens")), strings.TrimSpace(c.PostForm("max_cost")), strings.TrimSpace(c.PostForm("timeout"))
	var wrong string
	h.limits, wrong = h.readLimits()
	return wrong
}

func (h *howPlayed) readLimits() (replay.Limits, string) {
	l := replay.Limits{Steps: h.MaxSteps}
	if h.MaxTokens != "" {
		n, err := strconv.ParseInt(h.MaxTokens, 10, 64)
		if err != nil || n < 1 {
			return l, "Tokens are a number, such as 200000."
		}
		l.Tokens = n
	}
	var err error
	if l.Cost, err = dollarsTyped(h.MaxCost); err != nil {
		return l, sentence(err)
	}
	if h.Timeout != "" {
		d, err := time.ParseDuration(h.Timeout)
		if err != nil || d <= 0 {
			return l, "A time is a number with its unit, such as 90s or 5m."
		}
		l.Time = d
	}
	return l, ""
}

func (h *howPlayed) simulates() bool {
	return h.Results == resultsBoth || h.Results == resultsSimulated
}

func (h *howPlayed) plan() *replay.Plan {
	sources := []replay.SourceSpec{{From: transcript.FromEdit}}
	if h.Results == resultsRecorded || h.Results == resultsBoth {
		sources = append(sources, replay.SourceSpec{From: transcript.FromRecording})
	}
	for i := range h.Tools {
		if h.Tools[i].On {
			sources = append(sources, h.Tools[i].tool)
		}
	}
	if h.simulates() {
		sources = append(sources, replay.SourceSpec{From: transcript.FromModel, Model: h.Simulate})
	}
	return &replay.Plan{Sources: sources, Limits: h.limits, Retries: usualRetries, Reason: fromViewer}
}
