package view

import (
	"errors"
	"slices"
	"strings"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// scan searches by reading exchanges, newest first.
type scan struct {
	*finder
	memory dialect.Memory
	turns  [scanTurns]*scanned // read last
	next   int
}

type scanned struct {
	id   string
	turn *transcript.Turn
}

// scanTurns is how many turns a scan remembers: an exchange is needed for itself and for
// those that continue it.
const scanTurns = 8

func (f *finder) scanAll() error {
	sc := scan{finder: f}
	return sc.all(0)
}

// scanUnindexed scans what is not in the index.
func (f *finder) scanUnindexed(state transcript.SearchState) error {
	if state.Lag == 0 {
		return nil
	}
	sc := scan{finder: f}
	if err := sc.all(state.Done); err != nil {
		return err
	}
	list, err := f.reader.Unindexed(f.ctx, int(state.Lag))
	if err != nil {
		return err
	}
	for _, u := range slices.Backward(list) {
		if u.N > state.Done {
			continue
		}
		e, err := f.reader.ExchangeN(f.ctx, u.N)
		if errors.Is(err, transcript.ErrNotFound) || errors.Is(err, transcript.ErrDamaged) {
			continue
		}
		if err == nil {
			err = sc.exchange(e, true)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// all scans the exchanges after a number.
func (s *scan) all(after int64) error {
	q := &s.search.SearchQuery
	for e, err := range s.reader.Exchanges(s.ctx, transcript.Filter{Run: q.Run, Model: q.Model, Outcome: q.Outcome, After: after}) {
		if errors.Is(err, transcript.ErrDamaged) {
			continue
		}
		if err == nil {
			err = s.exchange(e, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *scan) exchange(e *transcript.Exchange, whole bool) error {
	if !passes(e, &s.search.SearchQuery) {
		return nil
	}
	turn, err := s.turn(e)
	if err != nil {
		return err
	}
	shared, before := e.Link.Shared, transcript.Known(nil)
	if whole || e.Link.Parent == "" {
		shared = 0
	} else if parent, err := s.reader.Exchange(s.ctx, e.Link.Parent); err != nil {
		shared = 0
	} else if turn, err := s.turn(parent); err == nil {
		before = transcript.KnownOf(turn)
	}
	introduced := transcript.IntroducedBy(e, turn, shared, before)
	if err := transcript.NameTools(s.ctx, s.reader, e, introduced); err != nil {
		return err
	}
	summarised := false
	for _, b := range slices.Backward(introduced) {
		if c, ok := s.candidate(e, b, 0); ok {
			if !summarised {
				list, err := s.reader.Summaries(s.ctx, []int64{e.N})
				if err != nil {
					return err
				}
				e.Link.Replay, summarised = len(list) > 0 && list[0].Link.Replay, true
			}
			c.hit.Replay = e.Link.Replay
			if err := s.show(&c); err != nil {
				return err
			}
		}
	}
	return s.ctx.Err()
}

// passes reports whether an exchange passes the filters.
func passes(e *transcript.Exchange, q *transcript.SearchQuery) bool {
	model := strings.ToLower(q.Model)
	return (strings.Contains(strings.ToLower(e.Model), model) || strings.Contains(strings.ToLower(e.ResponseModel), model)) &&
		(q.Run == "" || e.Link.Run == q.Run) &&
		(q.Status == [2]int{} || e.Status >= q.Status[0] && e.Status <= q.Status[1]) &&
		(q.Outcome == "" || e.Outcome == q.Outcome) &&
		(q.After.IsZero() || !e.StartedAt.Before(q.After)) &&
		(q.Before.IsZero() || !e.StartedAt.IsZero() && e.StartedAt.Before(q.Before))
}

// turn reads an exchange. What cannot be read is empty.
func (s *scan) turn(e *transcript.Exchange) (*transcript.Turn, error) {
	for _, t := range s.turns {
		if t != nil && t.id == e.ID {
			return t.turn, nil
		}
	}
	turn := &transcript.Turn{}
	if b, err := history.Read(s.ctx, s.reader, e); err == nil {
		turn = dialect.Read(&s.memory, e.Dialect, b.Wire(e)).Turn
	}
	s.turns[s.next%scanTurns] = &scanned{e.ID, turn}
	s.next++
	return turn, s.ctx.Err()
}
