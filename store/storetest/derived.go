package storetest

import (
	"errors"
	"testing"

	"github.com/retake-debugger/retake/transcript"
)

// asOf stores equal histories one after the other and looks back.
func asOf(t *testing.T, s transcript.Store) {
	a, b, c := plain(1), plain(2), plain(3)
	for _, e := range []*transcript.Exchange{a, b, c} {
		e.Link.OutNode, e.Link.InNode, e.ResponseID = node(3), node(2), "resp"
	}
	b.Link.Parent = a.ID
	put(t, s, a, b, c)
	key := transcript.Key{1}
	update(t, s, func(tx transcript.Tx) error {
		for _, e := range []*transcript.Exchange{a, b, c} {
			if err := tx.PutCall(transcript.CallRow{Exchange: e.ID, Key: key, At: "/a"}); err != nil {
				return err
			}
		}
		return nil
	})
	look := func(past transcript.Past, want ...string) {
		t.Helper()
		same(t, "out node", found(t, past.ByOutNode, node(3), 10), want)
		same(t, "in node", found(t, past.ByInNode, node(2), 10), want)
		callers, err := past.Callers(key, 10)
		if err != nil {
			t.Error(err)
		}
		same(t, "callers", idsOf(callers), want)
		e, err := past.ByResponseID("resp")
		if len(want) == 0 && !errors.Is(err, transcript.ErrNotFound) || len(want) > 0 && (err != nil || e.ID != want[0]) {
			t.Errorf("ByResponseID: %v, %v", e, err)
		}
		if got, err := past.Extended(a.ID); got != (len(want) > 1) || err != nil {
			t.Errorf("Extended: %v, %v", got, err)
		}
	}
	back := func(r transcript.Reader) {
		look(r.Before(1))
		look(r.Before(2), a.ID)
		look(r.Before(3), b.ID, a.ID)
		look(r.Before(100), c.ID, b.ID, a.ID)
		look(r.Before(3).Before(2), a.ID)
	}
	back(s)
	update(t, s, func(tx transcript.Tx) error { back(tx); look(tx, c.ID, b.ID, a.ID); return nil })
}

