package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// looksLikeCall recognises the common forms of call ids.
var looksLikeCall = regexp.MustCompile(`^(call|toolu|functions|chatcmpl-tool|fc|srvtoolu)[_.-]`)

// resolve finds the exchange that ref means and says what to do if there is
// none.
func (a *app) resolve(ctx context.Context, r transcript.Reader, ref string) (*transcript.Exchange, error) {
	e, err := view.Resolve(ctx, r, ref)
	switch {
	case errors.Is(err, view.ErrBadRef) && looksLikeCall.MatchString(ref):
		return nil, fmt.Errorf(`no exchange %q: that looks like a call id; "inspect ls" lists exchanges: %w`, ref, transcript.ErrNotFound)
	case errors.Is(err, transcript.ErrNotFound) && ref == "x:last":
		return nil, fmt.Errorf("nothing is recorded yet: %w", transcript.ErrNotFound)
	case errors.Is(err, transcript.ErrNotFound):
		return nil, fmt.Errorf(`no exchange %q; "inspect ls --limit 0" lists them all: %w`, ref, transcript.ErrNotFound)
	}
	return e, err
}
