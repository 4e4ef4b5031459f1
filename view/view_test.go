package view_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

type body string

func (b body) Size() int64                  { return int64(len(b)) }
func (b body) Open() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(b))), nil }

// message is an exchange of the Messages API: its messages and its answer.
type message struct{ messages, thread, answer string }

func record(t *testing.T, all ...message) (*store.DB, []*transcript.Exchange) {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	var captures []*transcript.Capture
	for i, m := range all {
		at := time.Unix(int64(1000*i), 0)
		captures = append(captures, &transcript.Capture{
			ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", i+1), StartedAt: at, EndedAt: at.Add(time.Second),
			Method: "POST", URL: "https://api.example.com/v1/messages", Status: 200, Outcome: transcript.OK,
			Request:  body(`{"model":"m","max_tokens":9` + m.thread + `,"messages":[` + m.messages + `],"system":"Help.","tools":[{"name":"f","input_schema":{}}]}`),
			Response: body(fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[%s],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`, i+1, m.answer)),
		})
	}
	stored, err := ingest.Commit(context.Background(), db, captures)
	if err != nil {
		t.Fatal(err)
	}
	return db, stored
}

const (
	ask    = `{"role":"user","content":"Go"}`
	callA  = `{"type":"tool_use","id":"a","name":"f","input":{"n":1}}`
	callB  = `{"type":"tool_use","id":"b","name":"f","input":{"n":2}}`
	called = `{"role":"assistant","content":[` + callA + `,` + callB + `]}`
	done   = `{"type":"text","text":"Done."}`
)

func results(texts ...string) string {
	var blocks []string
	for _, s := range texts {
		id, text, _ := strings.Cut(s, "=")
		blocks = append(blocks, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%q}`, id, text))
	}
	return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
}

// pairs tells of each pair: call id, state, where call and result are.
func pairs(t *testing.T, v *view.Exchange) []string {
	t.Helper()
	short := func(p *transcript.Place) string {
		if p == nil {
			return "–"
		}
		return "x" + strings.TrimLeft(p.Exchange[24:], "0") + " " + p.Body + " " + p.At
	}
	var out []string
	for _, p := range v.Pairs {
		out = append(out, fmt.Sprintf("%s %s: %s → %s", p.CallID, p.State, short(p.Call), short(p.Result)))
	}
	return out
}

func show(t *testing.T, db *store.DB, e *transcript.Exchange) *view.Exchange {
	t.Helper()
	v, err := view.NewExchange(context.Background(), db, e)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestExchange_JoinsCallsAndResultsAcrossExchanges(t *testing.T) {
	db, stored := record(t,
		message{messages: ask, answer: callA + "," + callB},
		message{messages: ask + "," + called + "," + results("b=two", "a=one"), answer: `{"type":"tool_use","id":"c","name":"f","input":{}}`})
	want := [][]string{
		{"a paired: x1 response /content/0 → x2 request /messages/2/content/1", "b paired: x1 response /content/1 → x2 request /messages/2/content/0"},
		{"a paired: x1 response /content/0 → x2 request /messages/2/content/1", "b paired: x1 response /content/1 → x2 request /messages/2/content/0", "c unanswered: x2 response /content/0 → –"},
	}
	for i, e := range stored {
		if diff := cmp.Diff(want[i], pairs(t, show(t, db, e))); diff != "" {
			t.Errorf("pairs of x%d differ (-want +got):\n%s", i+1, diff)
		}
	}
	if p := show(t, db, stored[1]).Pairs[0]; p.LatencyMS == nil || *p.LatencyMS != 999_000 {
		t.Errorf("latency %v, want the time from the end of the answer to the next request", p.LatencyMS)
	}
}

func TestExchange_FindsTheAnswerThatMadeACallOfAnOlderStep(t *testing.T) {
	third := ask + "," + called + "," + results("a=one", "b=two") + `,{"role":"assistant","content":[` + done + `]},{"role":"user","content":"Again"}`
	db, stored := record(t,
		message{messages: ask, answer: callA + "," + callB},
		message{messages: ask + "," + called + "," + results("a=one", "b=two"), answer: done},
		message{messages: third, answer: done})
	got := pairs(t, show(t, db, stored[2]))
	want := []string{"a paired: x1 response /content/0 → x3 request /messages/2/content/0", "b paired: x1 response /content/1 → x3 request /messages/2/content/1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pairs differ (-want +got):\n%s", diff)
	}
}

func TestTranscript_RebuildsHistoryHeldByTheProvider(t *testing.T) {
	db, stored := record(t,
		message{messages: ask, thread: `,"thread":{"type":"create"}`, answer: callA},
		message{messages: results("a=one"), thread: `,"thread":{"type":"continue","previous_message_id":"msg_1"}`, answer: done})
	tr, err := view.NewTranscript(context.Background(), db, stored[1])
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range tr.Entries {
		line := string(e.Item.Kind) + " " + e.Source + " " + e.Item.Text
		if e.Result != nil {
			line += e.Item.CallID + " = " + e.Result.Text + " " + e.ResultSource
		}
		got = append(got, line)
	}
	want := []string{"system x2 Help.", "message x1 Go", "tool_call x1 a = one x2", "message x2 Done."}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"f"}, tr.Tools); diff != "" {
		t.Errorf("tools differ (-want +got):\n%s", diff)
	}
}

