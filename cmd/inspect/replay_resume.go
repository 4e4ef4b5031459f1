package main

import (
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/transcript"
)

// dryResume prints the request with which a take continues. It lists results that
// are unknown until a tool runs, and then returns errFindings.
func (x *replaying) dryResume(r transcript.Reader) error {
	req, stood, err := x.ready.Next(x.ctx, r)
	if err != nil {
		return err
	}
	if err := x.printDryRun(req); err != nil || len(stood) == 0 {
		return err
	}
	var calls []string
	for _, p := range stood {
		calls = append(calls, fmt.Sprintf("%s %s (%s)", word(p.Call.Name), word(p.Call.CallID), p.Source))
	}
	fmt.Fprintf(x.err, "inspect: nothing was run: placeholders stand for the results of %s\n", strings.Join(calls, ", "))
	return errFindings
}
