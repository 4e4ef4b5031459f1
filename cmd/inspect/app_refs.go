package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// notFound is a transcript.ErrNotFound with a hint.
type notFound string

func (n notFound) Error() string        { return string(n) }
func (n notFound) Is(target error) bool { return target == transcript.ErrNotFound }

// looksLikeCall recognises the common forms of call ids.
var looksLikeCall = regexp.MustCompile(`^(call|toolu|functions|chatcmpl-tool|fc|srvtoolu)[_.-]`)

// resolve finds the exchange of a reference. Its errors include a hint.
func (a *app) resolve(ctx context.Context, r transcript.Reader, ref string) (*transcript.Exchange, error) {
	e, err := view.Resolve(ctx, r, ref)
	return e, whatIsMissing(err, ref)
}

// resolveRun finds the run of a reference, or the run of its exchange.
func (a *app) resolveRun(ctx context.Context, r transcript.Reader, ref string) (*transcript.Run, error) {
	run, err := view.ResolveRun(ctx, r, ref)
	return run, whatIsMissing(err, ref)
}

// openRun opens the database and reads the run of a reference. If there is no
// error, the caller closes the database.
func (a *app) openRun(ctx context.Context, ref string) (*store.DB, *view.Run, error) {
	db, err := a.open()
	if err != nil {
		return nil, nil, err
	}
	run, err := a.resolveRun(ctx, db, ref)
	if err == nil {
		var whole *view.Run
		if whole, err = view.NewRun(ctx, db, run, time.Now()); err == nil {
			return db, whole, nil
		}
	}
	return nil, nil, errors.Join(err, db.Close())
}

// locate finds the target of a reference.
func (a *app) locate(ctx context.Context, r transcript.Reader, ref string) (*view.Target, error) {
	t, err := view.Locate(ctx, r, ref)
	return t, whatIsMissing(err, ref)
}

// whatIsMissing adds a hint to the error of a reference.
func whatIsMissing(err error, ref string) error {
	switch {
	case errors.Is(err, view.ErrBadRef) && looksLikeCall.MatchString(ref):
		return notFound(fmt.Sprintf(`no exchange %q: that looks like a call id; "inspect search" finds it`, ref))
	case errors.Is(err, view.ErrIsNoRun):
		return notFound(ref + " belongs to no run")
	case errors.Is(err, transcript.ErrNotFound) && (ref == "x:last" || ref == "last"):
		return notFound("nothing is recorded yet")
	case errors.Is(err, transcript.ErrNotFound) && (strings.HasPrefix(ref, "r") || strings.HasPrefix(ref, "last")):
		return notFound(fmt.Sprintf(`no %q; "inspect ls --limit 0" lists all runs, "inspect tree" the steps of one`, ref))
	case errors.Is(err, transcript.ErrNotFound):
		return notFound(fmt.Sprintf(`no exchange %q; "inspect ls --exchanges --limit 0" lists them all`, ref))
	}
	return err
}
