package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// notFound is a transcript.ErrNotFound with advice.
type notFound string

func (n notFound) Error() string        { return string(n) }
func (n notFound) Is(target error) bool { return target == transcript.ErrNotFound }

// looksLikeCall recognises the common forms of call ids.
var looksLikeCall = regexp.MustCompile(`^(call|toolu|functions|chatcmpl-tool|fc|srvtoolu)[_.-]`)

// resolve finds the exchange that ref means and says what to do if there is
// none.
func (a *app) resolve(ctx context.Context, r transcript.Reader, ref string) (*transcript.Exchange, error) {
	e, err := view.Resolve(ctx, r, ref)
	switch {
	case errors.Is(err, view.ErrBadRef) && looksLikeCall.MatchString(ref):
		return nil, notFound(fmt.Sprintf(`no exchange %q: that looks like a call id; "inspect ls" lists exchanges`, ref))
	case errors.Is(err, transcript.ErrNotFound) && ref == "x:last":
		return nil, notFound("nothing is recorded yet")
	case errors.Is(err, transcript.ErrNotFound):
		return nil, notFound(fmt.Sprintf(`no exchange %q; "inspect ls --limit 0" lists them all`, ref))
	}
	return e, err
}
