package replay_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/replay"
	"github.com/retake-debugger/retake/replay/replaytest"
	"github.com/retake-debugger/retake/transcript"
)

// Results of equal calls are given in the order of the recording, each once; order
// and spacing of arguments do not count, their values do.
func TestTape_GivesResultsByToolAndArguments(t *testing.T) {
	b, a := newBench(t), newAnswers(t, calling(`f {"a":1,"b":2}`), calling(`f {"b":2.0, "a":1}`, `f {"a":1}`), saying("done", "stop"))
	n := 0
	take, err := b.Player().Play(t.Context(), b.origin(a), replay.Options{Sources: []replay.Source{toolFunc(func(*replay.Call) *replay.Result {
		n++
		return &replay.Result{Text: fmt.Sprint("result ", n), Source: transcript.FromExec}
	})}})
	if err != nil || take.StopReason != transcript.StopAnswered {
		t.Fatal(take, err)
	}
	first := b.Exchange(take.Steps[0])
	b.Exchange(take.Steps[2])
	edit := transcript.Edit{Op: transcript.SetResult, CallID: "call_1", Text: "edited"}
	sources := tapeOf(t, b.DB, first, edit)
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
	take, err := b.Player().Play(t.Context(), req, replay.Options{Mode: transcript.Once})
	if err != nil {
		t.Fatal(err)
	}
	first := b.Exchange(take.Steps[0])
	a.list = append(a.list, saying("seen", "stop"))
	call := `{"role":"assistant","content":null,"tool_calls":[{"id":"call_old","type":"function","function":{"name":"look","arguments":"{}"}}]}`
	next := *replaytest.Prepare(t, b.DB, first)
	next.Body = []byte(`{"model":"m","messages":[{"role":"user","content":"go"},` + call + `,` + recorded + `]}`)
	if err := next.SendTo(a.server.URL); err != nil {
		t.Fatal(err)
	}
	resp, err := next.Send(t.Context(), b.Transport)
	if err != nil || resp.Status != 200 {
		t.Fatal(resp, err)
	}
	for range 4000 { // until it is stored
		if children, err := b.DB.Children(t.Context(), first.ID); err == nil && len(children) == 1 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	a.list, a.asked = []string{calling("look {}"), saying("seen", "stop")}, nil
	again, err := b.Player().Play(t.Context(), b.origin2(&replay.Take{Origin: first.ID}, a), replay.Options{Sources: tapeOf(t, b.DB, first)})
	if err != nil || again.StopReason != transcript.StopAnswered {
		t.Fatalf("%+v, %v", again, err)
	}
	if want := strings.Replace(recorded, "call_old", "call_0", 1); !strings.Contains(a.asked[1], want) {
		t.Errorf("sent %s\nwant in it %s", a.asked[1], want)
	}
}

// countingReader counts the bodies that are read.
type countingReader struct {
	transcript.Reader
	bodies int
}

func (r *countingReader) Body(ctx context.Context, id transcript.BodyID) (io.ReadCloser, error) {
	r.bodies++
	return r.Reader.Body(ctx, id)
}

// Results are those that the model saw first, where a client takes them out of its
// history later, or the whole gives way to a summary. Of a long run few bodies are read.
func TestTape_HasResultsAsTheyCameAndReadsFewBodies(t *testing.T) {
	b := newBench(t)
	const steps, clearedAt, summaryAt = 40, 20, 30
	call := func(n int) string {
		return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"f","arguments":"{\"n\":%d}"}}]}`, n, n)
	}
	var captures []*transcript.Capture
	for n := range steps + 1 {
		var messages []string
		begin := 0
		if messages = append(messages, `{"role":"user","content":"go"}`); n >= summaryAt {
			messages[0], begin = `{"role":"user","content":"This session goes on from an earlier one. Its summary: all is well."}`, summaryAt-1
		}
		for i := begin; i < n; i++ {
			result := fmt.Sprintf("result %d", i)
			if n >= clearedAt && i < clearedAt-5 {
				result = "[cleared]"
			}
			messages = append(messages, call(i), fmt.Sprintf(`{"role":"tool","tool_call_id":"call_%d","content":%q}`, i, result))
		}
		at := time.Unix(int64(1000+10*n), 0)
		captures = append(captures, &transcript.Capture{ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", n+1), StartedAt: at, EndedAt: at.Add(time.Second), Method: "POST", URL: "https://api.example.com/v1/chat/completions", Status: 200, Outcome: transcript.OK,
			RequestHeader: map[string][]string{"Session-Id": {"s"}}, Request: body(`{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`),
			Response: body(`{"id":"c","model":"m","choices":[{"index":0,"message":` + call(n) + `,"finish_reason":"tool_calls"}]}`)})
	}
	list, err := ingest.Commit(t.Context(), b.DB, captures)
	if err != nil {
		t.Fatal(err)
	}
	reader := &countingReader{Reader: b.DB}
	tape, err := replay.ReadRecorded(t.Context(), reader, list[0])
	if err != nil {
		t.Fatal(err)
	}
	got := tape.Results()
	if len(got) < summaryAt-1 {
		t.Fatalf("%d results in the recording, of %d exchanges", len(got), len(tape.Line()))
	}
	for i, r := range got {
		if want := fmt.Sprintf("result %s", strings.TrimPrefix(r.CallID, "call_")); r.Text != want || r.From == nil || r.Name != "f" {
			t.Errorf("result %d of %s is %q, from %v", i, r.CallID, r.Text, r.From)
		}
	}
	if reader.bodies > 8 {
		t.Errorf("%d bodies were read", reader.bodies)
	}
	t.Logf("%d results of %d exchanges, %d bodies read", len(got), len(tape.Line()), reader.bodies)
}
