package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// planError adds a hint to the error of a plan.
func (x *replaying) planError(err error) error {
	var edit *replay.EditError
	var expect *replay.ExpectError
	switch {
	case errors.As(err, &edit):
		return x.editError(edit)
	case errors.As(err, &expect) && expect.What == "tool":
		return usageError{fmt.Errorf("--expect-tool %q: %w", x.plan.Expect.Tool, expect.Err)}
	case errors.As(err, &expect):
		return usageError{fmt.Errorf("--expect-text: %w", expect.Err)}
	case errors.Is(err, replay.ErrExpectNothing):
		return usageError{fmt.Errorf("%w, with --expect-tool, --expect-text or --check", err)}
	case errors.Is(err, replay.ErrFinished):
		return usageError{fmt.Errorf("%w: no call is open; replay one of its steps instead (inspect takes %s)", err, x.f.resume)}
	case errors.Is(err, replay.ErrOtherDialect):
		return usageError{fmt.Errorf("--resume %w: to convert it, replay one of its steps (inspect show %s names them)", err, x.f.resume)}
	case errors.Is(err, replay.ErrNoResult), errors.Is(err, replay.ErrNoCall):
		return fmt.Errorf("%w; what is in it is listed by: inspect show %s", err, view.Ref(x.plan.Origin.N))
	case errors.Is(err, replay.ErrEdit), errors.Is(err, replay.ErrUpstream):
		return usageError{err}
	}
	return err
}

// editError adds a hint to the error of an edit.
func (x *replaying) editError(err *replay.EditError) error {
	flag := "--set-result"
	if err.Edit.Op == transcript.SetArgs {
		flag = "--set-args"
	}
	usage := fmt.Errorf("%s %s: %w", flag, err.Edit.CallID, err.Err)
	var none *replay.NoOpenCallError
	switch {
	case errors.As(err.Err, &none):
		return notFound(fmt.Sprintf("%v in %s; it has %s", usage, x.f.resume, openCalls(none.Open)))
	case errors.Is(err.Err, replay.ErrLaterResult):
		usage = fmt.Errorf("%s %s: that result comes later; without --once the take gets there", flag, err.Edit.CallID)
	case errors.Is(err.Err, replay.ErrAfterAnswer):
		usage = fmt.Errorf("%w: replay the step that introduces it, or look at the end (--expect-text, --check)", usage)
	}
	return usageError{usage}
}

func openCalls(calls []*replay.Call) string {
	var names []string
	for _, c := range calls {
		names = append(names, word(c.CallID))
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}
