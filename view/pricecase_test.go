package view

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-debugger/retake/pricing"
	"github.com/retake-debugger/retake/transcript"
)

func priceFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../pricing/testdata/cases/D-USE-03", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The calls of one command are one run, whose total says what it leaves out.
func TestCase_ATotalWithUnknownPricesIsALowerBound(t *testing.T) { // D-USE-03
	var captures []*transcript.Capture
	for line := range strings.Lines(string(priceFile(t, "exchanges.jsonl"))) {
		var x struct {
			ID, Path          string
			Request, Response json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		n := len(captures) + 1
		c := caseCapture(n, time.Duration(n)*time.Minute, x.Path, string(x.Request), string(x.Response))
		c.Label = "python agent.py @ 2026-03-01T12:00:00.5Z"
		captures = append(captures, c)
	}
	prices := pricing.New()
	if err := prices.Override(strings.NewReader(string(priceFile(t, "prices.json")))); err != nil {
		t.Fatal(err)
	}
	db, runs := caseRuns(t, captures...)
	if len(runs) != 1 || len(captures) != 3 || runs[0].Name != "python agent.py" || runs[0].NamedBy != "command" {
		t.Fatalf("%d exchanges make %d runs, the first named %q", len(captures), len(runs), runs[0].Name)
	}
	run := runs[0]
	run.Price(prices)
	listed := []RunRow{run.RunRow}
	if err := PriceRuns(t.Context(), db, listed, prices); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]RunRow{"read in full": run.RunRow, "listed": listed[0]} {
		if row.CostUSD == nil || *row.CostUSD != "0.0028" || !row.CostIsLowerBound {
			t.Errorf("%s: cost %v, lower bound %v", name, row.CostUSD, row.CostIsLowerBound)
		}
		if diff := cmp.Diff(Unpriced{Exchanges: 1, Tokens: 1500, Models: []string{"corp-alias-7"}, Hosts: []string{"api.example.com"}}, row.Unpriced); diff != "" {
			t.Errorf("%s: not priced (-want +got):\n%s", name, diff)
		}
	}
	rows, err := Rows(t.Context(), db, transcript.Filter{Oldest: true})
	if err != nil {
		t.Fatal(err)
	}
	var costs []string
	for i := range rows {
		rows[i].Price(prices)
		cost := "unknown"
		if c := rows[i].CostUSD; c != nil {
			cost = *c
		}
		costs = append(costs, cost)
	}
	if diff := cmp.Diff([]string{"0.0028", "unknown", "0"}, costs); diff != "" {
		t.Errorf("costs (-want +got):\n%s", diff)
	}
}

// What was put into the cache for an hour is priced so, in lists and in full.
func TestPriceRuns_TellsHoursFromMinutes(t *testing.T) {
	answer := func(n int, creation string) *transcript.Capture {
		c := caseCapture(n, time.Duration(n)*time.Minute, "/v1/messages", fmt.Sprintf(`{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"%d"}]}`, n),
			`{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"b"}],"stop_reason":"end_turn","usage":{"input_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":1000000,`+creation+`"output_tokens":0}}`)
		c.URL, c.Label = "https://api.anthropic.com/v1/messages", "one"
		return c
	}
	db, runs := caseRuns(t, answer(1, `"cache_creation":{"ephemeral_5m_input_tokens":1000000,"ephemeral_1h_input_tokens":0},`),
		answer(2, `"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":1000000},`), answer(3, ""))
	if len(runs) != 1 {
		t.Fatalf("%d runs", len(runs))
	}
	runs[0].Price(pricing.New())
	listed := []RunRow{runs[0].RunRow}
	if err := PriceRuns(t.Context(), db, listed, pricing.New()); err != nil {
		t.Fatal(err)
	}
	const want = "13.5" // 3.75, 6 and 3.75 USD
	if *runs[0].CostUSD != want || *listed[0].CostUSD != want || runs[0].CostIsLowerBound || listed[0].CostIsLowerBound {
		t.Errorf("in full %s, listed %s; want %s", *runs[0].CostUSD, *listed[0].CostUSD, want)
	}
}

