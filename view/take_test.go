package view_test

import (
	"testing"
	"time"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// The results of a take say where they came from, those of the take that it goes on
// from too; takes are listed by what they hang at.
func TestTranscript_MarksTheSourcesOfATake(t *testing.T) {
	const (
		head  = `{"model":"m","messages":[{"role":"user","content":"go"}`
		call  = `,{"role":"assistant","content":null,"tool_calls":[{"id":"call_`
		fn    = `","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		gave  = `,{"role":"tool","tool_call_id":"call_`
		asks  = `{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_`
		asked = `","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`
	)
	one := call + "1" + fn + gave + `1","content":"one"}`
	two := call + "2" + fn + gave + `2","content":"two"}`
	three := call + "3" + fn + gave + `3","content":"three"}`
	last := `{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}]}`
	const url = "https://api.example.com/v1/chat/completions"
	db, _ := recordSent(t,
		sent{url, head + `]}`, asks + "1" + asked},
		sent{url, head + one + `]}`, asks + "2" + asked},       // the take begins here, unedited
		sent{url, head + one + two + `]}`, asks + "3" + asked}, // its second step
		sent{url, head + one + two + three + `]}`, last},       // of the take that goes on from it
		sent{url, `{"model":"m","messages":[]}`, last})         // a run of its own
	var stored []*transcript.Exchange
	for n := int64(1); n <= 5; n++ {
		e, err := db.ExchangeN(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, e)
	}
	first := &transcript.Take{ID: "a", Origin: stored[1].ID, Mode: transcript.Continue, Edits: "[]", CreatedAt: time.Unix(1, 0), Outcome: transcript.OK, StopReason: transcript.StopOpenCalls,
		Steps:   []transcript.TakeStep{{Exchange: stored[2].ID, Step: 1, Attempt: 1}},
		Results: []transcript.TakeResult{{CallID: "call_2", Name: "f", Source: transcript.FromExec, Exchange: stored[2].ID}}}
	second := &transcript.Take{ID: "b", Origin: stored[1].ID, Parent: "a", Mode: transcript.Continue, Reason: "why", CreatedAt: time.Unix(2, 0), Edits: `[{"op":"set_result","call_id":"call_3","text":"three"}]`,
		Outcome: transcript.InProgress,
		Steps:   []transcript.TakeStep{{Exchange: stored[3].ID, Step: 1, Attempt: 1}, {Exchange: "0190a000-0000-7000-8000-00000000ffff", Step: 2, Attempt: 1}},
		Results: []transcript.TakeResult{{CallID: "call_3", Name: "f", Source: transcript.FromEdit, Exchange: stored[3].ID}}}
	if err := db.Update(t.Context(), func(tx transcript.Tx) error {
		if err := tx.PutTake(first); err != nil {
			return err
		}
		return tx.PutTake(second)
	}); err != nil {
		t.Fatal(err)
	}
	e, err := view.Resolve(t.Context(), db, "t2") // its last request is not on record
	if err != nil || e.ID != stored[3].ID {
		t.Fatalf("t2 is %v, %v", e, err)
	}
	tr, err := view.NewTranscript(t.Context(), db, e)
	if err != nil {
		t.Fatal(err)
	}
	if tr.Take == nil || tr.Take.Ref != "t2" || tr.Take.OriginRef != "x2" || tr.Take.Reason != "why" || len(tr.Take.Steps) != 2 || tr.Take.LastN != 4 || tr.Take.EndedAt != nil {
		t.Errorf("take %+v", tr.Take)
	}
	var sources []transcript.Source
	for i := range tr.Entries {
		if tr.Entries[i].Pair != nil {
			sources = append(sources, tr.Entries[i].From)
		}
	}
	if len(sources) != 3 || sources[0] != transcript.FromRecording || sources[1] != transcript.FromExec || sources[2] != transcript.FromEdit {
		t.Errorf("sources %v", sources)
	}
	for ref, want := range map[string]int{"": 2, "r1": 2, "r2": 0, "x2": 2, "x4": 1, "x1": 0} {
		var of *view.Target
		if ref != "" {
			if of, err = view.Locate(t.Context(), db, ref); err != nil {
				t.Fatal(err)
			}
		}
		if list, err := view.TakesOf(t.Context(), db, of); err != nil || len(list) != want {
			t.Errorf("takes of %q: %d, %v; want %d", ref, len(list), err, want)
		}
	}
}

// What a replay changed is no finding about the run.
func TestRun_FindingsAreNotThoseOfReplays(t *testing.T) {
	const (
		url  = "https://api.example.com/v1/chat/completions"
		user = `{"model":"m","messages":[{"role":"user","content":"go"}`
		f    = `{"type":"function","function":{"name":"f","description":"does it","parameters":{"type":"object","properties":{}}}}`
		last = `{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}]}`
		more = `,{"role":"assistant","content":"done"},{"role":"user","content":"again"}]`
	)
	db, _ := recordSent(t, sent{url, user + `],"tools":[` + f + `]}`, last}, sent{url, user + more + `}`, last})
	found := func() int {
		run, err := db.RunN(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		v, err := view.NewRun(t.Context(), db, run, time.Unix(10, 0))
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Judge(t.Context(), db, nil); err != nil {
			t.Fatal(err)
		}
		return len(v.Lint)
	}
	if found() == 0 {
		t.Fatal("no finding, though the tools changed")
	}
	var ids []string
	for n := int64(1); n <= 2; n++ {
		e, err := db.ExchangeN(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	if err := db.Update(t.Context(), func(tx transcript.Tx) error {
		return tx.PutTake(&transcript.Take{ID: "a", Origin: ids[0], Mode: transcript.Once, Edits: "[]", CreatedAt: time.Unix(1, 0), Outcome: transcript.OK,
			Steps: []transcript.TakeStep{{Exchange: ids[1], Step: 1, Attempt: 1}}})
	}); err != nil {
		t.Fatal(err)
	}
	if n := found(); n != 0 {
		t.Errorf("%d findings, all of a replay", n)
	}
}
