package view_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/ingest"
	"github.com/retake-debugger/retake/lint"
	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/store"
	"github.com/retake-debugger/retake/transcript"
	"github.com/retake-debugger/retake/view"
)

// run reads the run of an exchange in full, with its findings.
func run(tb testing.TB, db *store.DB, e *transcript.Exchange) *view.Run {
	tb.Helper()
	r, err := db.Run(context.Background(), e.Link.Run)
	if err != nil {
		tb.Fatal(err)
	}
	v, err := view.NewRun(context.Background(), db, r, time.Unix(0, 0))
	if err != nil {
		tb.Fatal(err)
	}
	if err := v.Judge(context.Background(), db, nil); err != nil {
		tb.Fatal(err)
	}
	return v
}

// told gives code and place of findings.
func told(v *view.Run, findings []lint.Finding) []string {
	out := []string{}
	for _, f := range findings {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", f.Code, v.RefOf(f.Exchange), f.Body, f.At)))
	}
	return out
}

func TestRun_EachFindingOnce(t *testing.T) {
	lost := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"Error: no"}]}`
	db, stored := record(t,
		message{messages: ask, answer: callA + "," + callB},
		message{messages: ask + "," + called + "," + lost, answer: done},
		message{messages: ask + "," + called + "," + lost + `,{"role":"assistant","content":[` + done + `]},` + ask, answer: `{"type":"tool_use","id":"c","name":"g","input":{}}`})
	v := run(t, db, stored[0])
	want := []string{
		"error_told_as_success x2 request /messages/2/content/0",
		"missing_tool_result x2 request /messages/1/content/0",
		"undeclared_tool x3 response /content/0",
	}
	if diff := cmp.Diff(want, told(v, v.Lint)); diff != "" {
		t.Errorf("findings of the run differ (-want +got):\n%s", diff)
	}
	x := show(t, db, stored[2])
	var codes []string
	for _, f := range x.Lint {
		codes = append(codes, f.Code+" "+f.At)
	}
	if want := "missing_tool_result /messages/1/content/0"; !slices.Contains(codes, want) {
		t.Errorf("x3 alone: %v, want %s, for it resends it", codes, want)
	}
}

// What is found in the stretches of a run is what is found in all of it.
func TestRun_JudgeStretch(t *testing.T) {
	lost := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"Error: no"}]}`
	db, stored := record(t,
		message{messages: ask, answer: callA + "," + callB},
		message{messages: ask + "," + called + "," + lost, answer: done},
		message{messages: ask + "," + called + "," + lost + `,{"role":"assistant","content":[` + done + `]},` + ask, answer: `{"type":"tool_use","id":"c","name":"g","input":{}}`})
	whole := run(t, db, stored[0])
	for _, most := range []int64{1, 1 << 10, 1 << 30} {
		v := run(t, db, stored[0])
		var got []string
		for n, of := 1, 1; n <= of; n++ {
			part, err := v.JudgeStretch(t.Context(), db, nil, n, most)
			if err != nil {
				t.Fatal(err)
			}
			if of = part.Of; part.N != n || most == 1 && (of != 3 || part.First != fmt.Sprintf("x%d", n) || part.Last != part.First) {
				t.Errorf("%d bytes: part %d is %+v", most, n, part)
			}
			got = append(got, told(v, v.Lint)...)
		}
		if diff := cmp.Diff(told(whole, whole.Lint), got); diff != "" {
			t.Errorf("in stretches of %d bytes (-whole +stretches):\n%s", most, diff)
		}
	}
}