func TestTranscript_SaysThatHistoryIsMissing(t *testing.T) {
	db, stored := record(t, message{messages: results("a=one"), thread: `,"thread":{"type":"continue","previous_message_id":"msg_0"}`, answer: done})
	tr, err := view.NewTranscript(context.Background(), db, stored[0])
	if err != nil || !tr.Missing {
		t.Errorf("missing = %v (%v), want true", tr.Missing, err)
	}
	if s := tr.Entries[1].Pair.State; s != transcript.OrphanResult {
		t.Errorf("state = %s, want an orphan", s)
	}
}

func TestTranscript_ShowsOtherResultsOfTheSameCall(t *testing.T) {
	second := ask + "," + `{"role":"assistant","content":[` + callA + `]}` + ","
	db, stored := record(t, message{messages: ask, answer: callA},
		message{messages: second + results("a=one"), answer: done}, message{messages: second + results("a=changed"), answer: done})
	tr, err := view.NewTranscript(context.Background(), db, stored[0])
	if err != nil {
		t.Fatal(err)
	}
	last := tr.Entries[len(tr.Entries)-1]
	if last.Result == nil || last.Result.Text != "one" || cmp.Diff([]string{"x3"}, last.AlsoIn) != "" {
		t.Errorf("result %+v, also in %v; want the first one, and x3", last.Result, last.AlsoIn)
	}
	if len(tr.Children) != 2 {
		t.Errorf("%d children, want 2", len(tr.Children))
	}
}

func TestTranscript_MarksWhatIsNew(t *testing.T) {
	db, stored := record(t,
		message{messages: ask, answer: callA + "," + callB},
		message{messages: ask + "," + called + "," + results("a=one", "b=two") + `,{"role":"user","content":"Hurry"}`, answer: done})
	tr, err := view.NewTranscript(context.Background(), db, stored[1])
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range tr.Entries {
		if e.New || e.ResultNew {
			got = append(got, fmt.Sprint(e.Item.Kind, " ", e.Item.Text, e.Item.CallID, " new=", e.New, " result=", e.ResultNew, " output=", e.Output))
		}
	}
	want := []string{"tool_call a new=false result=true output=false", "tool_call b new=false result=true output=false",
		"message Hurry new=true result=false output=false", "message Done. new=true result=false output=true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("new entries differ (-want +got):\n%s", diff)
	}
}

func TestResolve(t *testing.T) {
	db, _ := record(t, message{messages: ask, answer: done}, message{messages: ask, answer: callA})
	tests := []struct {
		ref  string
		want int64
		err  error
	}{
		{"x1", 1, nil}, {"x:last", 2, nil}, {"x:last~1", 1, nil}, {"x:last~2", 0, transcript.ErrNotFound},
		{"0190a000-0000-7000-8000-000000000002", 2, nil}, {"000000000001", 1, nil},
		{"0190a000", 0, view.ErrAmbiguous}, {"x3", 0, transcript.ErrNotFound}, {"ffff", 0, transcript.ErrNotFound},
		{"x:last~x", 0, view.ErrBadRef}, {"x:lastly", 0, view.ErrBadRef}, {"abc", 0, view.ErrBadRef}, {"", 0, view.ErrBadRef}, {"../etc", 0, view.ErrBadRef},
	}
	for _, tt := range tests {
		e, err := view.Resolve(context.Background(), db, tt.ref)
		if !errors.Is(err, tt.err) || (tt.err == nil && e.N != tt.want) {
			t.Errorf("%q: %v, want x%d, %v", tt.ref, err, tt.want, tt.err)
		}
	}
}

func TestExchange_JoinsAResultWhoseCallTheProviderHolds(t *testing.T) {
	db, stored := record(t,
		message{messages: ask, thread: `,"thread":{"type":"create"}`, answer: callA},
		message{messages: results("a=one"), thread: `,"thread":{"type":"continue","previous_message_id":"msg_1"}`, answer: done},
		message{messages: `{"role":"user","content":"Again"}`, thread: `,"thread":{"type":"continue","previous_message_id":"msg_2"}`, answer: done})
	want := []string{"a paired: x1 response /content/0 → x2 request /messages/0/content/0"}
	for i, want := range [][]string{want, want, nil} {
		if diff := cmp.Diff(want, pairs(t, show(t, db, stored[i]))); diff != "" {
			t.Errorf("pairs of x%d differ (-want +got):\n%s", i+1, diff)
		}
	}
	if v := show(t, db, stored[1]); len(v.Input) != 3 || v.Pairs[0].Name != "f" {
		t.Errorf("%d input items, pair of %q; want its own three, and the call's name", len(v.Input), v.Pairs[0].Name)
	}
}
