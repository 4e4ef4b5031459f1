package view

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

var caseStart = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func caseFile(t *testing.T, parts ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"../ingest/testdata"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func caseCapture(n int, start time.Duration, path, request, response string) *transcript.Capture {
	at := caseStart.Add(start)
	return &transcript.Capture{ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", n), StartedAt: at, EndedAt: at.Add(100 * time.Millisecond),
		Method: "POST", URL: "https://api.example.com" + path, Status: 200, Outcome: transcript.OK, RequestHeader: map[string][]string{},
		Request: bodyOf(request), Response: bodyOf(response)}
}

// caseRuns stores captures and reads all runs of them, oldest first.
func caseRuns(t *testing.T, captures ...*transcript.Capture) (*store.DB, []*Run) {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "t.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := ingest.Commit(context.Background(), db, captures); err != nil {
		t.Fatal(err)
	}
	rows, err := Runs(t.Context(), db, transcript.RunFilter{}, caseStart)
	if err != nil {
		t.Fatal(err)
	}
	var list []*Run
	for _, row := range slices.Backward(rows) {
		run, err := db.Run(t.Context(), row.ID)
		if err != nil {
			t.Fatal(err)
		}
		v, err := NewRun(t.Context(), db, run, caseStart)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return db, list
}

// tell tells the first agent of a run.
func tell(t *testing.T, db *store.DB, run *Run) (list []*StepView) {
	t.Helper()
	teller := NewStepReader(t.Context(), db, run)
	for _, s := range run.Agents[0].Steps {
		told, err := teller.Read(s)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, told)
	}
	return list
}

func TestCase_VolatilePromptsAreNoChange(t *testing.T) { // D-RUN-01
	file := func(name string) string { return caseFile(t, "D-RUN-01", name) }
	db, runs := caseRuns(t, caseCapture(1, 0, "/v1/messages", file("01.request.json"), file("01.response.json")),
		caseCapture(2, time.Minute, "/v1/messages", file("02.request.json"), file("02.response.json")))
	if len(runs) != 1 || runs[0].Counts.Steps != 2 || len(runs[0].Pairs) != 1 || runs[0].Pairs[0].Call.At != "/content/0" || runs[0].Pairs[0].Result.At != "/messages/2/content/0" {
		t.Fatalf("runs %+v", runs)
	}
	if c := tell(t, db, runs[0])[1].Context; c.System || c.Rewritten+c.Dropped > 0 {
		t.Errorf("the second step: %+v", c)
	}
	changed := strings.Replace(file("02.request.json"), `"text":"You`, `"text":"Never mind: you`, 1)
	if changed == file("02.request.json") {
		t.Skip("the prompt of the case begins otherwise")
	}
	db, runs = caseRuns(t, caseCapture(1, 0, "/v1/messages", file("01.request.json"), file("01.response.json")),
		caseCapture(2, time.Minute, "/v1/messages", changed, file("02.response.json")))
	if c := tell(t, db, runs[0])[1].Context; !c.System {
		t.Errorf("a system prompt that did change: %+v", c)
	}
}

