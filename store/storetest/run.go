package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/retake-debugger/retake/transcript"
)

func runs(t *testing.T, s transcript.Store) {
	var list []*transcript.Run
	make := func(f func(transcript.Tx) (*transcript.Run, error)) {
		update(t, s, func(tx transcript.Tx) error {
			run, err := f(tx)
			list = append(list, run)
			return err
		})
	}
	label := func(name string, at time.Time) {
		make(func(tx transcript.Tx) (*transcript.Run, error) { return tx.RunByLabel(name, at) })
	}
	label("nightly", base)
	make(func(tx transcript.Tx) (*transcript.Run, error) { return tx.NewRun(base.Add(time.Hour)) })
	make(func(tx transcript.Tx) (*transcript.Run, error) { return tx.NewRun(base.Add(time.Hour)) })
	label("nightly", base.Add(2*time.Hour))
	label("Nightly", base)
	if list[0].ID == "" || list[1].ID == list[2].ID || list[0].ID == list[4].ID {
		t.Errorf("ids are not unique: %v", list)
	}
	same(t, "the run of a label", list[3], list[0])
	same(t, "numbers", []int64{list[0].N, list[1].N, list[2].N, list[4].N}, []int64{1, 2, 3, 4})
	same(t, "start", list[1].StartedAt, base.Add(time.Hour))
	same(t, "name", list[0].Name, "nightly")
	for _, want := range list {
		got, err := s.Run(t.Context(), want.ID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "run", got, want)
	}
}

func takes(t *testing.T, s transcript.Store) {
	list := []transcript.Take{
		{ID: id(1), Origin: id(10), Mode: transcript.Once, Steps: steps(20), Edits: `[{"a":1}]`, CreatedAt: base, EndedAt: base.Add(time.Second), Outcome: transcript.OK, StopReason: transcript.StopOnce},
		{ID: id(2), Origin: id(11), Mode: transcript.Continue, Steps: steps(21, 23, 24), Edits: "[]", Reason: "to see", Group: "g", Arm: "control", CreatedAt: base, Outcome: transcript.InProgress},
		{ID: id(3), Origin: id(20), Parent: id(2), Mode: transcript.Continue, Steps: steps(22), CreatedAt: base.Add(time.Second), Outcome: transcript.InProgress},
	}
	update(t, s, func(tx transcript.Tx) error {
		for i := range list {
			if err := tx.PutTake(&list[i]); err != nil {
				return err
			}
			if list[i].N != int64(i+1) {
				t.Errorf("take %d has number %d", i+1, list[i].N)
			}
		}
		return nil
	})
	for id, want := range map[string][]transcript.Take{
		"": list, id(10): list[:1], id(20): {list[0], list[2]}, id(22): list[2:], id(24): list[1:2], id(99): nil,
	} {
		got, err := s.Takes(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "takes of "+id, got, want)
	}
}

// steps are the steps of a take, one attempt each.
func steps(exchanges ...int) []transcript.TakeStep {
	var list []transcript.TakeStep
	for i, n := range exchanges {
		list = append(list, transcript.TakeStep{Exchange: id(n), Step: i + 1, Attempt: 1})
	}
	return list
}

