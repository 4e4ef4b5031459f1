package link

import (
	"errors"
	"strings"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// beside reports whether this is a side call of a session: a first request without
// tools, where others have tools, such as the making of a title. It does not matter
// which came first: when the one with tools comes, the others become side calls.
func (k *linker) beside() (bool, error) {
	e := k.d.Exchange
	if k.id == (transcript.Identity{}) || k.id.IsSub() {
		return false, nil
	}
	plain := e.Tools == 0 && e.Calls == 0
	firsts, err := k.tx.Firsts(e.Link.Run, mostFirsts)
	if err != nil {
		return false, err
	}
	for _, other := range firsts {
		if other.ID == e.ID || other.Link.Side || other.Dialect == transcript.Unknown {
			continue
		}
		switch {
		case plain && other.Tools > 0:
			e.Link.Side, e.Link.Agent = true, ""
			return true, nil
		case !plain && other.Tools == 0 && other.Calls == 0:
			extended, err := k.tx.Extended(other.ID)
			if err != nil {
				return false, err
			}
			isSub, err := k.isSub(other)
			if err != nil {
				return false, err
			}
			if !extended && !isSub {
				if err := k.tx.SetSide(other.ID); err != nil {
					return false, err
				}
				k.aside = append(k.aside, other.ID)
			}
		}
	}
	return false, nil
}

// isSub reports whether another agent's call started the agent of an exchange.
func (k *linker) isSub(e *transcript.Exchange) (bool, error) {
	a, err := k.tx.Agent(k.ctx, e.Link.Agent)
	if errors.Is(err, transcript.ErrNotFound) {
		return false, nil
	}
	return err == nil && !a.Main, err
}

// mostFirsts bounds how many first requests of a run are considered.
const mostFirsts = 64

const (
	lately     = 16 // exchanges that are looked at
	atOnce     = time.Minute
	headerName = "User-Agent"
)

// runAtTheTime returns the run of a side call without other evidence (a model list,
// an embedding, a token count): the only one that the same client had under way
// within a minute. "" if there is none, or several.
func (k *linker) runAtTheTime() (string, error) {
	e := k.d.Exchange
	if e.Dialect != transcript.Unknown || agentOf(e) == "" {
		return "", nil
	}
	run := ""
	for other, err := range k.tx.Exchanges(k.ctx, transcript.Filter{Before: e.N, Limit: lately}) {
		if err != nil {
			return "", err
		}
		if other.Dialect == transcript.Unknown || other.Upstream != e.Upstream || agentOf(other) != agentOf(e) || !k.before(other) {
			continue
		}
		if e.StartedAt.Sub(ended(other)) > atOnce || other.Link.Run == run {
			continue
		}
		if run != "" {
			return "", nil
		}
		run = other.Link.Run
	}
	if run != "" {
		e.Link.By, e.Link.Evidence = transcript.ByTime, "the only run that its client had under way"
	}
	return run, nil
}

func ended(e *transcript.Exchange) time.Time {
	if e.EndedAt.IsZero() {
		return e.StartedAt
	}
	return e.EndedAt
}

// agentOf returns the user agent of a request.
func agentOf(e *transcript.Exchange) string {
	for name, values := range e.Request.Headers {
		if strings.EqualFold(name, headerName) {
			return strings.Join(values, ", ")
		}
	}
	return ""
}
