package view

import (
	"slices"

	"github.com/retake-debugger/retake/transcript"
)

// triedAgain returns the exchanges with a further attempt at their step. Their
// calls count only if they have results: clients do not run the calls of an answer
// that was cut and retried.
func triedAgain(list []*transcript.Exchange, takes map[string]*transcript.Take) map[string]bool {
	again, seen := map[string]bool{}, attempts{}
	for _, e := range slices.Backward(list) {
		if seen.later(e, takes[e.ID] != nil) {
			again[e.ID] = true
		}
	}
	return again
}

// attempts are the steps whose exchanges were seen, newest first. Which exchange is an attempt
// at which step was decided when it was stored (ingest/link/attempt.go).
type attempts map[attempted]bool

type attempted struct {
	agent, parent string
	step          int
	take          bool
}

// later reports whether a later attempt at the same step was seen.
func (a attempts) later(e *transcript.Exchange, take bool) bool {
	k := attempted{e.Link.Agent, e.Link.Parent, e.Link.Step, take}
	later := a[k]
	if a[k] = true; e.Link.Agent == "" || e.Link.Attempt < 2 {
		delete(a, k) // anything before its first attempt is another branch
	}
	return later
}
