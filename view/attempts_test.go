package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
)

const (
	askWeather = `{"model":"m","stream":true,"messages":[{"role":"user","content":"Weather in Oslo?"}`
	callChunk  = `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"%s","type":"function","function":{"name":"weather","arguments":"{}"}}]},"finish_reason":null}]}` + "\n\n"
	callsEnd   = `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
)

func streamed(c *transcript.Capture) *transcript.Capture {
	c.ResponseHeader = map[string][]string{"Content-Type": {"text/event-stream"}}
	return c
}

// cutAndAgain is a step whose first answer was cut behind a call, and that was
// asked for again; the result of the second call came. The last answer lacks its end.
func cutAndAgain() []*transcript.Capture {
	cut := streamed(caseCapture(1, 0, "/v1/chat/completions", askWeather+"]}", fmt.Sprintf(callChunk, "call_cut")))
	cut.Outcome = transcript.UpstreamReset
	again := streamed(caseCapture(2, 10*time.Second, "/v1/chat/completions", askWeather+"]}", fmt.Sprintf(callChunk, "call_again")+callsEnd))
	last := streamed(caseCapture(3, 15*time.Second, "/v1/chat/completions",
		askWeather+`,{"role":"assistant","content":null,"tool_calls":[{"id":"call_again","type":"function","function":{"name":"weather","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_again","content":"rain"}]}`,
		`data: {"id":"d","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"It rains"},"finish_reason":null}]}`+"\n\n"))
	return []*transcript.Capture{cut, again, last}
}

// A step has the calls of its last attempt, wherever calls are counted.
func TestAttempts_CallsOfTheLastCount(t *testing.T) {
	db, runs := caseRuns(t, cutAndAgain()...)
	if len(runs) != 1 || len(runs[0].Agents[0].Steps) != 2 {
		t.Fatalf("runs %+v", runs)
	}
	run := runs[0]
	calls, err := run.Calls(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	if run.Counts.Calls != 1 || run.Counts.Unanswered != 0 || len(run.Pairs) != 1 || len(calls) != 1 || calls[0].CallID != "call_again" || calls[0].State != transcript.Paired {
		t.Errorf("counts %+v, pairs %+v, calls %+v", run.Counts, run.Pairs, calls)
	}
	s, err := NewStats(t.Context(), db, transcript.Filter{}, pricing.New())
	if err != nil {
		t.Fatal(err)
	}
	if s.Total.Calls != 1 || len(s.Tools) != 1 || s.Tools[0].Calls != 1 || s.Tools[0].Unanswered != 0 {
		t.Errorf("stats: %d calls, tools %+v", s.Total.Calls, s.Tools)
	}
}

// The time of a step's exchange is its own, that of all attempts stands beside it.
func TestAttempts_TimesAreToldApart(t *testing.T) {
	_, runs := caseRuns(t, cutAndAgain()...)
	steps := runs[0].Agents[0].Steps
	if first := steps[0]; *first.DurationMS != 100 || first.WholeMS == nil || *first.WholeMS != 10_100 {
		t.Errorf("the first step: %v, whole %v", *first.DurationMS, first.WholeMS)
	}
	if second := steps[1]; *second.DurationMS != 100 || second.WholeMS != nil {
		t.Errorf("the second step: %v, whole %v", *second.DurationMS, second.WholeMS)
	}
	if b := runs[0].Waterfall().Bars[0]; *b.DurationMS != 10_100 || b.Attempts != 2 {
		t.Errorf("the first bar: %+v", b)
	}
}

// An answer that ended well without its terminal event is partial.
func TestPartial_IsMarkedEverywhere(t *testing.T) {
	db, runs := caseRuns(t, cutAndAgain()...)
	rows, err := Rows(t.Context(), db, transcript.Filter{Oldest: true})
	if err != nil {
		t.Fatal(err)
	}
	var partial []string
	for i := range rows {
		if rows[i].Partial {
			partial = append(partial, rows[i].Ref())
		}
	}
	bars := runs[0].Waterfall().Bars
	if strings.Join(partial, " ") != "x3" || !runs[0].Agents[0].Steps[1].Partial() || !bars[len(bars)-1].Partial {
		t.Errorf("partial: %v, step %v, bars %+v", partial, runs[0].Agents[0].Steps[1].Partial(), bars)
	}
	if runs[0].Status != Partial {
		t.Errorf("status %s", runs[0].Status)
	}
	captures := cutAndAgain()[:2]
	captures[1].Response = bodyOf(fmt.Sprintf(callChunk, "call_again"))
	db, runs = caseRuns(t, captures...)
	calls, err := runs[0].Calls(t.Context(), db)
	if err != nil || len(calls) != 1 || !calls[0].Partial {
		t.Errorf("calls %+v, %v", calls, err)
	}
}

// What sub-agents did while their parent waited is theirs.
func TestWaterfall_TellsWhenSubAgentsWorked(t *testing.T) {
	gap := Bar{Kind: BarTools, Step: "r1.1", Agent: "r1/a1", What: "Task"}
	subs := []span{{0, 50, "r1/a9"}, {200, 500, "r1/a2, r1/a3"}, {700, 5700, "r1/a4"}}
	var got []string
	for _, b := range cutOut(gap, span{100, 1000, "Task"}, subs) {
		got = append(got, fmt.Sprintf("%s %s %v+%v", b.Kind, b.What, *b.StartMS, *b.DurationMS))
	}
	if want := "tools Task 100+100; agent r1/a2, r1/a3 200+300; tools Task 500+200; agent r1/a4 700+300"; strings.Join(got, "; ") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, "; "), want)
	}
}

// A replay of the end of a run is a branch: it is no step of the run, takes none of
// its time, and its calls do not count.
func TestReplays_AreNoPartOfWhatARunComesTo(t *testing.T) {
	captures := cutAndAgain()
	db, _ := caseRuns(t, captures[1:]...)
	replay := streamed(caseCapture(9, time.Hour, "/v1/chat/completions",
		askWeather+`,{"role":"assistant","content":null,"tool_calls":[{"id":"call_again","type":"function","function":{"name":"weather","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_again","content":"rain"},{"role":"assistant","content":"It rains"},{"role":"user","content":"And now?"}]}`,
		fmt.Sprintf(callChunk, "call_replay")+callsEnd))
	if _, err := ingest.Commit(t.Context(), db, []*transcript.Capture{replay}); err != nil {
		t.Fatal(err)
	}
	if err := db.Update(t.Context(), func(tx transcript.Tx) error {
		return tx.PutTake(&transcript.Take{ID: "0190b000-0000-7000-8000-000000000001", Origin: captures[2].ID, Steps: []transcript.TakeStep{{Exchange: replay.ID, Step: 1, Attempt: 1}}, Edits: "[]", CreatedAt: caseStart})
	}); err != nil {
		t.Fatal(err)
	}
	run, err := db.RunN(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewRun(t.Context(), db, run, caseStart)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := v.Calls(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	agent, w := v.Agents[0], v.Waterfall()
	if v.Takes != 1 || len(agent.Steps) != 2 || len(agent.Branches) != 1 || v.Counts.Steps != 2 || v.Counts.Calls != 1 || len(calls) != 1 {
		t.Errorf("%d takes, %d steps, %d branches, counts %+v, %d calls", v.Takes, len(agent.Steps), len(agent.Branches), v.Counts, len(calls))
	}
	if w.DurationMS == nil || *w.DurationMS != 5100 || len(w.Bars) != 3 {
		t.Errorf("%v ms, bars %+v", w.DurationMS, w.Bars)
	}
}
