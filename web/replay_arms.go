package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// mostArms bounds how many models are compared at once.
const mostArms = 12

// plannedArm is one arm of a sample, as it would be sent.
type plannedArm struct {
	Name           string
	N              int
	Host, Variable string
	Bytes          int
	Control        bool
	Losses         []dialect.Loss // the first of them
	Lost           int            // how many there are
}

// lossesShown is how many losses of an arm a plan lists.
const lossesShown = 20

// targets reads the models to compare: MODEL or MODEL@PROVIDER, one a line. A page
// sends only to well-known providers; any other address has to be named when the
// program starts.
func (p *replayPage) targets() ([]replay.Target, error) {
	var list []replay.Target
	for line := range strings.Lines(p.Models) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		t := replay.Target{To: transcript.Dialect(p.To)}
		t.Model, t.Upstream = replay.ModelAt(line)
		if t.Upstream != "" && !t.IsProvider() {
			return nil, fmt.Errorf("a page sends to well-known providers alone, such as MODEL@openrouter: inspect replay --model takes %s", line)
		}
		if slices.Contains(list, t) {
			return nil, fmt.Errorf("%s is named twice", t.Name())
		}
		list = append(list, t)
	}
	if len(list) > mostArms {
		return nil, fmt.Errorf("at most %d models can be compared at once", mostArms)
	}
	if len(list) == 0 {
		list = append(list, replay.Target{To: transcript.Dialect(p.To)})
	}
	return list, nil
}

// planArms returns what each arm sends, or why it cannot.
func (s *server) planArms(ready *replay.Ready) (list []plannedArm, noKey string) {
	for i := range ready.Arms {
		a := &ready.Arms[i]
		variable, missing := s.keyOf(a.Request)
		list = append(list, plannedArm{Name: a.Name, N: ready.Plan.Takes, Host: a.Request.Host(), Variable: variable, Bytes: len(a.Request.Body), Control: a.Name == replay.Control,
			Losses: a.Losses[:min(len(a.Losses), lossesShown)], Lost: len(a.Losses)})
		if missing != "" && noKey == "" {
			noKey = a.Name + ": " + missing
		}
	}
	return list, noKey
}
