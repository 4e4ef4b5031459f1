package ingest_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
)

func caseFile(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A nonce in the system prompt and a cache mark that moves do not split a run.
func TestCase_VolatilePromptsAreOneRun(t *testing.T) { // D-RUN-01
	db := mustOpen(t)
	stored := commit(t, db,
		capture(1, "/v1/messages?beta=true", caseFile(t, "D-RUN-01", "01.request.json"), caseFile(t, "D-RUN-01", "01.response.json")),
		capture(2, "/v1/messages?beta=true", caseFile(t, "D-RUN-01", "02.request.json"), caseFile(t, "D-RUN-01", "02.response.json")))
	if diff := cmp.Diff([]string{"r1 a1 1.1", "r1 a1 2.1"}, tree(stored)); diff != "" {
		t.Errorf("tree differs (-want +got):\n%s", diff)
	}
	if c := stored[1].Link.Change; c.System {
		t.Errorf("change %+v: the system prompt is the same", c)
	}
	calls, err := db.Calls(context.Background(), []string{stored[0].ID})
	if err != nil || len(calls) != 1 || calls[0].At != "/content/0" || len(calls[0].Results) != 1 ||
		calls[0].Results[0].Exchange != stored[1].ID || calls[0].Results[0].At != "/messages/2/content/0" {
		t.Errorf("calls %+v, %v: want the result of the second request", calls, err)
	}
}

// Attempts of an SDK are one step; the same request later is a run of its own.
func TestCase_RetriesAreAttempts(t *testing.T) { // D-RUN-03
	var attempts []struct {
		Headers map[string]string `json:"request_headers"`
		Status  int
		Body    json.RawMessage
		StartMS int64 `json:"start_ms"`
	}
	if err := json.Unmarshal([]byte(caseFile(t, "D-RUN-03", "attempts.json")), &attempts); err != nil {
		t.Fatal(err)
	}
	db := mustOpen(t)
	var captures []*transcript.Capture
	for i, a := range attempts {
		c := capture(i, messagesPath, caseFile(t, "D-RUN-03", "request.json"), string(a.Body))
		c.Status, c.StartedAt = a.Status, began.Add(time.Duration(a.StartMS)*time.Millisecond)
		c.EndedAt = c.StartedAt.Add(100 * time.Millisecond)
		for name, value := range a.Headers {
			with(c, canonical(name)+": "+value)
		}
		captures = append(captures, c)
	}
	want := []string{"r1 a1 1.1", "r1 a1 1.2", "r1 a1 1.3", "r2 a2 1.1"}
	if diff := cmp.Diff(want, tree(commit(t, db, captures...))); diff != "" {
		t.Errorf("tree differs (-want +got):\n%s", diff)
	}
}

// Calls and results are joined by id within their round.
func TestCase_Pairs(t *testing.T) { // D-PAIR-01 to -04
	tests := []struct {
		dir, request      string
		dialect           transcript.Dialect
		pairs             [][2]string
		unpaired, orphans []string
		failed            []string
	}{
		{"D-PAIR-01", "request.json", transcript.Chat, [][2]string{{"/messages/1/tool_calls/0", "/messages/2"}, {"/messages/3/tool_calls/0", "/messages/4"},
			{"/messages/5/tool_calls/0", "/messages/7"}, {"/messages/5/tool_calls/1", "/messages/6"}}, nil, nil, nil},
		{"D-PAIR-02", "request.json", transcript.Chat, [][2]string{{"/messages/1/tool_calls/0", "/messages/3"}, {"/messages/1/tool_calls/2", "/messages/2"}},
			[]string{"/messages/1/tool_calls/1"}, []string{"/messages/4"}, nil},
		{"D-PAIR-03", "request.json", transcript.Messages, [][2]string{{"/messages/1/content/1", "/messages/2/content/0"}, {"/messages/1/content/2", "/messages/4/content/0"}},
			nil, nil, []string{"/messages/4/content/0"}},
		{"D-PAIR-04", "02.request.json", transcript.Responses, [][2]string{{"/input/1", "/input/2"}}, nil, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.dir, func(t *testing.T) {
			items := dialect.Decode(tt.dialect, &dialect.Wire{Method: "POST", Request: []byte(caseFile(t, tt.dir, tt.request))}).Input
			var pairs [][2]string
			var unpaired, orphans, failed []string
			for _, m := range transcript.PairItems(items) {
				switch m.State {
				case transcript.Paired:
					pairs = append(pairs, [2]string{items[m.Call].At, items[m.Result].At})
					if items[m.Result].IsError {
						failed = append(failed, items[m.Result].At)
					}
				case transcript.Unanswered:
					unpaired = append(unpaired, items[m.Call].At)
				case transcript.OrphanResult:
					orphans = append(orphans, items[m.Result].At)
				}
			}
			if diff := cmp.Diff(tt.pairs, pairs); diff != "" {
				t.Errorf("pairs differ (-want +got):\n%s", diff)
			}
			if !slices.Equal(unpaired, tt.unpaired) || !slices.Equal(orphans, tt.orphans) || !slices.Equal(failed, tt.failed) {
				t.Errorf("unpaired %v, orphans %v, failed %v", unpaired, orphans, failed)
			}
		})
	}
}

// The answer that a history lost its reasoning of is found, whatever it lost.
func TestCase_HistoriesWithoutTheirReasoning(t *testing.T) { // D-PAIR-04
	db := mustOpen(t)
	var captures []*transcript.Capture
	for i, n := range []string{"01", "02", "03"} {
		c := capture(i+1, "/v1/responses", caseFile(t, "D-PAIR-04", n+".request.json"), caseFile(t, "D-PAIR-04", n+".response.json"))
		if n != "01" {
			c.Status = 400
		}
		captures = append(captures, c)
	}
	stored := commit(t, db, captures...)
	if stored[1].Link.Parent != stored[0].ID {
		t.Errorf("link %+v, want the answer", stored[1].Link)
	}
}

// joined tells of each recorded call of some exchanges which results it has.
func joined(t *testing.T, db *store.DB, names map[string]string, ids ...string) map[string][]string {
	t.Helper()
	calls, err := db.Calls(context.Background(), ids)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, c := range calls {
		key := names[c.Exchange] + c.At
		got[key] = []string{}
		for _, r := range c.Results {
			got[key] = append(got[key], names[r.Exchange]+r.At+" "+r.By)
		}
	}
	return got
}

// Across steps, too, ids may restart, repeat, be empty or missing.
func TestResults_FindTheCallsOfEarlierAnswers(t *testing.T) {
	tests := []struct {
		name, api, scenario string
		want                map[string][]string
	}{
		{"ids that restart in each round", "chat", `x1
  u Go
  = c call_0 f {"n":1}
x2
  u Go
  c call_0 f {"n":1}
  r call_0 one
  = c call_0 f {"n":1}
x3
  u Go
  c call_0 f {"n":1}
  r call_0 one
  c call_0 f {"n":1}
  r call_0 two`, map[string][]string{
			"x1/choices/0/message/tool_calls/0": {"x2/messages/2 id"},
			"x2/choices/0/message/tool_calls/0": {"x3/messages/4 id"}}},
		{"a result by an attempt that failed and one that did not", "messages", `x1
  u Go
  = c toolu_01abcdefgh f {}
x2 status=529
  u Go
  c toolu_01abcdefgh f {}
  r toolu_01abcdefgh one
x3
  u Go
  c toolu_01abcdefgh f {}
  r toolu_01abcdefgh one
  = a Done.`, map[string][]string{"x1/content/0": {"x2/messages/2/content/0 id", "x3/messages/2/content/0 id"}}},
		{"another result in a branch", "messages", `x1
  u Go
  = c toolu_01abcdefgh f {}
x2
  u Go
  c toolu_01abcdefgh f {}
  r toolu_01abcdefgh one
  = a Done.
x3
  u Go
  c toolu_01abcdefgh f {}
  r toolu_01abcdefgh two
  = a Done.`, map[string][]string{"x1/content/0": {"x2/messages/2/content/0 id", "x3/messages/2/content/0 id"}}},
		{"a call that the provider holds", "responses", `x1 id=resp_1
  u Go
  = c call_0 f {}
x2 id=resp_2 prev=resp_1
  r call_0 one
  = c call_0 f {}
x3 id=resp_3 prev=resp_2
  r call_0 two`, map[string][]string{"x1/output/0": {"x2/input/0 id"}, "x2/output/0": {"x3/input/0 id"}}},
		{"ids that a gateway writes anew", "chat", `x1
  u Go
  = c toolu_01abcdefgh f {"n":1}
  = c toolu_01ijklmnop f {"n":2}
x2
  u Go
  c other_1 f {"n":1}
  c other_2 f {"n":2}
  r other_2 two
  r other_1 one`, map[string][]string{
			"x1/choices/0/message/tool_calls/0": {"x2/messages/3 position"},
			"x1/choices/0/message/tool_calls/1": {"x2/messages/2 position"}}},
		{"no ids at all", "chat", `x1
  u Go
  = c  f {"n":1}
  = c  f {"n":2}
x2
  u Go
  c  f {"n":1}
  c  f {"n":2}
  r  one
  r  two`, map[string][]string{
			"x1/choices/0/message/tool_calls/0": {"x2/messages/2 position"},
			"x1/choices/0/message/tool_calls/1": {"x2/messages/3 position"}}},
		{"no ids, and the provider holds the calls", "responses", `x1 id=resp_1
  u Go
  = c  f {"n":1}
  = c  f {"n":2}
x2 id=resp_2 prev=resp_1
  r  one
  r  two`, map[string][]string{"x1/output/0": {"x2/input/0 position"}, "x1/output/1": {"x2/input/1 position"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := scenario{}
			for _, line := range splitLines(tt.scenario) {
				sc.line(t, line)
			}
			db := mustOpen(t)
			ids := sc.commit(t, db, tt.api)
			names := map[string]string{}
			var list []string
			for name, id := range ids {
				names[id] = name
				list = append(list, id)
			}
			if diff := cmp.Diff(tt.want, joined(t, db, names, list...)); diff != "" {
				t.Errorf("results differ (-want +got):\n%s", diff)
			}
		})
	}
}
