package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

// inRun makes an exchange a step of an agent.
func inRun(e *transcript.Exchange, run, agent string, step, attempt int) *transcript.Exchange {
	e.Link.Run, e.Link.Agent, e.Link.Step, e.Link.Attempt = run, agent, step, attempt
	e.EndedAt = e.StartedAt.Add(time.Second)
	return e
}

func newRuns(t *testing.T, s transcript.Store, n int) (list []*transcript.Run) {
	update(t, s, func(tx transcript.Tx) error {
		for i := range n {
			run, err := tx.NewRun(base.Add(time.Duration(i) * time.Hour))
			if err != nil {
				return err
			}
			list = append(list, run)
		}
		return nil
	})
	return list
}

func marks(t *testing.T, s transcript.Store) {
	list := newRuns(t, s, 2)
	first, second := list[0].ID, list[1].ID
	one, two, three := inRun(plain(1), first, id(70), 1, 1), inRun(plain(2), second, id(71), 1, 1), inRun(plain(3), second, id(71), 2, 1)
	put(t, s, one, two, three)
	mark := func(run string, m transcript.Marks) error {
		return s.Update(t.Context(), func(tx transcript.Tx) error { return tx.PutMarks(run, &m) })
	}
	want := func(run string, m transcript.Marks) {
		t.Helper()
		got, err := s.Marks(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "marks", *got, m)
	}
	want(first, transcript.Marks{})
	if err := mark(first, transcript.Marks{Name: "mine", Tags: []string{"b", "a", "b"}}); err != nil {
		t.Fatal(err)
	}
	want(first, transcript.Marks{Name: "mine", Tags: []string{"a", "b"}})
	if err := mark(second, transcript.Marks{Name: "other", Note: "n", Tags: []string{"b", "c"}, Pinned: true}); err != nil {
		t.Fatal(err)
	}
	if err := mark(id(99), transcript.Marks{Name: "x"}); !errors.Is(err, transcript.ErrNotFound) {
		t.Errorf("marks of no run: %v", err)
	}
	for _, f := range []transcript.RunFilter{{Tag: "c"}, {Pinned: true}, {IDs: []string{second}}, {Limit: 1}} {
		got, err := s.Runs(t.Context(), f)
		if err != nil || len(got) != 1 || got[0].ID != second || got[0].Marks.Note != "n" {
			t.Errorf("%+v: %v, %v", f, got, err)
		}
	}
	// The second run becomes part of the first: so do its marks.
	update(t, s, func(tx transcript.Tx) error {
		for _, e := range []*transcript.Exchange{two, three} {
			e.Link.Run = first
			if err := tx.PutDerived(e, nil, nil); err != nil {
				return err
			}
		}
		return nil
	})
	want(first, transcript.Marks{Name: "mine", Note: "n", Tags: []string{"a", "b", "c"}, Pinned: true})
	want(second, transcript.Marks{})
	if err := mark(first, transcript.Marks{}); err != nil {
		t.Fatal(err)
	}
	want(first, transcript.Marks{})
}

func overrides(t *testing.T, s transcript.Store) {
	put(t, s, plain(1), plain(2))
	word := transcript.Override{Exchange: id(2), Verb: transcript.LinkTo, To: id(1), At: base}
	update(t, s, func(tx transcript.Tx) error {
		if _, err := tx.Override(id(2)); !errors.Is(err, transcript.ErrNotFound) {
			t.Errorf("nothing said: %v", err)
		}
		if err := tx.PutOverride(&transcript.Override{Exchange: id(9), Verb: transcript.Unlink}); !errors.Is(err, transcript.ErrNotFound) {
			t.Errorf("a word on no exchange: %v", err)
		}
		return errors.Join(tx.PutOverride(&transcript.Override{Exchange: id(2), Verb: transcript.Unlink, At: base}), tx.PutOverride(&word))
	})
	got, err := s.Before(1).Override(id(2))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "word", *got, word)
	update(t, s, func(tx transcript.Tx) error {
		for _, want := range []bool{true, false} {
			if gone, err := tx.DropOverride(id(2)); err != nil || gone != want {
				t.Errorf("dropped %v, %v, want %v", gone, err, want)
			}
		}
		return nil
	})
}