// Beginnings are enough to list calls and to tell what fills a window.
func TestRun_BriefCallsAreTheSameCalls(t *testing.T) {
	long := strings.Repeat("0123456789", 20)
	history := ask + "," + called + "," + results("a="+long, "b=short")
	db, stored := record(t,
		message{messages: ask, answer: callA + "," + callB},
		message{messages: history, answer: callA},
		message{messages: strings.Replace(history, long, long[:150]+"!", 1) + `,{"role":"assistant","content":[` + callA + `]},` + results("a="+long+"!"), answer: done})
	v := run(t, db, stored[0])
	want, err := v.Calls(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	got, err := v.BriefCalls(t.Context(), db, 40)
	if err != nil {
		t.Fatal(err)
	}
	cut := 0
	for i := range want {
		if want[i].Result != nil && len(*want[i].Result) > 40 {
			short := (*want[i].Result)[:40]
			want[i].Result, cut = &short, cut+1
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || cut == 0 {
		t.Errorf("%d were cut, and differ (-all +brief):\n%s", cut, diff)
	}
}

func TestRun_CostIsALowerBoundWhereAPriceIsUnknown(t *testing.T) {
	db, stored := record(t, message{messages: ask, answer: callA}, message{messages: ask + "," + `{"role":"assistant","content":[` + callA + `]},` + results("a=1"), answer: done})
	v := run(t, db, stored[0])
	prices := pricing.New()
	v.Price(prices)
	if v.CostUSD != nil || !v.CostIsLowerBound || v.Unpriced.Exchanges != 2 || v.Unpriced.Tokens != 4 || !slices.Equal(v.Unpriced.Models, []string{"m"}) {
		t.Errorf("without a price: %v, %+v", v.CostUSD, v.Unpriced)
	}
	if err := prices.Override(strings.NewReader(`{"models":{"m":{"input":"2","output":"3"}}}`)); err != nil {
		t.Fatal(err)
	}
	v.Price(prices)
	if v.CostUSD == nil || *v.CostUSD != "0.00001" || v.CostIsLowerBound {
		t.Errorf("with one: %v, lower bound %v", *v.CostUSD, v.CostIsLowerBound)
	}
	x := show(t, db, stored[0])
	x.Price(prices)
	if x.CostUSD == nil || *x.CostUSD != "0.000005" {
		t.Errorf("x1: %v", x.CostUSD)
	}
	rows := []view.RunRow{v.RunRow}
	if err := view.PriceRuns(t.Context(), db, rows, prices); err != nil || *rows[0].CostUSD != *v.CostUSD {
		t.Errorf("in a list: %v, %v", rows[0].CostUSD, err)
	}
}

// BenchmarkRun_Judge judges a run of 5,000 steps.
func BenchmarkRun_Judge(b *testing.B) {
	const steps = 5000
	db, err := store.Open(filepath.Join(b.TempDir(), "t.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	var history strings.Builder
	history.WriteString(`{"role":"user","content":"Go"}`)
	const tools = `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}}]`
	var captures []*transcript.Capture
	for n := range steps {
		id := fmt.Sprintf("call_%d", n)
		call := fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":"f","arguments":"{\"n\":%d}"}}]}`, id, n)
		at := time.Unix(int64(10*n), 0)
		captures = append(captures, &transcript.Capture{
			ID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", n+1), StartedAt: at, EndedAt: at.Add(time.Second), Method: "POST", URL: "https://api.example.com/v1/chat/completions",
			Status: 200, Outcome: transcript.OK, Request: body(`{"model":"m",` + tools + `,"messages":[` + history.String() + `]}`),
			Response: body(`{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":` + call + `,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`),
		})
		if len(captures) == 100 {
			if _, err := ingest.Commit(context.Background(), db, captures); err != nil {
				b.Fatal(err)
			}
			captures = nil
		}
		fmt.Fprintf(&history, `,%s,{"role":"tool","tool_call_id":%q,"content":"result %d"}`, call, id, n)
	}
	e, err := db.ExchangeN(context.Background(), 1)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if v := run(b, db, e); v.Counts.Steps != steps || len(v.Lint) != 0 {
			b.Fatalf("%d steps, %v", v.Counts.Steps, told(v, v.Lint))
		}
	}
}
