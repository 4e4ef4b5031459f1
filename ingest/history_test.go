package ingest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/retake-debugger/retake/dialect"
	"github.com/retake-debugger/retake/history"
	"github.com/retake-debugger/retake/transcript"
)

// What a model saw at a step is there in full, whoever holds it.
func TestFullHistory_OfWhatTheProviderHolds(t *testing.T) {
	tests := []struct {
		name, scenario string
		want           string
		gap            history.Gap
	}{
		{"named answers", `x1 id=resp_1
  s Be brief.
  u One
  = a First.
x2 id=resp_2 prev=resp_1
  u Two
  = a Second.
x3 prev=resp_2
  s Be long.
  u Three
  = a Third.`, "One|First.|Two|Second.|Be long.|Three", history.Whole},
		{"a beginning that was not recorded", `x1 id=resp_2 prev=resp_1
  u Two
  = a Second.
x2 prev=resp_2
  u Three`, "Two|Second.|Three", history.NotRecorded},
		{"a conversation", `x1 conv=c
  u One
  = a First.
x2 conv=c
  u Two`, "One|First.|Two", history.Whole},
		{"references", `x1
  u One
  = a #msg_1 First.
x2
  u One
  ref msg_1
  u Two`, "One|First.|Two", history.Whole},
		{"a poll", `x1 id=resp_1 state=queued
  u One
x2 id=resp_1 get=/v1/responses/resp_1 state=completed
  = a First.`, "One", history.Whole},
		{"behind a poll", `x1 id=resp_1 state=queued
  u One
x2 id=resp_1 get=/v1/responses/resp_1 state=completed
  = a First.
x3 prev=resp_1
  u Two`, "One|First.|Two", history.Whole},
		{"all in the request", `x1
  u One
  = a First.
x2
  u One
  a First.
  u Two`, "One|First.|Two", history.Whole},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := scenario{}
			for _, line := range strings.Split(tt.scenario, "\n") {
				sc.line(t, line)
			}
			db := mustOpen(t)
			ids := sc.commit(t, db, "responses")
			captures := map[string]*transcript.Capture{}
			for _, s := range sc.scripts {
				s.api = "responses"
				captures[ids[s.name]] = s.capture()
			}
			last, err := db.Exchange(context.Background(), ids[sc.scripts[len(sc.scripts)-1].name])
			if err != nil {
				t.Fatal(err)
			}
			h, err := history.FullHistory(context.Background(), db, last, func(e *transcript.Exchange) (*transcript.Turn, error) {
				c := captures[e.ID]
				return dialect.Decode(e.Dialect, &dialect.Wire{Method: c.Method, URL: c.URL, Request: []byte(c.Request.(body)), Response: []byte(c.Response.(body))}), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, it := range h.Items {
				texts = append(texts, it.Text)
			}
			if got := strings.Join(texts, "|"); got != tt.want || h.Gap != tt.gap {
				t.Errorf("%s (%q), want %s (%q)", got, h.Gap, tt.want, tt.gap)
			}
		})
	}
}
