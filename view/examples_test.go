package view_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

const (
	shots = `{"role":"user","content":"2+2"},{"role":"assistant","content":"4"},{"role":"user","content":"3+3"},{"role":"assistant","content":"6"},`
	talk  = `{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi, how can I help?"},`
)

func userSays(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }

func modelSays(text string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, text) }

func TestExamples(t *testing.T) {
	question := func(opening string, n int) message {
		return message{messages: opening + userSays(fmt.Sprint("question ", n)), answer: modelSays(fmt.Sprint("answer ", n))}
	}
	tests := []struct {
		name string
		all  []message
		of   int // which exchange is looked at
		want int // items that are examples
	}{
		{"the same opening before several questions", []message{question(shots, 1), question(shots, 2), question(shots, 3)}, 1, 4},
		{"a later step holds them too", []message{question(shots, 1), question(shots, 2), question(shots, 3),
			{messages: shots + userSays("question 3") + `,{"role":"assistant","content":"answer 3"},` + userSays("Sure?"), answer: done}}, 3, 4},
		{"a conversation that was not recorded is taken up once", []message{question(talk, 1)}, 0, 0},
		{"or twice", []message{question(talk, 1), question(talk, 2)}, 1, 0},
		{"the same question asked again is a retry", []message{question(shots, 1), question(shots, 1), question(shots, 1), question(shots, 1)}, 2, 0},
		{"what another run's model said", []message{{messages: userSays("2+2"), answer: modelSays("4")},
			{messages: userSays("2+2") + `,{"role":"assistant","content":"4"},` + userSays("question 1"), answer: done},
			{messages: userSays("2+2") + `,{"role":"assistant","content":"4"},` + userSays("question 2"), answer: done},
			{messages: userSays("2+2") + `,{"role":"assistant","content":"4"},` + userSays("question 3"), answer: done}}, 3, 0},
		{"a summary stands for a history", []message{question(userSays("Summary of the conversation so far: …")+",", 1), question(userSays("Summary of the conversation so far: …")+",", 2), question(userSays("Summary of the conversation so far: …")+",", 3)}, 0, 0},
		{"openings that differ", []message{question(talk, 1), question(shots, 2), question(shots+talk, 3)}, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db, all := record(t, tt.all...)
			x := show(t, db, all[tt.of])
			if got := count(x.Examples); got != tt.want {
				t.Fatalf("%d examples (%+v), want %d", got, x.Examples, tt.want)
			}
			if told := firstStep(t, db, all[tt.of]); tt.want > 0 && all[tt.of].Link.Parent == "" && countEntries(told.Entries) != tt.want {
				t.Errorf("the step marks %d entries, want %d", countEntries(told.Entries), tt.want)
			}
			if tt.want > 0 && !strings.Contains(x.Examples.Evidence, "3 recorded conversations") {
				t.Errorf("evidence %q", x.Examples.Evidence)
			}
		})
	}
}

func TestExamples_ThatAreNamed(t *testing.T) {
	db := recordChat(t, `{"model":"m","messages":[{"role":"system","content":"Add."},{"role":"system","name":"example_user","content":"2+2"},{"role":"system","name":"example_assistant","content":"4"},{"role":"user","content":"3+3"}]}`)
	e, err := db.ExchangeN(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	x := show(t, db, e)
	if x.Examples == nil || x.Examples.By != view.ByName || !slices.Equal(x.Examples.At, []string{"/messages/1", "/messages/2"}) {
		t.Errorf("examples %+v", x.Examples)
	}
}

func recordChat(t *testing.T, request string) *store.DB {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	_, err = ingest.Commit(t.Context(), db, []*transcript.Capture{{
		ID: "0190a000-0000-7000-8000-000000000001", StartedAt: time.Unix(1, 0), EndedAt: time.Unix(2, 0), Method: "POST", URL: "https://api.example.com/v1/chat/completions",
		Status: 200, Outcome: transcript.OK, Request: body(request), Response: body(`{"choices":[{"message":{"role":"assistant","content":"6"},"finish_reason":"stop"}]}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func count(x *view.Examples) int {
	if x == nil {
		return 0
	}
	return len(x.At)
}

func countEntries(entries []view.Entry) (n int) {
	for i := range entries {
		if entries[i].Example {
			n++
		}
	}
	return n
}

// firstStep tells the step of an exchange.
func firstStep(t *testing.T, db *store.DB, e *transcript.Exchange) *view.StepView {
	t.Helper()
	run, err := db.Run(context.Background(), e.Link.Run)
	if err != nil {
		t.Fatal(err)
	}
	v, err := view.NewRun(context.Background(), db, run, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range v.Agents {
		for _, s := range a.Steps {
			if s.Exchange == e.ID {
				told, err := view.NewStepReader(context.Background(), db, v).Read(s)
				if err != nil {
					t.Fatal(err)
				}
				return told
			}
		}
	}
	return &view.StepView{}
}