// A take is stored when it begins and gets what comes to it.
func takeGrows(t *testing.T, s transcript.Store) {
	take := &transcript.Take{ID: id(1), Origin: id(10), Mode: transcript.Continue, Edits: "[]", CreatedAt: base, Outcome: transcript.InProgress}
	keep := func() {
		t.Helper()
		update(t, s, func(tx transcript.Tx) error { return tx.PutTake(take) })
		got, err := s.TakeN(t.Context(), take.N)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "take", got, take)
	}
	keep()
	take.Steps = steps(20)
	take.Results = []transcript.TakeResult{{CallID: "call_0", Name: "f", Source: transcript.FromEdit, Exchange: id(20)}}
	keep()
	take.Steps = append(take.Steps, transcript.TakeStep{Exchange: id(21)}, transcript.TakeStep{Exchange: id(22), Step: 2, Attempt: 1}, transcript.TakeStep{Exchange: id(23), Step: 2, Attempt: 2}, transcript.TakeStep{Exchange: id(24), Step: 3, Attempt: 1})
	take.Results = append(take.Results, transcript.TakeResult{CallID: "call_0", Name: "f", Source: transcript.FromRecording, Exchange: id(22), From: id(12)},
		transcript.TakeResult{CallID: "call_1", Name: "g", Source: transcript.FromExec, Text: "waits", IsError: true}, transcript.TakeResult{CallID: "call_2", Name: "h", Source: transcript.FromAsk, Text: "waits, too"})
	keep()
	brought := &take.Results[2]
	brought.Exchange, brought.Text, brought.IsError = id(24), "", false
	keep()
	take.Steps = append(take.Steps, transcript.TakeStep{Exchange: id(25), Step: 4, Attempt: 1})
	take.Results[3].Exchange, take.Results[3].Text = id(25), ""
	failure := errors.New("not now")
	if err := s.Update(t.Context(), func(tx transcript.Tx) error { return errors.Join(tx.PutTake(take), failure) }); !errors.Is(err, failure) {
		t.Fatal(err)
	}
	keep() // what was rolled back is stored now
	take.EndedAt, take.Outcome, take.StopReason = base.Add(time.Second), transcript.OK, transcript.StopAnswered
	keep()
	if got := take.Last(); got != id(25) {
		t.Errorf("last exchange %s", got)
	}
	resumed := &transcript.Take{ID: id(2), Origin: id(10), Parent: id(1), Mode: transcript.Continue, Edits: "[]", CreatedAt: base, Steps: steps(30, 31)}
	update(t, s, func(tx transcript.Tx) error {
		if err := tx.PutTake(resumed); err != nil {
			return err
		}
		for exchange, want := range map[int]struct {
			n      int64
			step   int
			before string
		}{20: {1, 1, ""}, 21: {1, 0, ""}, 22: {1, 2, id(20)}, 24: {1, 3, id(23)}, 25: {1, 4, id(24)}, 30: {2, 1, id(25)}, 31: {2, 2, id(30)}} {
			at, err := tx.TakePlace(id(exchange))
			if err != nil {
				return err
			}
			if at.N != want.n || at.Step != want.step || at.Before != want.before || at.Origin != id(10) || at.Exchange != id(exchange) {
				t.Errorf("place of %d: %+v, want %+v", exchange, at, want)
			}
		}
		if _, err := tx.TakePlace(id(99)); !errors.Is(err, transcript.ErrNotFound) {
			t.Errorf("place of an exchange that no take sent: %v", err)
		}
		return nil
	})
	if _, err := s.TakeN(t.Context(), 99); !errors.Is(err, transcript.ErrNotFound) {
		t.Errorf("a take that is not there: %v", err)
	}
}

func calls(t *testing.T, s transcript.Store) {
	row := func(exchange string, key byte, at string) transcript.CallRow {
		return transcript.CallRow{Exchange: exchange, Key: transcript.Key{key}, At: at, CallID: "call_0", Name: "search"}
	}
	first, second, side := row(id(1), 3, "/choices/0/message/tool_calls/10"), row(id(1), 4, "/choices/0/message/tool_calls/9"), row(id(2), 3, "/x")
	answer := transcript.ResultRow{Exchange: id(2), At: "/messages/5", By: "id", LatencyMS: latency(12.25)}
	again := transcript.ResultRow{Exchange: id(3), At: "/messages/4", By: "position", IsError: true}
	put(t, s, plain(1), plain(3), plain(2)) // numbers count, not ids
	update(t, s, func(tx transcript.Tx) error {
		for _, c := range []transcript.CallRow{first, second, side} {
			if err := tx.PutCall(c); err != nil {
				return err
			}
		}
		return errors.Join(
			tx.PutResult(id(1), second.At, answer),
			tx.PutResult(id(1), second.At, again),
			tx.PutResult(id(1), second.At, again),
		)
	})
	err := s.Update(t.Context(), func(tx transcript.Tx) error { return tx.PutResult(id(1), "/none", answer) })
	if !errors.Is(err, transcript.ErrNotFound) {
		t.Errorf("result for no call: %v", err)
	}
	update(t, s, func(tx transcript.Tx) error {
		for key, want := range map[byte][]string{3: {id(2), id(1)}, 4: {id(1)}, 9: nil} {
			found, err := tx.Callers(transcript.Key{key}, 5)
			if err != nil {
				return err
			}
			var got []string
			for _, e := range found {
				got = append(got, e.ID)
			}
			same(t, "callers", got, want)
		}
		return nil
	})
	second.Results = []transcript.ResultRow{again, answer}
	for name, c := range map[string]struct {
		ids  []string
		want []transcript.CallRow
	}{
		"none":        {nil, nil},
		"unknown":     {[]string{id(7)}, nil},
		"one":         {[]string{id(1)}, []transcript.CallRow{first, second}},
		"in order":    {[]string{id(2), id(1)}, []transcript.CallRow{side, first, second}},
		"named twice": {[]string{id(2), id(2)}, []transcript.CallRow{side}},
	} {
		got, err := s.Calls(t.Context(), c.ids)
		if err != nil {
			t.Fatal(err)
		}
		same(t, name, got, c.want)
	}
}

