package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// missingError describes why a reference names no exchange, as a sentence.
type missingError struct {
	status  int
	message string
}

func (e *missingError) Error() string { return e.message }

// isIDPart reports whether ref can be a part of an id, which is a UUID.
func isIDPart(ref string) bool {
	return len(ref) >= 4 && len(ref) <= 36 && strings.Trim(ref, "0123456789abcdef-") == ""
}

// named formats a reference, a number or a part of an id, for a sentence.
func named(letter, ref string) string {
	if strings.Trim(ref, "0123456789") == "" {
		return letter + ref
	}
	return "with " + ref + " in its id"
}

// find returns the exchange of a reference: 12, x12, last (also x:last, as the
// commands write it) or a unique part of an id. Anything else is rejected without
// asking the store.
func (s *server) find(ctx context.Context, ref string) (*transcript.Exchange, error) {
	if ref == "last" || ref == "x:last" {
		return s.last(ctx)
	}
	if n, err := strconv.ParseInt(strings.TrimPrefix(ref, "x"), 10, 64); err == nil && n > 0 && len(ref) < 20 {
		e, err := s.reader.ExchangeN(ctx, n)
		if !errors.Is(err, transcript.ErrNotFound) || strings.HasPrefix(ref, "x") || !isIDPart(ref) {
			return e, missing(err, "There is no exchange "+view.Ref(n)+" here.")
		}
	}
	if !isIDPart(ref) {
		return nil, &missingError{http.StatusNotFound, "That is no reference to an exchange. One looks like x12, last or a part of an id."}
	}
	ids, err := s.reader.FindExchanges(ctx, ref, 2)
	if err != nil {
		return nil, err
	}
	if len(ids) > 1 {
		return nil, &missingError{http.StatusNotFound, "Several exchanges have that in their id. Give a longer part of it."}
	}
	if len(ids) == 0 {
		return nil, &missingError{http.StatusNotFound, "There is no exchange " + named("x", ref) + " here."}
	}
	e, err := s.reader.Exchange(ctx, ids[0])
	return e, missing(err, "That exchange is gone.")
}

// findRun returns the run of a reference: 12, r12, last or a unique part of an id.
func (s *server) findRun(ctx context.Context, ref string) (*transcript.Run, error) {
	if ref == "last" {
		list, err := s.reader.Runs(ctx, transcript.RunFilter{Limit: 1})
		if err != nil || len(list) > 0 {
			return firstRun(list), err
		}
		return nil, &missingError{http.StatusNotFound, "Nothing is recorded yet."}
	}
	if n, err := strconv.ParseInt(strings.TrimPrefix(ref, "r"), 10, 64); err == nil && n > 0 && len(ref) < 20 {
		run, err := s.reader.RunN(ctx, n)
		if !errors.Is(err, transcript.ErrNotFound) || strings.HasPrefix(ref, "r") || !isIDPart(ref) {
			return run, missing(err, "There is no run "+view.RunRef(n)+" here.")
		}
	}
	if !isIDPart(ref) {
		return nil, &missingError{http.StatusNotFound, "That is no reference to a run. One looks like r12, last or a part of an id."}
	}
	ids, err := s.reader.FindRuns(ctx, ref, 2)
	if err != nil {
		return nil, err
	}
	if len(ids) > 1 {
		return nil, &missingError{http.StatusNotFound, "Several runs have that in their id. Give a longer part of it."}
	}
	if len(ids) == 0 {
		return nil, &missingError{http.StatusNotFound, "There is no run " + named("r", ref) + " here."}
	}
	run, err := s.reader.Run(ctx, ids[0])
	return run, missing(err, "That run is gone.")
}

// wholeRun reads the run of a reference, with its agents and steps.
func (s *server) wholeRun(ctx context.Context, ref string) (*view.Run, error) {
	run, err := s.findRun(ctx, ref)
	if err != nil {
		return nil, err
	}
	v, err := view.NewRun(ctx, s.reader, run, s.now())
	return v, missing(err, "Nothing of that run is left.")
}

func firstRun(list []transcript.RunSum) *transcript.Run {
	if len(list) == 0 {
		return nil
	}
	return &list[0].Run
}

func (s *server) last(ctx context.Context) (*transcript.Exchange, error) {
	for e, err := range s.reader.Exchanges(ctx, transcript.Filter{Limit: 1}) {
		return e, err
	}
	return nil, &missingError{http.StatusNotFound, "Nothing is recorded yet."}
}

func missing(err error, message string) error {
	if errors.Is(err, transcript.ErrNotFound) {
		return &missingError{http.StatusNotFound, message}
	}
	return err
}