func runSums(t *testing.T, s transcript.Store) {
	list := newRuns(t, s, 2)
	run, agent := list[0].ID, id(70)
	failed, again, side, take := inRun(plain(1), run, agent, 1, 1), inRun(plain(2), run, agent, 1, 2), inRun(plain(3), run, "", 0, 0), inRun(plain(5), run, agent, 2, 1)
	failed.Outcome, failed.Preview = transcript.HTTPError, "do it"
	failed.Calls = 2 // that were never run: the step was tried again
	again.Calls, again.Usage = 1, &transcript.Usage{InputTotal: 10, Output: 2, Total: 12, Complete: true}
	side.Link.Side, side.Preview = true, "a title"
	last := inRun(plain(4), run, agent, 2, 1)
	last.Complete = true
	last.Usage, last.ResponseModel = &transcript.Usage{InputTotal: 20, Output: 3, Total: 23, Complete: true}, "gpt-5-1"
	take.Usage, take.ResponseModel = last.Usage, "mistral" // of a replay that asks another model
	other := inRun(plain(6), list[1].ID, id(71), 1, 1)
	update(t, s, func(tx transcript.Tx) error {
		return errors.Join(tx.PutAgent(&transcript.Agent{ID: agent, Run: run, Main: true}), tx.PutAgent(&transcript.Agent{ID: id(71), Run: list[1].ID, Main: true}))
	})
	put(t, s, failed, again, side, last, take, other)
	update(t, s, func(tx transcript.Tx) error {
		return errors.Join(
			tx.PutTake(&transcript.Take{ID: id(80), Origin: last.ID, Steps: []transcript.TakeStep{{Exchange: take.ID, Step: 1, Attempt: 1}}}),
			tx.PutCall(transcript.CallRow{Exchange: failed.ID, At: "/x", Name: "f"}), tx.PutCall(transcript.CallRow{Exchange: failed.ID, At: "/y", Name: "f"}),
			tx.PutCall(transcript.CallRow{Exchange: again.ID, At: "/x", Name: "f"}),
			tx.PutResult(again.ID, "/x", transcript.ResultRow{Exchange: last.ID, At: "/y", By: "id", IsError: true}))
	})
	got, err := s.Runs(t.Context(), transcript.RunFilter{})
	if err != nil || len(got) != 2 {
		t.Fatalf("%d runs, %v", len(got), err)
	}
	same(t, "order", []int64{got[0].N, got[1].N}, []int64{2, 1})
	same(t, "sum", got[1], transcript.RunSum{
		Run:   transcript.Run{ID: run, N: 1, StartedAt: failed.StartedAt},
		Topic: "do it", EndedAt: last.EndedAt, Models: []string{"gpt-5-1"}, Agents: 1, Steps: 2, Exchanges: 5, Side: 1, Takes: 1,
		Calls: 1, Failed: 0, Errors: 1, Results: 1, Usage: &transcript.Usage{InputTotal: 30, Output: 5, Total: 35, Complete: true},
		Last: transcript.LastStep{N: last.N, Outcome: transcript.OK},
	})
	for _, f := range []transcript.RunFilter{{Model: "GPT-5-1"}, {Before: 2}, {Since: base, Limit: 1, Before: 2}, {Tool: "F"}, {Outcome: transcript.HTTPError}, {Dialect: transcript.Responses, Before: 2}} {
		if got, err := s.Runs(t.Context(), f); err != nil || len(got) != 1 || got[0].N != 1 {
			t.Errorf("%+v: %v, %v", f, got, err)
		}
	}
	for _, f := range []transcript.RunFilter{{Tag: "x"}, {Since: base.Add(time.Hour)}, {IDs: []string{}}, {Model: "claude"}, {Model: "mistral"}} { // mistral was asked by a replay alone
		if got, err := s.Runs(t.Context(), f); err != nil || len(got) != 0 {
			t.Errorf("%+v: %v, %v", f, got, err)
		}
	}
	if r, err := s.RunN(t.Context(), 2); err != nil || r.ID != list[1].ID {
		t.Errorf("r2: %v, %v", r, err)
	}
	if ids, err := s.FindRuns(t.Context(), run[9:30], 2); err != nil || len(ids) != 1 || ids[0] != run {
		t.Errorf("found %v, %v", ids, err)
	}
}