func TestCase_SubAgentsHangUnderTheirCalls(t *testing.T) { // D-RUN-02
	var captures []*transcript.Capture
	for line := range strings.Lines(caseFile(t, "D-RUN-02", "exchanges.jsonl")) {
		var x struct {
			Seq               int
			StartMS           int64 `json:"start_ms"`
			EndMS             int64 `json:"end_ms"`
			Headers           map[string]string
			Request, Response json.RawMessage
			Path, Model       string
		}
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		request := x.Request
		if !bytes.Contains(request, []byte(`"model"`)) {
			request = append([]byte(fmt.Sprintf(`{"model":%q,`, x.Model)), request[1:]...)
		}
		c := caseCapture(x.Seq, time.Duration(x.StartMS)*time.Millisecond, x.Path, string(request), string(x.Response))
		c.EndedAt = caseStart.Add(time.Duration(x.EndMS) * time.Millisecond)
		for name, value := range x.Headers {
			c.RequestHeader[http(name)] = []string{value}
		}
		captures = append(captures, c)
	}
	_, runs := caseRuns(t, captures...)
	if len(runs) != 1 {
		t.Fatalf("%d runs", len(runs))
	}
	run, got := runs[0], []string{}
	for _, a := range run.Agents {
		call, list := "–", []string{}
		if a.ParentCall != nil {
			call = *a.ParentCall
		}
		for _, s := range a.Steps {
			list = append(list, Ref(s.ExchangeN))
		}
		got = append(got, strings.Join([]string{a.Role, call, a.Evidence, strings.Join(list, " ")}, "|"))
	}
	want := []string{"main|–|the first of its run|x1 x6", "sub|toolu_t1|header|x2 x5", "sub|toolu_t2|prompt_match|x3 x4"}
	if !slices.Equal(got, want) {
		t.Errorf("agents\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(run.Pairs) != 4 || run.Counts.Unanswered != 0 || run.Usage.Output != 30 {
		t.Errorf("%d pairs, %d unanswered, usage %+v", len(run.Pairs), run.Counts.Unanswered, run.Usage)
	}
}

// http is how a header is named in Go.
func http(name string) string {
	parts := strings.Split(name, "-")
	for i := range parts {
		parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
	}
	return strings.Join(parts, "-")
}

func TestCase_AttemptsAreOneStep(t *testing.T) { // D-RUN-03
	var attempts []struct {
		Headers map[string]string `json:"request_headers"`
		Status  int
		Body    json.RawMessage
		StartMS int64 `json:"start_ms"`
	}
	if err := json.Unmarshal([]byte(caseFile(t, "D-RUN-03", "attempts.json")), &attempts); err != nil {
		t.Fatal(err)
	}
	var captures []*transcript.Capture
	for i, a := range attempts {
		c := caseCapture(i+1, time.Duration(a.StartMS)*time.Millisecond, "/v1/messages", caseFile(t, "D-RUN-03", "request.json"), string(a.Body))
		c.Status = a.Status
		for name, value := range a.Headers {
			c.RequestHeader[http(name)] = []string{value}
		}
		captures = append(captures, c)
	}
	db, runs := caseRuns(t, captures...)
	if len(runs) != 2 {
		t.Fatalf("%d runs, want 2", len(runs))
	}
	step := runs[0].Agents[0].Steps[0]
	var statuses []int
	for _, a := range step.Attempts {
		statuses = append(statuses, a.Status)
	}
	if !slices.Equal(statuses, []int{529, 529, 200}) || step.Outcome != transcript.OK || len(step.AttemptIDs) != 3 || len(runs[0].Agents[0].Steps) != 1 {
		t.Errorf("step %+v", step)
	}
	users := 0
	for _, e := range tell(t, db, runs[0])[0].Entries {
		if e.Item.Role == "user" {
			users++
		}
	}
	if users != 1 {
		t.Errorf("the user speaks %d times in the step", users)
	}
	if in, out := runs[0].Usage.InputTotal+runs[1].Usage.InputTotal, runs[0].Usage.Output+runs[1].Usage.Output; in != 16 || out != 6 {
		t.Errorf("usage %d in, %d out", in, out)
	}
	if runs[0].Counts.Failed != 0 || runs[0].Counts.Errors != 0 || runs[0].Status != Finished {
		t.Errorf("counts %+v, status %s", runs[0].Counts, runs[0].Status)
	}
}

func TestCase_LongRunsListWithoutBodies(t *testing.T) { // D-UI-03
	for _, c := range []struct{ steps, size, most int }{{280, 1500, 1_000_000}, {1000, 60, 4_000_000}} {
		messages := `{"role":"user","content":"start"}`
		var captures []*transcript.Capture
		for i := range c.steps {
			call := fmt.Sprintf(`{"id":"call_%d","type":"function","function":{"name":"read","arguments":"{\"n\": %d}"}}`, i, i)
			captures = append(captures, caseCapture(i+1, time.Duration(i)*time.Second, "/v1/chat/completions", `{"model":"test-gpt","messages":[`+messages+`]}`,
				fmt.Sprintf(`{"id":"c%d","object":"chat.completion","model":"test-gpt","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[%s]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":400,"completion_tokens":20,"total_tokens":420}}`, i, call)))
			messages += fmt.Sprintf(`,{"role":"assistant","content":null,"tool_calls":[%s]},{"role":"tool","tool_call_id":"call_%d","content":"%s line %d"}`, call, i, strings.Repeat("x", c.size), i)
		}
		db, runs := caseRuns(t, captures...)
		if len(runs) != 1 {
			t.Fatalf("%d runs", len(runs))
		}
		paired, unpaired := 0, 0
		for _, p := range runs[0].Pairs {
			if p.State == transcript.Paired {
				paired++
			} else {
				unpaired++
			}
		}
		if paired != c.steps-1 || unpaired != 1 {
			t.Errorf("%d steps: %d pairs, %d calls without a result", c.steps, paired, unpaired)
		}
		b, err := json.Marshal(runs[0])
		if err != nil || len(b) > c.most || bytes.Contains(b, []byte("xxxx")) {
			t.Errorf("%d steps: %d bytes of JSON, %v", c.steps, len(b), err)
		}
		for i, told := range tell(t, db, runs[0]) {
			if n := len(told.Entries); i > 0 && n != 1 {
				t.Fatalf("step %d tells %d things, want its call alone", i+1, n)
			}
			if e := told.Entries[len(told.Entries)-1]; (e.Result != nil) != (i < c.steps-1) || e.Result != nil && !strings.HasSuffix(e.Result.Text, fmt.Sprintf(" line %d", i)) {
				t.Fatalf("step %d: result %+v", i+1, e.Result)
			}
		}
	}
}

func TestLocate(t *testing.T) {
	db, runs := caseRuns(t, caseCapture(1, 0, "/v1/messages", `{"model":"m","messages":[{"role":"user","content":"a"}]}`, `{"type":"message","role":"assistant","content":[{"type":"text","text":"b"}],"stop_reason":"end_turn"}`),
		caseCapture(2, time.Hour, "/v1/messages", `{"model":"m","messages":[{"role":"user","content":"c"}]}`, `{"type":"message","role":"assistant","content":[{"type":"text","text":"d"}],"stop_reason":"end_turn"}`),
		caseCapture(3, 2*time.Hour, "/v1/messages", `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"e"}]}`, `{"type":"message","role":"assistant","content":[{"type":"text","text":"f"}],"stop_reason":"end_turn"}`))
	if len(runs) != 2 {
		t.Fatalf("%d runs", len(runs))
	}
	for ref, want := range map[string]string{
		"r1": "r1", "r2": "r2", "last": "r2", "last~1": "r1", "x3": "x3", "x:last": "x3", "x:last~2": "x1", "r1.2": "r1 x3", "r1/a1.1": "r1 x1", "last~1.2": "r1 x3", "r1/a1": "r1",
		runs[1].ID: "r2", "000000000003": "x3",
		"r3": "!", "last~2": "!", "r1.3": "!", "r1/a2": "!", "x9": "!", "r1.": "bad", "r1.0": "bad", "r1/b": "bad", "r": "bad", "last~": "bad", "r1.+1": "bad", "r-1": "bad", "000": "bad", "0190a000": "many", "zzz": "bad",
	} {
		target, err := Locate(t.Context(), db, ref)
		got := ""
		switch {
		case errors.Is(err, transcript.ErrNotFound):
			got = "!"
		case errors.Is(err, ErrBadRef):
			got = "bad"
		case errors.Is(err, ErrAmbiguous):
			got = "many"
		case err != nil:
			t.Fatal(err)
		default:
			var parts []string
			if target.Run != nil {
				parts = append(parts, RunRef(target.Run.N))
			}
			if target.Exchange != nil {
				parts = append(parts, Ref(target.Exchange.N))
			}
			got = strings.Join(parts, " ")
		}
		if got != want {
			t.Errorf("%s: %s (%v), want %s", ref, got, err, want)
		}
	}
}
