package view_test

import (
	"errors"
	"testing"

	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

func prune(t *testing.T, db *store.DB, numbers ...int64) {
	t.Helper()
	plan, err := db.Plan(t.Context(), store.Selection{Numbers: numbers})
	if err == nil {
		_, err = db.Prune(t.Context(), plan, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What continues a pruned exchange, or brought results to its calls, is shown
// with all that is its own.
func TestTranscript_OfWhatContinuesAPrunedExchange(t *testing.T) {
	db, stored := record(t,
		message{ask, "", callA + "," + callB},
		message{ask + "," + called + "," + results("a=1", "b=2"), "", done},
		message{ask, `,"thread":{"type":"create"}`, callA},
		message{results("a=3"), `,"thread":{"type":"continue","previous_message_id":"msg_3"}`, done},
		message{`{"role":"user","content":"More"}`, `,"thread":{"type":"continue","previous_message_id":"msg_4"}`, done},
	)
	if by := stored[4].Link.By; by != "previous_response_id" {
		t.Fatalf("linked by %q", by)
	}
	prune(t, db, 1, 3)
	for n, want := range map[int64]struct {
		lost    string
		entries int
	}{
		2: {view.Pruned, 5}, // system, ask, two calls with their results, answer
		4: {view.Pruned, 3}, // system, a result without its call, answer
		5: {view.Pruned, 5}, // system, what x4 holds, more, answer
	} {
		e, err := db.ExchangeN(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := view.NewTranscript(t.Context(), db, e)
		if err != nil {
			t.Errorf("x%d: %v", n, err)
			continue
		}
		if tr.Lost != want.lost || len(tr.Entries) != want.entries {
			t.Errorf("x%d: lost %q, %d entries, want %+v", n, tr.Lost, len(tr.Entries), want)
		}
		if _, err := view.NewExchange(t.Context(), db, e); err != nil {
			t.Errorf("x%d: %v", n, err)
		}
	}
	prune(t, db, 2, 4)
	if rows, err := view.Rows(t.Context(), db, transcript.Filter{}); err != nil || len(rows) != 1 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// The origin of a replay that is kept may go.
func TestTranscript_OfAReplayWhoseOriginIsPruned(t *testing.T) {
	db, stored := record(t, message{ask, "", done}, message{ask, "", done})
	if err := db.Update(t.Context(), func(tx transcript.Tx) error {
		return tx.PutTake(&transcript.Take{ID: "t", Origin: stored[0].ID, Steps: []transcript.TakeStep{{Exchange: stored[1].ID, Step: 1, Attempt: 1}}, Edits: `[{"at":"/messages/0"}]`})
	}); err != nil {
		t.Fatal(err)
	}
	prune(t, db, 1)
	e, err := db.ExchangeN(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if tr, err := view.NewTranscript(t.Context(), db, e); err != nil || len(tr.Edits) != 1 || tr.TakeOf != nil {
		t.Errorf("%+v, %v", tr, err)
	}
}

// A damaged exchange is an error of its own, not of those around it.
func TestRows_LeaveOutWhatIsDamaged(t *testing.T) {
	db, stored := record(t, message{ask, "", callA + "," + callB}, message{ask + "," + called + "," + results("a=1", "b=2"), "", done})
	hurt := *stored[0]
	hurt.ID, hurt.Request.Body = "0190a000-0000-7000-8000-0000000000ff", 1<<40
	if err := db.Update(t.Context(), func(tx transcript.Tx) error { return tx.PutExchange(&hurt) }); err != nil {
		t.Fatal(err)
	}
	if rows, err := view.Rows(t.Context(), db, transcript.Filter{}); err != nil || len(rows) != 3 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	if _, err := view.NewExchange(t.Context(), db, &hurt); !errors.Is(err, transcript.ErrDamaged) {
		t.Errorf("got %v", err)
	}
	if tr, err := view.NewTranscript(t.Context(), db, &hurt); err != nil || !errors.Is(tr.Damage, transcript.ErrDamaged) || len(tr.Entries) != 2 || !tr.Entries[1].Output || tr.Entries[1].Item.Kind != transcript.ToolCall || len(tr.Exchange.Lint) > 0 {
		t.Errorf("of a damaged request: %+v, %v", tr, err)
	}
	if _, err := view.NewDetail(t.Context(), db, &hurt, "request", "/messages/0"); !errors.Is(err, transcript.ErrDamaged) {
		t.Errorf("got %v", err)
	}
	both := hurt
	both.Response.Body = 1 << 40
	if _, err := view.NewTranscript(t.Context(), db, &both); !errors.Is(err, transcript.ErrDamaged) {
		t.Errorf("got %v", err)
	}
	// One whose body is gone because it was pruned meanwhile is not.
	hurt.ID = "0190a000-0000-7000-8000-0000000000fe"
	if _, err := view.NewExchange(t.Context(), db, &hurt); !errors.Is(err, transcript.ErrNotFound) || errors.Is(err, transcript.ErrDamaged) {
		t.Errorf("got %v", err)
	}
}
