package replay_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/transcript"
)

// Results of equal calls are given in the order of the recording, each once; order
// and spacing of arguments do not count, their values do.
func TestTape_GivesResultsByToolAndArguments(t *testing.T) {
	b, a := newBench(t), newAnswers(t, calling(`f {"a":1,"b":2}`), calling(`f {"b":2.0, "a":1}`, `f {"a":1}`), saying("done", "stop"))
	n := 0
	take, err := b.player().Play(t.Context(), b.origin(a), replay.Options{Sources: []replay.Source{toolFunc(func(*replay.Call) *replay.Result {
		n++
		return &replay.Result{Text: fmt.Sprint("result ", n), Source: transcript.FromExec}
	})}})
	if err != nil || take.StopReason != transcript.StopAnswered {
		t.Fatal(take, err)
	}
	first := b.exchange(take.Steps[0])
	b.exchange(take.Steps[2])
	edit := transcript.Edit{Op: transcript.SetResult, CallID: "call_1", Text: "edited"}
	sources := tapeOf(t, b.db, first, edit)
	ask := func(name, arguments string) string {
		t.Helper()
		c := &replay.Call{Name: name, ArgumentsRaw: arguments, Arguments: []byte(arguments), Dialect: transcript.Chat}
		for _, s := range sources {
			if !s.Covers(c) {
				continue
			}
			r, err := s.Answer(t.Context(), c)
			if err != nil || r == nil {
				t.Fatal(r, err)
			}
			return string(r.Source) + ": " + r.Text
		}
		return ""
	}
	for i, q := range []struct{ name, arguments, want string }{
		{"f", `{"a":2,"b":1}`, ""},
		{"g", `{"a":1,"b":2}`, ""},
		{"f", `{"b":2,"a":1}`, "recorded: result 1"},
		{"f", `{"a":1}`, "edited: edited"},
		{"f", `{"a":1}`, ""},
		{"f", `{"a":1.0,"b":2}`, "recorded: result 2"},
		{"f", `{"a":1,"b":2}`, ""},
	} {
		if got := ask(q.name, q.arguments); got != q.want {
			t.Errorf("question %d, %s %s: %q, want %q", i, q.name, q.arguments, got, q.want)
		}
	}
}

// A recorded result goes back with all its parts, and with the id of the new call.
func TestPlay_RecordedResultsKeepTheirParts(t *testing.T) {
	const recorded = `{"role":"tool","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}],"tool_call_id":"call_old"}`
	b, a := newBench(t), newAnswers(t, strings.ReplaceAll(calling("look {}"), "call_0", "call_old"))
	req := b.origin(a)
	take, err := b.player().Play(t.Context(), req, replay.Options{Mode: transcript.Once})
	if err != nil {
		t.Fatal(err)
	}
	first := b.exchange(take.Steps[0])
	a.list = append(a.list, saying("seen", "stop"))
	call := `{"role":"assistant","content":null,"tool_calls":[{"id":"call_old","type":"function","function":{"name":"look","arguments":"{}"}}]}`
	next := *prepare(t, b.db, first)
	next.Body = []byte(`{"model":"m","messages":[{"role":"user","content":"go"},` + call + `,` + recorded + `]}`)
	if err := next.SendTo(a.server.URL); err != nil {
		t.Fatal(err)
	}
	resp, err := next.Send(t.Context(), b.transport)
	if err != nil || resp.Status != 200 {
		t.Fatal(resp, err)
	}
	for range 4000 { // until it is stored
		if children, err := b.db.Children(t.Context(), first.ID); err == nil && len(children) == 1 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	a.list, a.asked = []string{calling("look {}"), saying("seen", "stop")}, nil
	again, err := b.player().Play(t.Context(), b.origin2(&replay.Take{Origin: first.ID}, a), replay.Options{Sources: tapeOf(t, b.db, first)})
	if err != nil || again.StopReason != transcript.StopAnswered {
		t.Fatalf("%+v, %v", again, err)
	}
	if want := strings.Replace(recorded, "call_old", "call_0", 1); !strings.Contains(a.asked[1], want) {
		t.Errorf("sent %s\nwant in it %s", a.asked[1], want)
	}
}