func line(t *testing.T, s transcript.Store) {
	child := func(n, parent int) *transcript.Exchange {
		e := plain(n)
		e.Link.Parent = id(parent)
		return e
	}
	put(t, s, plain(1), child(2, 1), child(3, 2), child(4, 1), child(5, 99))
	for n, want := range map[int][]string{1: {id(1)}, 3: {id(1), id(2), id(3)}, 4: {id(1), id(4)}, 5: {id(5)}, 9: nil} {
		got, err := s.Line(t.Context(), id(n))
		if err != nil {
			t.Fatal(err)
		}
		same(t, "line of "+id(n), got, want)
	}
}

func agents(t *testing.T, s transcript.Store) {
	at := base
	var run *transcript.Run
	a := transcript.Agent{ID: id(50), Key: "claude-code:s/a", ParentCall: &transcript.Place{Exchange: id(1), Body: "response", At: "/content/0"}, Evidence: "header"}
	main := transcript.Agent{ID: id(51), Main: true, Evidence: "the first of its run"}
	update(t, s, func(tx transcript.Tx) error {
		var err error
		if run, err = tx.NewRun(at); err != nil {
			return err
		}
		a.Run, main.Run = run.ID, run.ID
		e := plain(1)
		e.Tools, e.Link.Agent, e.Link.Step, e.Link.Attempt = 3, a.ID, 7, 2
		return errors.Join(tx.PutExchange(e), tx.PutAgent(&a), tx.PutAgent(&main), tx.BindRun("k", run.ID), tx.BindRun("k", id(99)),
			tx.PutHint(transcript.Key{1}, id(1), "/content/0"), tx.PutHint(transcript.Key{1}, id(1), "/content/0"))
	})
	got, err := s.Agents(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "agents", got, []transcript.Agent{a, main})
	one, err := s.Agent(t.Context(), main.ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "agent", *one, main)
	a.ParentCall = &transcript.Place{Exchange: id(2), Body: "response", At: "/content/4"}
	update(t, s, func(tx transcript.Tx) error { return tx.SetParentCall(a.ID, *a.ParentCall) })
	if one, err = s.Agent(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	same(t, "agent whose call came to be known", *one, a)
	if _, err := s.Agent(t.Context(), id(77)); !errors.Is(err, transcript.ErrNotFound) {
		t.Errorf("no such agent: %v", err)
	}
	update(t, s, func(tx transcript.Tx) error {
		byKey, err := tx.AgentByKey(run.ID, a.Key)
		if err != nil {
			return err
		}
		same(t, "agent by key", *byKey, a)
		if _, err := tx.AgentByKey(id(99), a.Key); !errors.Is(err, transcript.ErrNotFound) {
			t.Errorf("no such key: %v", err)
		}
		bound, err := tx.RunByKey("k")
		if err != nil {
			return err
		}
		same(t, "the first run that a name was bound to", bound.ID, run.ID)
		if _, err := tx.RunByKey("other"); !errors.Is(err, transcript.ErrNotFound) {
			t.Errorf("no such name: %v", err)
		}
		places, err := tx.ByHint(transcript.Key{1}, 5)
		last, lastErr := tx.LastStep(a.ID)
		firsts, firstsErr := tx.Firsts(run.ID, 5)
		if _, none := tx.LastStep(main.ID); !errors.Is(none, transcript.ErrNotFound) || lastErr != nil || firstsErr != nil || last.ID != id(1) || len(firsts) != 0 {
			t.Errorf("last step %v, %v, %v; first requests %v, %v", last, lastErr, none, firsts, firstsErr)
		}
		many := []transcript.Key{{2}, {3}, {4}, {5}, {6}}
		if any, err := tx.AnyByHint(many); any || err != nil {
			t.Errorf("any of the hints that nothing was noted with: %v, %v", any, err)
		}
		if any, err := tx.AnyByHint(append(many, transcript.Key{1})); !any || err != nil {
			t.Errorf("any of six hints: %v, %v", any, err)
		}
		same(t, "hints", places, []transcript.Place{{Exchange: id(1), Body: "response", At: "/content/0"}})
		return errors.Join(err, tx.SetSide(id(1)))
	})
	noted, err := s.Hints(t.Context(), id(1))
	none, noneErr := s.Hints(t.Context(), id(77))
	if err != nil || noneErr != nil || len(none) > 0 {
		t.Errorf("hints: %v, %v; of what is not there: %v, %v", noted, err, none, noneErr)
	}
	same(t, "hints of an exchange", noted, []transcript.Hint{{Value: transcript.Key{1}, At: "/content/0"}})
	e, err := s.Exchange(t.Context(), id(1))
	if err != nil {
		t.Fatal(err)
	}
	if l := e.Link; !l.Side || l.Agent != "" || l.Step != 0 || l.Attempt != 0 || e.Tools != 3 {
		t.Errorf("link of a side call = %+v, %d tools", l, e.Tools)
	}
}