// putDerived replaces what is derived and nothing else.
func putDerived(t *testing.T, s transcript.Store) {
	ctx := t.Context()
	asked, was := plain(1), full(2)
	was.Link.Labelled, was.Response.Chunks = true, nil
	put(t, s, asked, was)
	call := func(key byte, at string) transcript.CallRow {
		return transcript.CallRow{Exchange: asked.ID, Key: transcript.Key{key}, At: at, CallID: "id", Name: "name"}
	}
	result := func(at string) transcript.ResultRow {
		return transcript.ResultRow{Exchange: was.ID, At: at, By: "id", LatencyMS: latency(1.5)}
	}
	with := func(c transcript.CallRow, r ...transcript.ResultRow) transcript.CallRow { c.Results = r; return c }
	update(t, s, func(tx transcript.Tx) error {
		return errors.Join(tx.PutCall(with(call(1, "/1"), result("/x"))), tx.PutCall(with(call(2, "/2"), result("/y"))))
	})
	brought, err := s.IntroducedResults(ctx, was.ID)
	same(t, "brought", brought, []transcript.CallRow{with(call(1, "/1"), result("/x")), with(call(2, "/2"), result("/y"))})
	if err != nil {
		t.Error(err)
	}

	now := plain(2)
	now.Outcome, now.TransportEnding = transcript.OK, &transcript.Ending{Outcome: transcript.ClientDisconnect, Error: &transcript.Error{Type: "t"}}
	now.Dialect, now.Model, now.ResponseID, now.Preview = transcript.Messages, "m2", "resp_now", "new"
	now.Link = transcript.Link{Run: id(7), Parent: asked.ID, By: "call", Evidence: "e", Shared: 1, InLen: 2, OutLen: 3, InNode: node(8), OutNode: node(9),
		NodeWithoutIDs: node(10), Settings: transcript.Settings{System: 1, Tools: 2, Sketch: [16]byte{3}}, Change: transcript.Change{Handoff: true, Passed: transcript.Amount{Items: 4}}, AsOf: 9}
	now.URL, now.Status, now.Request.Bytes = "changed", 500, 1 // of the wire: not to be written
	update(t, s, func(tx transcript.Tx) error {
		// A call of asked is replaced, one stays with its result.
		if err := tx.PutDerived(asked, []transcript.CallRow{call(2, "/2"), call(3, "/3")}, nil); err != nil {
			return err
		}
		return tx.PutDerived(now, nil, []transcript.CallRow{with(call(3, "/3"), result("/z")), {Exchange: "nobody", At: "/q", Results: []transcript.ResultRow{result("/z")}}})
	})
	want := *was
	want.Outcome, want.Error, want.TransportEnding = now.Outcome, now.Error, now.TransportEnding
	want.Dialect, want.Model, want.ResponseModel, want.ResponseID, want.Preview = now.Dialect, now.Model, "", now.ResponseID, now.Preview
	want.Stream, want.Complete, want.FinishReason, want.Usage, want.Calls, want.Results, want.Warnings = false, false, "", nil, 0, 0, nil
	want.Timing.FirstToken, want.Timing.Events = 0, 0
	want.Request.DecodeError, want.Response.DecodeError = "", ""
	want.Link = now.Link
	want.Link.Labelled = true
	got, err := s.Exchange(ctx, was.ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "exchange", got, &want)
	calls, err := s.Calls(ctx, []string{asked.ID})
	same(t, "calls", calls, []transcript.CallRow{call(2, "/2"), with(call(3, "/3"), result("/z"))})
	if err != nil {
		t.Error(err)
	}
	past := s.Before(100)
	same(t, "old node", found(t, past.ByOutNode, was.Link.OutNode, 5), []string{})
	same(t, "new node", found(t, past.ByOutNode, node(9), 5), []string{was.ID})
	if _, err := past.ByResponseID(was.ResponseID); !errors.Is(err, transcript.ErrNotFound) {
		t.Errorf("old response id: %v", err)
	}
	if list, err := past.Callers(transcript.Key{1}, 5); len(list) > 0 || err != nil {
		t.Errorf("old call: %v, %v", idsOf(list), err)
	}
	if err := s.Update(ctx, func(tx transcript.Tx) error { return tx.PutDerived(plain(5), nil, nil) }); !errors.Is(err, transcript.ErrNotFound) {
		t.Errorf("an exchange that is not there: %v", err)
	}
}

// putDerivedRuns leaves no empty run, unless it has a label.
func putDerivedRuns(t *testing.T, s transcript.Store) {
	var first, second, named *transcript.Run
	e, f := plain(1), plain(2)
	update(t, s, func(tx transcript.Tx) (err error) {
		if first, err = tx.NewRun(base); err != nil {
			return err
		}
		if second, err = tx.NewRun(base); err != nil {
			return err
		}
		if named, err = tx.RunByLabel("l", base); err != nil {
			return err
		}
		e.Link.Run, f.Link.Run = first.ID, named.ID
		return errors.Join(tx.PutExchange(e), tx.PutExchange(f))
	})
	e.Link.Run, f.Link.Run = second.ID, second.ID
	update(t, s, func(tx transcript.Tx) error {
		return errors.Join(tx.PutDerived(e, nil, nil), tx.PutDerived(f, nil, nil))
	})
	if _, err := s.Run(t.Context(), first.ID); !errors.Is(err, transcript.ErrNotFound) {
		t.Errorf("a run without exchanges: %v", err)
	}
	for _, r := range []*transcript.Run{second, named} {
		if _, err := s.Run(t.Context(), r.ID); err != nil {
			t.Error(err)
		}
	}
}

func notes(t *testing.T, s transcript.Store) {
	set := func(name, text string) {
		update(t, s, func(tx transcript.Tx) error { return tx.SetNote(name, text) })
	}
	want := func(name, text string) {
		t.Helper()
		if got, err := s.Note(t.Context(), name); got != text || err != nil {
			t.Errorf("note %s is %q, %v; want %q", name, got, err, text)
		}
	}
	want("a", "")
	set("a", "one")
	set("b", "two")
	set("a", "three")
	want("a", "three")
	want("b", "two")
	set("a", "")
	set("none", "")
	want("a", "")
	if pruned, err := s.Pruned(t.Context()); pruned || err != nil {
		t.Errorf("pruned: %v, %v", pruned, err)
	}
}
