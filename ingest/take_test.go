package ingest_test

import (
	"context"
	"testing"

	"github.com/retake-debugger/retake/ingest/reindex"
	"github.com/retake-debugger/retake/transcript"
)

// oneStep is the step of a take that sent one exchange.
func oneStep(exchange string) []transcript.TakeStep {
	return []transcript.TakeStep{{Exchange: exchange, Step: 1, Attempt: 1}}
}

// A take hangs where it left the original, whatever its edits made of the
// history, and however it is derived again.
func TestCommit_ATakeHangsWhereItLeftTheOriginal(t *testing.T) {
	const path = "/v1/chat/completions"
	db := mustOpen(t)
	call := chatCalls("call_0")
	stored := commit(t, db,
		capture(1, path, chatRequest(user("Go")), chatAnswerWith(call...)),
		capture(2, path, chatRequest(user("Go"), assistant(call...), tool("call_0", "x")), chatAnswer),
		capture(3, path, chatRequest(user("Something else")), chatAnswer))
	sent := []*transcript.Capture{
		capture(11, path, chatRequest(user("Edited")), chatAnswerWith(call...)),                                             // instead of x1
		capture(12, path, chatRequest(user("Edited"), assistant(call...), tool("call_0", "y")), chatAnswer),                 // its second step
		capture(13, path, chatRequest(user("Play the tool")), chatAnswer),                                                   // a side call
		capture(14, path, chatRequest(user("Rewritten"), assistant(call...), tool("call_0", "z")), chatAnswerWith(call...)), // instead of x2
		capture(15, path, chatRequest(user("Rewritten"), assistant(call...), tool("call_0", "z")), chatAnswer),              // another attempt at that
		capture(16, path, chatRequest(user("Compacted")), chatAnswer),                                                       // the second step of that
		capture(17, path, chatRequest(user("Resumed")), chatAnswer),                                                         // of a take that goes on from there
	}
	id := func(i int) string { return sent[i].ID }
	takes := []*transcript.Take{
		{ID: "a", Origin: stored[0].ID, Edits: "[]", Steps: []transcript.TakeStep{{Exchange: id(0), Step: 1, Attempt: 1}, {Exchange: id(1), Step: 2, Attempt: 1}, {Exchange: id(2)}}},
		{ID: "b", Origin: stored[1].ID, Edits: "[]", Steps: []transcript.TakeStep{{Exchange: id(3), Step: 1, Attempt: 1}, {Exchange: id(4), Step: 1, Attempt: 2}, {Exchange: id(5), Step: 2, Attempt: 1}}},
		{ID: "c", Origin: stored[1].ID, Parent: "b", Edits: "[]", Steps: oneStep(id(6))},
	}
	if err := db.Update(t.Context(), func(tx transcript.Tx) error {
		for _, take := range takes {
			if err := tx.PutTake(take); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	commit(t, db, sent...)
	check := func(when string) {
		t.Helper()
		for i, want := range []struct {
			parent        string
			step, attempt int
		}{{"", 1, 1}, {id(0), 2, 1}, {"", 0, 0}, {stored[0].ID, 2, 1}, {stored[0].ID, 2, 2}, {id(4), 3, 1}, {id(5), 4, 1}} {
			e, err := db.Exchange(t.Context(), id(i))
			if err != nil {
				t.Fatal(err)
			}
			l, o := e.Link, stored[0].Link
			if l.Run != o.Run || l.Parent != want.parent || l.Step != want.step || l.Attempt != want.attempt || l.Side != (want.step == 0) || !l.Side && l.Agent != o.Agent {
				t.Errorf("%s: exchange %d: %+v, want %+v", when, i, l, want)
			}
		}
		run, err := db.Runs(t.Context(), transcript.RunFilter{IDs: []string{stored[0].Link.Run}})
		if err != nil || len(run) != 1 || run[0].Takes != len(sent) || run[0].Steps != 2 || run[0].Agents != 1 {
			t.Errorf("%s: run %+v, %v", when, run, err)
		}
	}
	check("as it came")
	if diff, err := reindex.Compare(context.Background(), db, nil); err != nil || len(diff) > 0 {
		t.Errorf("derived again: %v, %v", diff, err)
	}
	if _, err := reindex.Run(context.Background(), db, "v", nil); err != nil {
		t.Fatal(err)
	}
	check("derived again")
}
