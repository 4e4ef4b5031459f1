package view_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// said writes requests and answers of a conversation in which f is called again and
// again.
func said(parts ...string) (request string) {
	list := []string{`{"role":"system","content":"Be brief."}`, `{"role":"user","content":"go"}`}
	for _, p := range parts {
		id, result, _ := strings.Cut(p, "=")
		list = append(list, fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"call_%s","type":"function","function":{"name":"f","arguments":"{\"n\":\"%s\"}"}}]}`, id, id),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"call_%s","content":%q}`, id, result))
	}
	return `{"model":"m","messages":[` + strings.Join(list, ",") + `]}`
}

func calls(id string) string {
	return fmt.Sprintf(`{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_%s","type":"function","function":{"name":"f","arguments":"{\"n\":\"%s\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":1,"total_tokens":11}}`, id, id)
}

func says(text string) string {
	return fmt.Sprintf(`{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":1,"total_tokens":11}}`, text)
}

// lines are the acts of a diff in short.
func lines(d *view.Diff) (list []string) {
	for _, a := range d.Acts {
		where := ""
		for _, side := range []*view.ActRef{a.A, a.B} {
			if side != nil {
				where += " " + side.Step
			}
		}
		line := string(a.Fate) + where + " " + string(a.Kind)
		if a.Result != nil {
			line += " result"
		}
		list = append(list, line)
	}
	return list
}

func TestTakeDiff_HoldsATakeAgainstWhatWasRecordedFromTheForkOn(t *testing.T) {
	const url = "https://api.example.com/v1/chat/completions"
	db, _ := recordSent(t,
		sent{url, said(), calls("1")},
		sent{url, said("1=one"), calls("2")}, // replayed from here, with another first result
		sent{url, said("1=one", "2=two"), calls("3")},
		sent{url, said("1=one", "2=two", "3=three"), says("six")},
		sent{url, said("1=ONE"), calls("2")}, // the take
		sent{url, said("1=ONE", "2=two"), calls("4")},
		sent{url, said("1=ONE", "2=two", "4=four"), says("seven")}, // and the one that goes on from it
	)
	var x []*transcript.Exchange
	for n := int64(1); n <= 7; n++ {
		e, err := db.ExchangeN(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		x = append(x, e)
	}
	edits, err := json.Marshal([]transcript.Edit{{Op: transcript.SetResult, CallID: "call_1", At: "/messages/3", Text: "ONE"}})
	if err != nil {
		t.Fatal(err)
	}
	takes := []*transcript.Take{
		{ID: "a", Origin: x[1].ID, Mode: transcript.Continue, Edits: string(edits), CreatedAt: time.Unix(1, 0), Outcome: transcript.OK, StopReason: transcript.StopOpenCalls,
			Steps: []transcript.TakeStep{{Exchange: x[4].ID, Step: 1, Attempt: 1}, {Exchange: x[5].ID, Step: 2, Attempt: 1}}},
		{ID: "b", Origin: x[1].ID, Parent: "a", Mode: transcript.Continue, Edits: "[]", CreatedAt: time.Unix(2, 0), Outcome: transcript.OK, StopReason: transcript.StopAnswered,
			Steps: []transcript.TakeStep{{Exchange: x[6].ID, Step: 1, Attempt: 1}}},
	}
	if err := db.Update(t.Context(), func(tx transcript.Tx) error { return errors.Join(tx.PutTake(takes[0]), tx.PutTake(takes[1])) }); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		recorded []*transcript.Exchange
		take     *transcript.Take
		steps    [2]int
		want     []string
	}{
		"one step": {x[1:2], takes[0], [2]int{1, 2}, []string{"changed x2 x5 tool_call result", "changed x2 x5 tool_call result", "added x6 tool_call"}},
		"a take":   {x[1:4], takes[0], [2]int{3, 2}, []string{"changed x2 x5 tool_call result", "same x2 x5 tool_call", "changed x3 x6 tool_call result", "removed x4 message"}},
		"its end":  {x[1:4], takes[1], [2]int{3, 3}, []string{"changed x2 x5 tool_call result", "same x2 x5 tool_call", "changed x3 x6 tool_call result", "changed x4 x7 message"}},
	} {
		d, err := view.NewTakeDiff(t.Context(), db, c.recorded, c.take, view.DiffOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, lines(d)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got := [2]int{d.A.Steps, d.B.Steps}; got != c.steps || d.A.Usage.InputTotal != int64(10*got[0]) || d.B.Usage.InputTotal != int64(10*got[1]) {
			t.Errorf("%s: %v steps, %d and %d tokens", name, got, d.A.Usage.InputTotal, d.B.Usage.InputTotal)
		}
		if d.Before != 2 || d.Divergence == nil || *d.Divergence != 0 || d.B.Ref != view.TakeRef(c.take.N) {
			t.Errorf("%s: %d before, first divergence %v, %s", name, d.Before, d.Divergence, d.B.Ref)
		}
	}
}

// A history that gave way to a summary on the way is no loss: what each step said is
// read where it was said.
func TestTakeDiff_KeepsWhatWasSaidBeforeACompaction(t *testing.T) {
	const url = "https://api.example.com/v1/chat/completions"
	short := `{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"In short: one and two came back. Go on."},{"role":"assistant","content":null,"tool_calls":[{"id":"call_3","type":"function","function":{"name":"f","arguments":"{\"n\":\"3\"}"}}]},{"role":"tool","tool_call_id":"call_3","content":"three"}]}`
	db, _ := recordSent(t,
		sent{url, said(), calls("1")},
		sent{url, said("1=one"), calls("2")},
		sent{url, said("1=one", "2=two"), calls("3")},
		sent{url, short, says("six")},
		sent{url, said(), says("none")})
	var x []*transcript.Exchange
	for n := int64(1); n <= 5; n++ {
		e, err := db.ExchangeN(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		x = append(x, e)
	}
	take := &transcript.Take{ID: "a", Origin: x[0].ID, Mode: transcript.Continue, Edits: "[]", CreatedAt: time.Unix(1, 0), Outcome: transcript.OK, StopReason: transcript.StopAnswered,
		Steps: []transcript.TakeStep{{Exchange: x[4].ID, Step: 1, Attempt: 1}}}
	if err := db.Update(t.Context(), func(tx transcript.Tx) error { return tx.PutTake(take) }); err != nil {
		t.Fatal(err)
	}
	d, err := view.NewTakeDiff(t.Context(), db, x[:4], take, view.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := lines(d)
	for _, want := range []string{"removed x1 tool_call", "removed x2 tool_call", "removed x3 tool_call"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}