// Each vendor counts cached tokens in fields of its own. A system prompt that
// changes loses them.
func TestCache_ReadsWhatEachVendorCounts(t *testing.T) {
	chat := func(usage string) [2]string {
		return [2]string{`{"model":"m","messages":[{"role":"system","content":"At %s."},{"role":"user","content":"a"}%s]}`,
			`{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"b"},"finish_reason":"stop"}],"usage":` + usage + `}`}
	}
	responses := [2]string{`{"model":"m","instructions":"At %s.","input":[{"role":"user","content":"a"}%s]}`,
		`{"id":"resp_1","object":"response","status":"completed","model":"m","output":[{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"b"}]}],"usage":{"input_tokens":10000,"input_tokens_details":{"cached_tokens":CACHED},"output_tokens":1,"total_tokens":10001}}`}
	messages := [2]string{`{"model":"m","max_tokens":9,"system":"At %s.","messages":[{"role":"user","content":"a"}%s]}`,
		`{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"b"}],"stop_reason":"end_turn","usage":{"input_tokens":FRESH,"cache_read_input_tokens":CACHED,"cache_creation_input_tokens":0,"output_tokens":1}}`}
	for name, c := range map[string]struct {
		path string
		wire [2]string
	}{
		"OpenAI Chat": {"/v1/chat/completions", chat(`{"prompt_tokens":10000,"completion_tokens":1,"total_tokens":10001,"prompt_tokens_details":{"cached_tokens":CACHED}}`)},
		"DeepSeek":    {"/chat/completions", chat(`{"prompt_tokens":10000,"completion_tokens":1,"total_tokens":10001,"prompt_cache_hit_tokens":CACHED,"prompt_cache_miss_tokens":FRESH}`)},
		"Moonshot":    {"/v1/chat/completions", chat(`{"prompt_tokens":10000,"completion_tokens":1,"total_tokens":10001,"cached_tokens":CACHED}`)},
		"Gemini":      {"/v1beta/openai/chat/completions", chat(`{"prompt_tokens":10000,"completion_tokens":1,"total_tokens":10001,"prompt_tokens_details":{"cached_tokens":CACHED}}`)},
		"xAI":         {"/v1/chat/completions", chat(`{"prompt_tokens":10000,"completion_tokens":1,"total_tokens":10051,"prompt_tokens_details":{"text_tokens":10000,"cached_tokens":CACHED},"completion_tokens_details":{"reasoning_tokens":50}}`)},
		"OpenRouter":  {"/api/v1/chat/completions", chat(`{"prompt_tokens":10000,"completion_tokens":1,"total_tokens":10001,"cost":0.01,"prompt_tokens_details":{"cached_tokens":CACHED,"cache_write_tokens":0}}`)},
		"LiteLLM":     {"/v1/chat/completions", chat(`{"prompt_tokens":10000,"completion_tokens":1,"total_tokens":10001,"cache_creation_input_tokens":0,"cache_read_input_tokens":CACHED,"prompt_tokens_details":{"cached_tokens":CACHED}}`)},
		"Responses":   {"/v1/responses", responses},
		"Messages":    {"/v1/messages", messages},
	} {
		t.Run(name, func(t *testing.T) {
			step := func(n, cached int, at, more string) *transcript.Capture {
				answer := strings.NewReplacer("CACHED", fmt.Sprint(cached), "FRESH", fmt.Sprint(10000-cached)).Replace(c.wire[1])
				return caseCapture(n, time.Duration(n)*time.Minute, c.path, fmt.Sprintf(c.wire[0], at, more), answer)
			}
			goesOn := `,{"role":"assistant","content":"b"},{"role":"user","content":"c"}`
			db, runs := caseRuns(t, step(1, 0, "18:02", ""), step(2, 9500, "18:02", goesOn), step(3, 0, "18:05", goesOn+goesOn))
			if len(runs) != 1 {
				t.Fatalf("%d runs", len(runs))
			}
			cache, err := runs[0].Cache(t.Context(), db, pricing.New())
			if err != nil {
				t.Fatal(err)
			}
			second, third := cache.Steps[1], cache.Steps[2]
			if *second.Prompt != 10000 || *second.Cached != 9500 || second.Broke != nil {
				t.Errorf("the second step: prompt %d, cached %d, broke %+v", *second.Prompt, *second.Cached, second.Broke)
			}
			if third.Broke == nil || third.Broke.Where != "system" || third.Broke.Now != "At 18:05." || third.PaidAgain != 10000 {
				t.Errorf("the third step: paid again %d, broke %+v", third.PaidAgain, third.Broke)
			}
		})
	}
}
